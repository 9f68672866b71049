"""A rejected rule and the reason."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from sparkrules.sql.errors import RuleError

Source = tuple[str, str, int]
"""The location of a rule: the file, and the number of its line, or of the rule, from 1."""


@dataclass(frozen=True, repr=False)
class Rejected:
    """A rule that `subscribe_all` rejected, and why. `line` and `column` refer to its text and count from 1.

    `source` is where it was read (`alerts.csv, line 17`), and `remedy` is how to fix it. The store keeps neither.
    """

    id: str
    where: str
    reason: str
    line: int | None = None
    column: int | None = None
    source: str | None = field(default=None, compare=False)
    remedy: str = field(default="", compare=False)

    def __repr__(self) -> str:
        known = [(own.name, getattr(self, own.name)) for own in fields(self)]
        return f"Rejected({', '.join(f'{name}={value!r}' for name, value in known if value not in (None, ''))})"

    @staticmethod
    def of(id: Any, where: Any, error: Exception, source: Source | None = None) -> Rejected:
        """A rule as read, with its error."""
        shown = ["" if value is None else str(value) for value in (id, where)]
        place = None if source is None else f"{source[0]}, {source[1]} {source[2]}"
        if isinstance(error, RuleError):
            return Rejected(shown[0], shown[1], error.reason, error.line, error.column, place, error.remedy)
        return Rejected(shown[0], shown[1], str(error), source=place)
