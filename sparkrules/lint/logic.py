"""Rules that never match, rules that always match, and parts of rules that are never true or have no effect.

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

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, Kind, Place, quoted
from sparkrules.lint.locate import Locator
from sparkrules.logic.codes import NULL
from sparkrules.logic.pattern_of_codes import Pattern, pattern_of_codes
from sparkrules.logic.regions import Regions
from sparkrules.logic.relations import redundancies_in, tautology_in
from sparkrules.logic.satisfiable import formula, impossible
from sparkrules.sql.tree import Junction, Node, Predicate
from sparkrules.sql.written import Written, has_counts, written_tree

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
    without: set[Pattern] = set()  # the patterns of rules that have no findings
    for rule in rules:
        written = written_tree(rule.where, rule.sql)
        if written is not None:
            yield from _counted_findings(rule, written, regions)
            continue
        pattern = pattern_of_codes(rule.tree, regions)
        if pattern in without:
            continue
        found = list(_findings(rule, regions))
        yield from found
        if not found and pattern is not None:
            without.add(pattern)


def _findings(rule: Rule, regions: Regions) -> Iterator[Finding]:
    never = list(_never_true(rule.tree, regions))
    if never:
        yield from _never_findings(rule, never, regions)
    if rule.tree in never:
        return
    if _holds_for_nulls(rule.tree, regions) and tautology_in(regions, rule.tree, _LIMIT) == "yes":
        yield Finding("tautology", (rule.id,), "true for every row", suggestion=_ALWAYS)
    else:
        yield from _redundant(rule, regions, never)


def never_findings(rules: Sequence[Rule], regions: Regions) -> Iterator[Finding]:
    """Only rules and parts of rules that are never true: the errors among these findings."""
    for rule in rules:
        written = written_tree(rule.where, rule.sql)
        if written is not None:
            yield from _counted_never(rule, written, regions)
        else:
            yield from _never_findings(rule, list(_never_true(rule.tree, regions)), regions)


def _counted_findings(rule: Rule, written: Written, regions: Regions) -> Iterator[Finding]:
    """The findings about a rule with counts. Its tree has parts that nobody wrote, so it is judged as a whole, and
    what it counts part by part. Nothing in a count is redundant: it counts."""
    never = list(_counted_never(rule, written, regions))
    yield from never
    if not never and _holds_for_nulls(rule.tree, regions) and tautology_in(regions, rule.tree, _PART_LIMIT) == "yes":
        yield Finding("tautology", (rule.id,), "true for every row", suggestion=_ALWAYS)


def _counted_never(rule: Rule, written: Written, regions: Regions) -> Iterator[Finding]:
    if impossible([formula(rule.tree, regions)], regions, _PART_LIMIT):
        yield from _never_findings(rule, [rule.tree], regions)
        return
    never: list[Node] = []
    waiting = [written]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Predicate) or not has_counts(part):
            never += _never_true(part, regions)  # type: ignore[arg-type]
        else:
            waiting += reversed(part.children)
    yield from _never_findings(rule, never, regions)


_ALWAYS = "Write TRUE if that is meant; else correct it: an OR where an AND belongs is the usual reason."
_IS_NOT_NULL = "Use IS NOT NULL to test for values."
_LOWER_FIRST = "BETWEEN takes the lower bound first: exchange the two."


def _never_true(tree: Node, regions: Regions) -> Iterator[Node]:
    """The largest parts that are never true: the whole tree, or a branch of an OR."""
    waiting, limit = [tree], _LIMIT
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if impossible([formula(node, regions)], regions, limit):
            yield node
        elif isinstance(node, Junction):
            # If an AND can be true, so can all its parts. So only branches of ORs below it are checked.
            waiting += reversed([child for child in node.children if node.operator == "or" or _has_or(child)])
        limit = _PART_LIMIT


def _has_or(node: Node) -> bool:
    return isinstance(node, Junction) and (node.operator == "or" or any(map(_has_or, node.children)))


def _never_findings(rule: Rule, parts: Sequence[Node], regions: Regions) -> Iterator[Finding]:
    locator = Locator(rule)
    for part in parts[:_MAX_PARTS]:
        kind: Kind = "contradiction" if part is rule.tree else "impossible predicate"
        pair = _excluding_pair(part, regions)
        if pair is None:
            message = "never true" if part is rule.tree else f"never true: {quoted(part)}"
            remedy = "Correct it, or remove the rule." if part is rule.tree else "Correct it, or remove it."
            places = () if part is rule.tree else locator.places(part)
            yield Finding(kind, (rule.id,), message, places, remedy)
            continue
        places = tuple(dict.fromkeys(place for test in pair for place in locator.places(test)[:1]))
        if len(pair) == 1:
            yield Finding(kind, (rule.id,), f"never true: {quoted(pair[0])} never is", places, _remedy(pair[0]))
            continue
        message = f"never true: {quoted(pair[0])} and {quoted(pair[1])} exclude each other"
        is_between = len(places) == 1 and "between" in places[0].fragment.lower()
        remedy = _LOWER_FIRST if is_between else "Correct one of them, or join them with OR."
        yield Finding(kind, (rule.id,), message, places, remedy)


def _remedy(test: Predicate) -> str:
    """What to do about a predicate that is never true."""
    if all(constant.kind != "null" for constant in test.constants):
        return "Correct it."
    if test.operator == "not in":
        return f"Take NULL out of the list: whether a value differs from NULL is unknown. {_IS_NOT_NULL}"
    is_negative = test.operator == "<>" or test.operator.startswith("not ")
    return _IS_NOT_NULL if is_negative else "Use IS NULL to test for NULL."


def _excluding_pair(tree: Node, regions: Regions) -> tuple[Predicate, ...] | None:
    """One predicate of the outermost AND that is never true, or two that exclude each other."""
    parts = tree.children if isinstance(tree, Junction) and tree.operator == "and" else (tree,)
    tests = [part for part in parts if isinstance(part, Predicate)]
    for test in tests:
        if not regions.extent(test).possible:
            return (test,)
    for a, b in combinations(tests, 2):
        if a.attribute == b.attribute:
            both = [formula(a, regions), formula(b, regions)]
            if impossible(both, regions, _LIMIT):
                return a, b
    return None


def _holds_for_nulls(tree: Node, regions: Regions) -> bool:
    """Whether it is true if every attribute is NULL. Every tautology is; hardly any other rule is."""
    known: dict[int, bool] = {}

    def holds(node: Node) -> bool:
        if id(node) not in known:
            if isinstance(node, Predicate):
                extent = regions.extent(node)
                known[id(node)] = NULL in extent.possible or NULL not in extent.universe
            else:
                known[id(node)] = (all if node.operator == "and" else any)(map(holds, node.children))
        return known[id(node)]

    return holds(tree)


def _redundant(rule: Rule, regions: Regions, never: Sequence[Node]) -> Iterator[Finding]:
    found = [own for own in redundancies_in(regions, rule.tree, _PART_LIMIT) if own.part not in never]
    locator = Locator(rule)
    for redundancy in found[:_MAX_PARTS]:
        reason = _REASONS[redundancy.inside, redundancy.reason]
        places: tuple[Place, ...] = locator.places(redundancy.part)
        yield Finding("redundant", (rule.id,), f"{quoted(redundancy.part)} {reason}", places, "Remove it.")
    if len(found) > _MAX_PARTS:
        yield Finding("redundant", (rule.id,), f"{len(found) - _MAX_PARTS} more parts are redundant")
