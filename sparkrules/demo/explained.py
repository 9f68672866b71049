"""One row, one of its overlap sets, and the subexpression that the rules of the set share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Row

import sparkrules

# Small enough to read: a row with a handful of matches, and a set of two to four of them.
_MATCHES = "size(matches.ids) BETWEEN 3 AND 12 AND size(matches.overlaps) > 0"
_MEMBERS = range(2, 5)
_ROWS = 100


class _Shared(NamedTuple):
    """The ids of an overlap set, and the node of their largest shared subexpression."""

    ids: tuple[str, ...]
    node: int


def explained_overlap(auctions: DataFrame, rules: sparkrules.RuleSet, width: int) -> str | None:
    """Explain the overlap set with the largest shared part among some rows; None if there is none."""
    rows = sparkrules.match(auctions, rules).where(_MATCHES).orderBy("auction").limit(_ROWS).collect()
    found = [(row, shared) for row in rows for shared in _overlaps(row, rules) if len(shared.ids) in _MEMBERS]
    if not found:
        return None
    row, shared = max(found, key=lambda pair: len(rules._segment.forest.descendants(pair[1].node)))
    return "\n".join(_lines(row, shared, rules, width))


def _overlaps(row: Row, rules: sparkrules.RuleSet) -> list[_Shared]:
    """The overlap sets of the row with their nodes, which Spark's answer does not contain."""
    matches = rules.match(pa.Table.from_pylist([_columns(row)]))
    truth = next(matches.blocks()).truth.row(0)
    segment = rules._segment
    ids_at: dict[int, list[str]] = {}
    for number in matches.subscriptions.row(0).tolist():
        for node in segment.forest.descendants(int(segment.forest.roots[number])):
            if truth[node]:
                ids_at.setdefault(node, []).append(segment.rules.id[number])
    largest: dict[tuple[str, ...], int] = {}
    for node, ids in ids_at.items():
        if len(ids) > 1:
            before = largest.get(tuple(ids), node)
            largest[tuple(ids)] = max(before, node, key=lambda own: len(segment.forest.descendants(own)))
    return [_Shared(ids, node) for ids, node in largest.items()]


def _lines(row: Row, shared: _Shared, rules: sparkrules.RuleSet, width: int) -> Iterator[str]:
    columns = _columns(row)
    ids, overlaps = row["matches"]["ids"], row["matches"]["overlaps"]

    def wrapped(label: str, text: str) -> list[str]:
        return textwrap.wrap(text, width, initial_indent=f"{label:<14}", subsequent_indent=" " * 14)

    yield from wrapped("row", ", ".join(f"{name} = {value}" for name, value in columns.items()))
    yield from wrapped("matches", ", ".join(ids))
    yield from wrapped("overlap sets", f"{len(overlaps)}, one of them: {', '.join(shared.ids)}")
    yield from wrapped("they share", str(rules._segment.forest.tree(shared.node)))
    for id in shared.ids:
        yield from wrapped(id, rules.subscriptions[id].where)
    yield ""
    yield str(rules.explain(columns, ids=shared.ids[:1])[0])


def _columns(row: Row) -> dict[str, object]:
    return {name: value for name, value in row.asDict().items() if name != "matches"}
