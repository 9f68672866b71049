"""What defines a workload: rules, rows, and their generators."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

import sparkrules.store.manifest

RuleText = tuple[str, str]  # id, WHERE


@dataclass(frozen=True)
class Workload:
    """A rule set of a given size, and the rows to match against it.

    `family` groups what is shown together, and `variant` distinguishes its members. `generators` are the files that
    determine what is generated, so that the cache is never stale. `traits` are figures of the generator that a reader
    needs to judge the results; `measured_traits` are those that take a while to compute. `peer_rows` is the sample for
    slow peers, if the usual one is too large. `for_plain_spark` rewrites a rule's text to the form that is best for
    Spark.
    """

    family: str
    variant: str
    size: int
    rules: Callable[[], Iterable[RuleText]]
    rows: Callable[[int], pa.Table]
    generators: tuple[str, ...]
    rows_name: str
    traits: dict[str, str] = field(default_factory=dict)
    measured_traits: Callable[[], dict[str, str]] = dict
    peer_rows: int | None = None
    for_plain_spark: Callable[[str], str] = str

    @property
    def name(self) -> str:
        """The name of the rule set.

        >>> Workload("thesis", "and6", 100, lambda: [], lambda count: None, (), "").name
        'thesis_and6_100'
        """
        return "_".join(part for part in (self.family, self.variant, str(self.size)) if part)

    @property
    def label(self) -> str:
        """The name without the size."""
        return " ".join(part for part in (self.family, self.variant) if part)

    def fingerprint(self, layout: object = sparkrules.store.manifest.FORMAT) -> str:
        """A hash of the generator's source and of the layout in which it is stored."""
        hashed = hashlib.sha256(str(layout).encode())
        for file in self.generators:
            hashed.update(Path(file).read_bytes())
        return hashed.hexdigest()[:12]
