"""Merging segments gives the same as building all live rules at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sparkrules.errors import DuplicateId
from sparkrules.index import Rule, Segment, build_segment, from_tables, to_tables
from sparkrules.index.merge import merge_segments
from sparkrules.index.rule_columns import RuleColumns
from sparkrules.local import match
from sparkrules.sql import called_functions, parse_rule
from sparkrules.sql.tree import Junction, Node

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
NONE = np.empty(0, np.int32)


def rule(id: str, where: str, **fields: object) -> Rule:
    return Rule(id, where, parse_rule(where), **fields)  # type: ignore[arg-type]


def segment(rules: Sequence[Rule]) -> Segment:
    return build_segment(rules, frozenset[str]().union(*(called_functions(rule.tree) for rule in rules)))


def rows(*numbers: int) -> NDArray[np.int32]:
    return np.array(numbers, np.int32)


def shape(node: Node) -> object:
    """A tree without the order of its operands."""
    if isinstance(node, Junction):
        return node.operator, frozenset(shape(child) for child in node.children)
    return node


def content(made: Segment) -> dict[str, object]:
    """What a segment says, without its numbering."""
    nodes = [shape(made.forest.tree(number)) for number in range(len(made.forest.nodes.level))]
    return {
        "attributes": Counter(made.forest.attributes.tolist()),
        "constants": Counter(
            zip(made.forest.constants.kind.tolist(), made.forest.constants.text.tolist(), strict=True)
        ),
        "predicates": Counter(made.forest.all_predicates()),
        "nodes": Counter(
            zip(nodes, made.forest.nodes.level.tolist(), made.forest.nodes.use_count.tolist(), strict=True)
        ),
        "roots": [nodes[number] for number in made.forest.roots.tolist()],
        "levels ascend": bool((np.diff(made.forest.nodes.level) >= 0).all()),
        "functions": made.functions,
        **{column.name: getattr(made.rules, column.name).tolist() for column in fields(RuleColumns)},
    }


def random_rules(count: int, random: random.Random) -> list[Rule]:
    def test() -> str:
        column = random.choice(["a", "b", "c", "lower(d)"])
        return random.choice(
            [
                f"{column} = {random.randrange(4)}",
                f"{column} IN (1, {random.randrange(4)})",
                f"{column} > upper('{random.randrange(2)}')",
                f"NOT {column} IS NULL",
            ]
        )

    def expression(depth: int) -> str:
        if depth == 0 or random.random() < 0.3:
            return test()
        operator = random.choice([" AND ", " OR "])
        return "(" + operator.join(expression(depth - 1) for _ in range(random.randrange(2, 4))) + ")"

    def instant() -> datetime | None:
        return random.choice([None, NOW + timedelta(days=random.randrange(-2, 3))])

    return [
        rule(
            f"r{number:04}é",
            expression(2),
            priority=random.randrange(-2, 3),
            metadata=random.choice([None, {"owner": "ops", "n": number}]),
            sql=random.choice([None, "a = 1"]),
            valid_until=instant(),
            ticket=random.choice([None, "77aa"]),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_it_is_as_if_all_live_rules_had_been_built_at_once(seed: int) -> None:
    choose = random.Random(seed)
    rules = random_rules(60, choose)
    choose.shuffle(rules)
    cuts = sorted(choose.sample(range(61), choose.randrange(1, 5)))
    parts, live = [], []
    for start, stop in zip([0, *cuts], [*cuts, 60], strict=True):
        own = sorted(rules[start:stop], key=lambda rule: rule.id)
        removed = [row for row in range(len(own)) if choose.random() < 0.3]
        parts.append((segment(own), np.array(removed, np.int32)))
        live += [rule for row, rule in enumerate(own) if row not in removed]
    assert content(merge_segments(parts)) == content(segment(live))
    unexpired = [rule for rule in live if rule.valid_until is None or rule.valid_until > NOW]
    assert content(merge_segments(parts, drop_expired_at=NOW)) == content(segment(unexpired))


def test_a_merged_segment_can_be_stored() -> None:
    parts = [(segment(random_rules(30, random.Random(1))), rows(3, 4)), (segment([rule("z", "a = 1")]), NONE)]
    merged = merge_segments(parts)
    assert content(from_tables(to_tables(merged))) == content(merged)


def test_nodes_that_only_removed_rules_used_are_gone() -> None:
    made = segment([rule("a", "lower(x) = 'p' AND y = 1"), rule("b", "y = 1")])
    merged = merge_segments([(made, rows(0))])
    assert merged.forest.attributes.tolist() == ["y"]
    assert merged.forest.constants.text.tolist() == ["1"]
    assert (len(merged.forest.nodes.level), merged.forest.nodes.use_count.tolist(), merged.functions) == (1, [1], ())


def test_what_segments_share_is_shared_in_the_merged_one() -> None:
    merged = merge_segments(
        [(segment([rule("a", "x = 1 AND y = 2")]), NONE), (segment([rule("b", "y = 2 AND x = 1")]), NONE)],
    )
    assert merged.forest.roots.tolist() == [2, 2]
    assert merged.forest.nodes.use_count.tolist() == [2, 2, 2]


def test_nothing_is_a_segment_too() -> None:
    assert content(merge_segments([])) == content(build_segment([]))
    assert content(merge_segments([(segment([rule("a", "x = 1")]), rows(0))])) == content(build_segment([]))


def test_an_id_that_is_live_twice_is_refused() -> None:
    twice = [(segment([rule("a", "x = 1")]), NONE), (segment([rule("a", "x = 2")]), NONE)]
    with pytest.raises(DuplicateId, match="'a'"):
        merge_segments(twice)
    assert merge_segments([twice[0], (twice[1][0], rows(0))]).rules.where.tolist() == ["x = 1"]


def test_a_rule_expires_at_the_end_of_its_validity() -> None:
    made = segment(
        [rule("a", "x = 1", valid_until=NOW), rule("b", "x = 1", valid_until=NOW + timedelta(microseconds=1))]
    )
    assert merge_segments([(made, NONE)], NOW).rules.id.tolist() == ["b"]
    assert merge_segments([(made, NONE)]).rules.id.tolist() == ["a", "b"]


def test_it_matches_the_same_rows() -> None:
    made = [segment([rule("a", "x > 1"), rule("b", "x IS NULL")]), segment([rule("c", "x <> 2", priority=5)])]
    table = pa.table({"x": [1, 2, 3, None]})
    assert match(merge_segments([(made[0], NONE), (made[1], NONE)]), table).ids.to_pylist() == [
        ["c"],
        ["a"],
        ["c", "a"],
        ["b"],
    ]
