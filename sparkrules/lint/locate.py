"""Where in a rule's text its predicates stand. A tree does not know; the text is cut again, only for findings.

Contract: the places of a predicate, in the order of the text; none if it cannot be found, as in a rule that was
translated from another dialect.

>>> from sparkrules.sql import parse_rule
>>> rule = Rule("r", "b = 1 AND\\n  NOT a <= 5", parse_rule("b = 1 AND NOT a <= 5"))
>>> Locator(rule).places(rule.tree.children[1])
(Place(id='r', line=2, column=7, fragment='a <= 5'),)
"""

from __future__ import annotations

from functools import cached_property

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Place
from sparkrules.sql.boolean import structure_of
from sparkrules.sql.errors import RuleError
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.leaf import classify, opaque
from sparkrules.sql.policy import AnyFunction
from sparkrules.sql.syntax import Gate, Not, Syntax, Test
from sparkrules.sql.tokens import Tokens, tokenize
from sparkrules.sql.tree import Node, Predicate, predicates

_MAX_PLACES = 5


class Locator:
    """The places of the predicates of one rule."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def places(self, part: Node) -> tuple[Place, ...]:
        """Where a predicate stands, or for a junction where its first predicate does."""
        if isinstance(part, Predicate):
            return tuple(self._places.get(part, ())[:_MAX_PLACES])
        first = next(predicates(part), None)
        return self.places(first)[:1] if first is not None else ()

    @cached_property
    def _places(self) -> dict[Predicate, list[Place]]:
        if self.rule.sql is not None:
            return {}
        try:
            tokens = tokenize(self.rule.where, AnyFunction())
            found: dict[Predicate, list[Place]] = {}
            self._walk(tokens, parse_structure(tokens, AnyFunction()), found)
        except (RuleError, RecursionError):
            return {}
        return found

    def _walk(self, tokens: Tokens, structure: Syntax, found: dict[Predicate, list[Place]]) -> None:
        if isinstance(structure, Gate):
            for child in structure.children:
                self._walk(tokens, child, found)
        elif isinstance(structure, Not):
            self._walk(tokens, structure.child, found)
        elif (inner := structure_of(tokens, structure)) is not None:
            self._walk(tokens, inner, found)
            if structure.value.comparisons:
                self._add(tokens, structure, opaque(tokens, structure), found)
        else:
            self._add(tokens, structure, classify(tokens, structure), found)

    def _add(self, tokens: Tokens, test: Test, sides: tuple[Node, Node], found: dict[Predicate, list[Place]]) -> None:
        start = tokens.starts[test.start]
        end = tokens.starts[test.end - 1] + len(tokens.texts[test.end - 1])
        text = tokens.text
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        place = Place(self.rule.id, line, column, text[start:end])
        for predicate in {predicate for side in sides for predicate in predicates(side)}:
            found.setdefault(predicate, []).append(place)
