"""Reads one rule from the tables of a segment, without reading the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sparkrules.index.forest import KINDS, NODE_OPERATORS
from sparkrules.index.rule import LIVE, STATUSES, Rule
from sparkrules.index.segment_rules import metadata_at
from sparkrules.index.tables import CorruptSegment
from sparkrules.sql.tree import OPERATORS, Constant, Junction, Node, Predicate


def stored_rule(tables: Mapping[str, pa.Table], row: int) -> Rule:
    """The rule at a row of `subscriptions`. Raises `CorruptSegment` if something that it refers to is missing."""
    fields = _row(tables, "subscriptions", row)
    status, tags = fields["status"] or LIVE, tuple(fields["tags"] or ())
    if status not in STATUSES or None in tags:
        raise CorruptSegment("subscriptions", row, f"unknown status {status!r}, or a tag that is NULL")
    return Rule(
        fields["id"],
        fields["where"],
        _tree(tables, fields["node"]),
        fields["priority"],
        metadata_at(row, fields["metadata"]),
        fields["sql"],
        fields["valid_from"],
        fields["valid_until"],
        fields["ticket"],
        status,
        tags,
        fields["exemptions"],
    )


def _tree(tables: Mapping[str, pa.Table], root: int) -> Node:
    found: dict[int, dict[str, Any]] = {}
    stack = [root]
    while stack:
        number = stack.pop()
        if number in found:
            continue
        node = found[number] = _row(tables, "nodes", number)
        children = node["children"]
        if node["operator"] not in NODE_OPERATORS or children is None:
            raise CorruptSegment("nodes", number, "it is not a node")
        if any(child is None or child >= number for child in children):
            raise CorruptSegment("nodes", number, f"children {children} do not all come before their parent")
        stack.extend(children)
    trees: dict[int, Node] = {}
    for number in sorted(found):
        node = found[number]
        if node["operator"] == "predicate":
            trees[number] = _predicate(tables, node["predicate"])
        else:
            trees[number] = Junction(node["operator"], tuple(trees[child] for child in node["children"]))
    return trees[root]


def _predicate(tables: Mapping[str, pa.Table], number: int) -> Predicate:
    fields = _row(tables, "predicates", number)
    if fields["operator"] not in OPERATORS or fields["constants"] is None:
        raise CorruptSegment("predicates", number, "it is not a predicate")
    constants = []
    for place in fields["constants"]:
        constant = _row(tables, "constants", place)
        if constant["kind"] not in KINDS:
            raise CorruptSegment("constants", place, f"unknown kind {constant['kind']!r}")
        constants.append(Constant(constant["kind"], constant["text"]))
    return Predicate(_row(tables, "attributes", fields["attribute"])["sql"], fields["operator"], tuple(constants))


def _row(tables: Mapping[str, pa.Table], table: str, row: int | None) -> dict[str, Any]:
    if row is None or not 0 <= row < tables[table].num_rows:
        raise CorruptSegment(table, row, "the row does not exist")
    try:
        fields: dict[str, Any] = tables[table].slice(row, 1).to_pylist()[0]
    except (ValueError, OverflowError) as error:  # bytes that are no string, an instant out of range
        raise CorruptSegment(table, row, str(error)) from error
    return fields
