"""Writes versions of several segments directly into a store, with removed rules and validity."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import sparkrules
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.sql import Policy
from sparkrules.store import Manifest, SegmentEntry, Store
from sparkrules.store.segment_files import write_segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOVED = pa.schema([("row", pa.int32())])
Validity = tuple[datetime | None, datetime | None]


@dataclass(frozen=True)
class StoredSegment:
    """A segment that is in the store; `rows` are its subscriptions by id."""

    name: str
    rows: Mapping[str, int]


@dataclass
class VersionWriter:
    """Writes versions of one rule set.

    A version is a list of segments, and of each the ids that it no longer has.
    """

    spark: SparkSession
    rule_set: str
    policy: Policy | None = None
    home: Path = field(init=False)

    def __post_init__(self) -> None:
        self.home = Store(self.spark.conf.get("spark.sparkrules.store")).path / self.rule_set

    def segment(
        self,
        rules: Mapping[str, str],
        priorities: Mapping[str, int] | None = None,
        validity: Mapping[str, Validity] | None = None,
    ) -> StoredSegment:
        """A new segment of rules by id; none may be rejected."""
        parsed = sparkrules.RuleSet(self.rule_set, **({"policy": self.policy} if self.policy else {}))
        parsed.subscribe_all(rules)
        assert parsed.rejected == []
        functions = parsed._segment.functions
        made = [
            Rule(
                rule.id,
                rule.where,
                rule.tree,
                (priorities or {}).get(rule.id, 0),
                valid_from=(validity or {}).get(rule.id, (None, None))[0],
                valid_until=(validity or {}).get(rule.id, (None, None))[1],
            )
            for rule in parsed
        ]
        return self.segment_of(made, functions)

    def segment_of(self, rules: Sequence[Rule], functions: Iterable[str] = ()) -> StoredSegment:
        tables = to_tables(build_segment(rules, functions))
        name = uuid.uuid4().hex
        write_segment(self.home / "segments" / name, tables)
        ids = tables["subscriptions"]["id"].to_pylist()
        return StoredSegment(name, {id: row for row, id in enumerate(ids)})

    def publish(self, *segments: StoredSegment, removed: Iterable[str] = ()) -> int:
        """The next version: these segments; an id that is removed is so from the first segment that has it."""
        entries = []
        left = set(removed)
        for segment in segments:
            rows = sorted(segment.rows[id] for id in left if id in segment.rows)
            left -= segment.rows.keys()
            entries.append(
                SegmentEntry(
                    segment.name,
                    len(segment.rows),
                    self._removed(rows) if rows else None,
                    len(segment.rows) - len(rows),
                )
            )
        assert left == set()
        made = Store(self.home.parent).commit(
            Manifest.new(self.rule_set, 0, entries, predicates=0, nodes=0), after=None
        )
        assert made is not None
        return made.version

    def _removed(self, rows: Sequence[int]) -> str:
        name = uuid.uuid4().hex
        directory = self.home / "removed"
        directory.mkdir(exist_ok=True)
        with pa.ipc.new_file(str(directory / f"{name}.arrow"), REMOVED) as writer:
            writer.write_table(pa.table({"row": rows}, REMOVED))
        return name
