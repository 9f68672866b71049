"""Rules with their trees in the order of their texts.

In the index, rules share equal parts, so the order inside an AND or OR depends on the other rules. The findings about a
rule must not: lint compares rules of the same form, and a baseline keeps its findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sparkrules.index import Rule
from sparkrules.index.builder import trees_forest
from sparkrules.sql import Node, Policy, RuleError, parse_rule
from sparkrules.sql.policy import AnyFunction
from sparkrules.sql.template import SEPARATOR, Template, joined, lift, literal_class, make_template
from sparkrules.sql.tree import Junction, Predicate
from sparkrules.sql.written import text_in_spark_dialect

# Below this, parsing each text costs less than making and checking a template.
_FEWEST_ALIKE = 16
_Kind = tuple[str, tuple[str, ...]]


def as_written(rules: Iterable[Rule], policy: Policy) -> Iterator[Rule]:
    """The rules, each with the tree of its text. A rule that exceeds the limits of the policy keeps its tree,
    and so does one with exemptions.

    >>> from sparkrules.sql import DEFAULT_POLICY
    >>> rule = Rule("r", "b > 1 AND a > 1", parse_rule("a > 1 AND b > 1"))
    >>> print(*(rule.tree for rule in as_written([rule], DEFAULT_POLICY)))
    b > 1 and a > 1
    """
    accepted = AnyFunction.within(policy)
    parsed = _ParsedTexts(accepted)
    trees: dict[str, Node] = {}
    for rule in rules:
        if rule.exemptions is not None:
            yield rule  # its text is not all of it
            continue
        if rule.where not in trees:
            text = text_in_spark_dialect(rule.where, rule.sql, accepted)
            try:
                trees[rule.where] = rule.tree if text is None else parsed.tree(text)
            except RuleError:
                trees[rule.where] = rule.tree
        yield replace(rule, tree=trees[rule.where])


class _ParsedTexts:
    """The trees of texts, which are parsed until enough differ only in their constants."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seen: dict[_Kind, int] = {}
        self.templates: dict[tuple[_Kind, tuple[str, ...]], _Filling] = {}
        self.pinned: dict[_Kind, tuple[int, ...] | None] = {}  # None if there is no template

    def tree(self, text: str) -> Node:
        """The same as `parse_rule`. Raises `RuleError` as it does.

        >>> from sparkrules.sql import DEFAULT_POLICY
        >>> parsed = _ParsedTexts(DEFAULT_POLICY)
        >>> texts = [f"b > {number} AND a = {number % 7} OR a = 3" for number in range(100)]
        >>> all(parsed.tree(text) == parse_rule(text) for text in texts), len(parsed.templates)
        (True, 1)
        """
        if SEPARATOR in text or len(text) > self.policy.max_characters:
            return parse_rule(text, policy=self.policy)
        skeleton, literals = lift(text)
        kind = skeleton, tuple(map(literal_class, literals))
        count = self.seen[kind] = self.seen.get(kind, 0) + 1
        if count < _FEWEST_ALIKE:
            return parse_rule(text, policy=self.policy)
        if count == _FEWEST_ALIKE:
            self._make(kind, literals)
        pinned = self.pinned[kind]
        template = None if pinned is None else self.templates.get((kind, tuple(literals[at] for at in pinned)))
        if template is None:
            return parse_rule(text, policy=self.policy)
        return template.tree(literals) or parse_rule(text, policy=self.policy)

    def _make(self, kind: _Kind, literals: list[str]) -> None:
        """Make the template for the literals that are pinned here; texts with others are parsed."""
        self.pinned[kind] = None
        template = make_template(kind[0], literals, self.policy)
        if template is None:
            return
        parsed = parse_rule(joined(kind[0], literals), policy=self.policy)
        roots = trees_forest({"parsed": parsed, "filled": template.tree_of(literals)}).roots
        if roots[0] == roots[1]:
            self.pinned[kind] = template.pinned
            self.templates[kind, tuple(literals[at] for at in template.pinned)] = _Filling(template)


class _Filling:
    """`Template.tree_of`, in a fraction of the time for many texts: predicates with the same literals are made once."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.nodes: list[Node] = []  # children first
        self.place: dict[int, int] = {}
        self.holes: dict[int, tuple[int, ...]] = {}  # the literals of each predicate
        self.known: dict[tuple[int, tuple[str, ...]], Predicate] = {}
        self.shared: dict[Predicate, Predicate] = {}
        stack: list[tuple[Node, bool]] = [(template.tree, False)]
        while stack:
            node, is_ready = stack.pop()
            if id(node) in self.place:
                continue
            if isinstance(node, Junction) and not is_ready:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
                continue
            if isinstance(node, Predicate):
                found = [template.holes[mark].number for mark in node.constants if mark in template.holes]
                self.holes[len(self.nodes)] = tuple(found)
            self.place[id(node)] = len(self.nodes)
            self.nodes.append(node)

    def tree(self, literals: list[str]) -> Node | None:
        """The tree with these literals; None where two operands become equal, of which the parser keeps one, and where
        the parser rejects a literal."""
        if not self.template.fits(literals):
            return None
        made: list[Node] = []
        junctions: dict[tuple[str, tuple[int, ...]], Junction] = {}
        for place, node in enumerate(self.nodes):
            if isinstance(node, Predicate):
                made.append(self._predicate(place, node, tuple([literals[at] for at in self.holes[place]])))
                continue
            children = tuple([made[self.place[id(child)]] for child in node.children])
            ids = tuple(map(id, children))
            if len(set(ids)) < len(ids):
                return None
            made.append(junctions.setdefault((node.operator, ids), Junction(node.operator, children)))
        return made[-1]

    def _predicate(self, place: int, node: Predicate, literals: tuple[str, ...]) -> Predicate:
        key = place, literals
        found = self.known.get(key)
        if found is None:
            holes = (self.template.holes.get(mark) for mark in node.constants)
            own = iter(literals)
            constants = [
                mark if hole is None else hole.constant(next(own))
                for mark, hole in zip(node.constants, holes, strict=True)
            ]
            made = Predicate(node.attribute, node.operator, tuple(constants), node.functions)
            # Equal predicates are one object, as the parser makes them.
            found = self.known[key] = self.shared.setdefault(made, made)
        return found
