"""A rule that was set aside, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparkrules.sql.errors import RuleError


@dataclass(frozen=True)
class Rejected:
    """A rule that `subscribe_all` has set aside, and why; line and column count from 1 and are of its text."""

    id: str
    where: str
    reason: str
    line: int | None = None
    column: int | None = None

    @staticmethod
    def of(id: Any, where: Any, error: Exception) -> Rejected:
        """A rule as it was read, and the error that it met."""
        shown = ["" if value is None else str(value) for value in (id, where)]
        if isinstance(error, RuleError):
            return Rejected(shown[0], shown[1], error.reason, error.line, error.column)
        return Rejected(shown[0], shown[1], str(error))
