"""Trees of the same pattern have the same findings: the search is not repeated for them."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index import Rule
from sparkrules.lint.logic import _findings, logic_findings
from sparkrules.logic.pattern_of_codes import pattern_of_codes
from sparkrules.logic.regions import Regions
from sparkrules.sql import parse_rule

PREDICATES = ["a < {}", "a >= {}", "a = {}", "a <> {}", "a IN ({}, {})", "a IS NULL", "a <=> {}", "b > {}", "b = {}"]
PREDICATES += ["c = 'x{}'", "c LIKE 'x{}%'", "c > 'x{}'", "d", "a IS NOT NULL", "a = NULL"]


def text(pick: random.Random, depth: int) -> str:
    if depth == 0:
        shape = pick.choice(PREDICATES)
        while "{}" in shape:
            shape = shape.replace("{}", str(pick.randrange(4)), 1)
        return shape
    joint = pick.choice((" AND ", " OR "))
    return f"({joint.join(text(pick, pick.randrange(depth)) for _ in range(pick.choice((2, 3))))})"


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_findings_are_those_of_each_rule_alone(seed: int) -> None:
    pick = random.Random(seed)
    texts = [text(pick, pick.randrange(1, 4)) for _ in range(60)]
    rules = [Rule(f"{number:02}", one, parse_rule(one)) for number, one in enumerate(texts)]
    regions = Regions.of_trees(*(rule.tree for rule in rules))
    assert list(logic_findings(rules, regions)) == [one for rule in rules for one in _findings(rule, regions)]


def test_patterns_are_shared_by_rules_that_differ_in_constants_only() -> None:
    trees = [parse_rule(f"(a < {n} AND b > {n}) OR (a > {n + 5} AND c = 'x{n}')") for n in range(0, 500, 10)]
    regions = Regions.of_trees(*trees)
    assert len({pattern_of_codes(tree, regions) for tree in trees}) < 5
