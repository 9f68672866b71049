"""Publishes any tables without a rule set, even hostile ones. Users reach `publish_draft` through `RuleSet.publish`."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from sparkrules.store import Manifest, SegmentEntry, Store


def publish_tables(store: Store, rule_set: str, tables: Mapping[str, pa.Table]) -> int:
    """Publish a segment as the next version of a rule set, and return the version."""
    segment = store.write_segment(rule_set, tables)
    rows = {name: table.num_rows for name, table in tables.items()}
    entries = [SegmentEntry(segment, rows["subscriptions"])]
    made = store.commit(
        Manifest.new(rule_set, 0, entries, predicates=rows["predicates"], nodes=rows["nodes"]), after=None
    )
    assert made is not None
    return made.version
