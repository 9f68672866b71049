"""The measurements, as they are printed, written to JSON and plotted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Level = Literal["kernel", "spark"]
OURS, FLOOR, PLAIN, NUMPY, JOIN = "sparkrules", "floor", "plain Spark", "numpy", "join"


class WrongAnswer(Exception):
    """A peer and sparkrules give different answers."""


@dataclass(frozen=True)
class Measurement:
    """One engine on one workload. `rules` counts all rules of the workload, even if a peer managed only some.

    `rows_per_second` is None if the engine did not finish; the note says what was tried.
    """

    workload: str
    rules: int
    level: Level
    engine: str
    rows: int
    rows_per_second: float | None
    matches_per_row: float | None = None
    rows_per_second_in_order: float | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    bytes_per_rule: float | None = None
    tests_per_row: float | None = None
    candidates_per_row: float | None = None
    cpu_share: float | None = None
    note: str = ""

    @property
    def matches_per_second(self) -> float | None:
        if self.rows_per_second is None or self.matches_per_row is None:
            return None
        return self.rows_per_second * self.matches_per_row


@dataclass(frozen=True)
class Preparation:
    """The cost of a rule set before the first row: in Python, once per version; in Spark, once per query's table."""

    workload: str
    rules: int
    predicates: int
    nodes: int
    parse_seconds: float
    publish_seconds: float
    bind_seconds: float
    traits: dict[str, str] = field(default_factory=dict)
