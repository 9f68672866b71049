"""A rule that was set aside, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rejected:
    """A rule that `subscribe_all` has set aside, and why; line and column count from 1 and are of its text."""

    id: str
    where: str
    reason: str
    line: int | None = None
    column: int | None = None
