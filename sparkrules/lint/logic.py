"""Rules that never match, that always do, and parts of rules that change nothing.

>>> from sparkrules.sql import parse_rule
>>> text = "temperature < 0 AND temperature > 30 AND city = 'Oslo'"
>>> rule = Rule("r", text, parse_rule(text))
>>> [finding] = logic_findings([rule], Regions.of_trees(rule.tree))
>>> finding.kind, finding.message
('contradiction', 'never true: `temperature < 0` and `temperature > 30` exclude each other')
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from sparkrules.index.regions import NULL, Regions
from sparkrules.index.relations import redundancies_in, tautology_in
from sparkrules.index.rule import Rule
from sparkrules.index.satisfiable import formula, impossible
from sparkrules.lint.finding import Finding, Place, quoted
from sparkrules.lint.locate import Locator
from sparkrules.sql.tree import Junction, Node, Predicate

_LIMIT = 2_000
_PART_LIMIT = 200  # for each part of a rule
_MAX_PARTS = 5
_REASONS = {
    ("and", "follows from the rest"): "follows from the rest of its AND",
    ("or", "covered by the rest"): "is covered by the rest of its OR",
    ("or", "never true here"): "is never true here: what stands before or after it excludes it",
}


def logic_findings(rules: Sequence[Rule], regions: Regions) -> Iterator[Finding]:
    """See the module."""
    for rule in rules:
        if impossible([formula(rule.tree, regions)], regions, _LIMIT):
            yield _contradiction(rule, regions)
        elif _holds_for_nulls(rule.tree, regions) and tautology_in(regions, rule.tree, _LIMIT) == "yes":
            yield Finding("tautology", (rule.id,), "true for every row", suggestion=_ALWAYS)
        else:
            yield from _redundant(rule, regions)


_ALWAYS = "Write TRUE if that is meant; else correct it: an OR where an AND belongs is the usual reason."


def _contradiction(rule: Rule, regions: Regions) -> Finding:
    locator = Locator(rule)
    pair = _excluding_pair(rule.tree, regions)
    if pair is None:
        return Finding("contradiction", (rule.id,), "never true", suggestion="Correct it, or remove the rule.")
    places = tuple(place for part in dict.fromkeys(pair) for place in locator.places(part)[:1])
    if len(pair) == 1:
        message = f"never true: {quoted(pair[0])} never is"
        remedy = "Use IS NULL to test for NULL." if _compares_with_null(pair[0]) else "Correct it."
        return Finding("contradiction", (rule.id,), message, places, remedy)
    message = f"never true: {quoted(pair[0])} and {quoted(pair[1])} exclude each other"
    return Finding("contradiction", (rule.id,), message, places, "Correct one of them, or join them with OR.")


def _excluding_pair(tree: Node, regions: Regions) -> tuple[Predicate, ...] | None:
    """One test, or two, of the outermost AND that cannot be true."""
    parts = tree.children if isinstance(tree, Junction) and tree.operator == "and" else (tree,)
    tests = [part for part in parts if isinstance(part, Predicate)]
    for test in tests:
        if not regions.leaf(test).possible:
            return (test,)
    for a, b in combinations(tests, 2):
        if a.attribute == b.attribute:
            both = [formula(a, regions), formula(b, regions)]
            if impossible(both, regions, _LIMIT):
                return a, b
    return None


def _compares_with_null(test: Predicate) -> bool:
    return any(constant.kind == "null" for constant in test.constants)


def _holds_for_nulls(tree: Node, regions: Regions) -> bool:
    """Whether it is true if every attribute is NULL, which a tautology is; hardly another rule is."""
    if isinstance(tree, Predicate):
        leaf = regions.leaf(tree)
        return NULL in leaf.possible or NULL not in leaf.universe
    join = all if tree.operator == "and" else any
    return join(_holds_for_nulls(child, regions) for child in tree.children)


def _redundant(rule: Rule, regions: Regions) -> Iterator[Finding]:
    found = redundancies_in(regions, rule.tree, _PART_LIMIT)
    locator = Locator(rule)
    for redundancy in found[:_MAX_PARTS]:
        reason = _REASONS[redundancy.inside, redundancy.reason]
        places: tuple[Place, ...] = locator.places(redundancy.part)
        yield Finding("redundant", (rule.id,), f"{quoted(redundancy.part)} {reason}", places, "Remove it.")
    if len(found) > _MAX_PARTS:
        yield Finding("redundant", (rule.id,), f"{len(found) - _MAX_PARTS} more parts are redundant")
