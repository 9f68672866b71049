"""Locate the predicates of a rule in its text. Trees do not record positions, so the text is parsed again, only for
findings.

Contract: the places of a predicate, in text order. Empty if it cannot be found, for example in a rule translated from
another dialect.

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
from sparkrules.sql.policy import ANYTHING, AnyFunction
from sparkrules.sql.predicate_sides import classify, opaque
from sparkrules.sql.syntax import Count, Gate, Not, PredicateSyntax, Syntax
from sparkrules.sql.tokens import Tokens, tokenize
from sparkrules.sql.tree import Node, Predicate, distinct_predicates
from sparkrules.sql.written import text_in_spark_dialect

_MAX_PLACES = 5
_Wanted = tuple[int, ...]


class Locator:
    """The places of the predicates in one rule."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def places(self, part: Node) -> tuple[Place, ...]:
        """The places of a predicate. For a junction, the first place of its rarest predicate."""
        if isinstance(part, Predicate):
            return tuple(self._places.get(part, ())[:_MAX_PLACES])
        known = [self._places[predicate] for predicate in distinct_predicates(part) if predicate in self._places]
        return tuple(min(known, key=len)[:1]) if known else ()

    @cached_property
    def _places(self) -> dict[Predicate, list[Place]]:
        # If its text is Spark SQL, it has no row functions; if it is not, it may have some.
        policy = ANYTHING if self.rule.sql is None else AnyFunction()
        if text_in_spark_dialect(self.rule.where, self.rule.sql, policy) != self.rule.where:
            return {}
        try:
            tokens = tokenize(self.rule.where, policy)
            found: dict[Predicate, list[Place]] = {}
            self._walk(tokens, parse_structure(tokens, policy), (0,), found)
        except (RuleError, RecursionError):
            return {}
        return found

    def _walk(self, tokens: Tokens, structure: Syntax, wanted: _Wanted, found: dict[Predicate, list[Place]]) -> None:
        """`wanted`: which sides of the structure the rule needs. Under NOT it needs the false side."""
        if isinstance(structure, Gate):
            for child in structure.children:
                self._walk(tokens, child, (0, 1) if structure.operator == "xor" else wanted, found)
        elif isinstance(structure, Not):
            self._walk(tokens, structure.child, tuple(1 - side for side in wanted), found)
        elif isinstance(structure, Count):
            # An upper bound needs the false sides of what is counted, and its negation the true ones.
            counted = [0] * (structure.least > 0) + [1] * (structure.most < len(structure.children))
            for child in structure.children:
                self._walk(tokens, child, tuple({abs(side - own) for side in wanted for own in counted}), found)
        elif (guard := tokens.guards.get((structure.start, structure.end))) is not None:
            for condition in guard.conditions:
                if isinstance(condition, Predicate):
                    self._add(tokens, structure, (condition,), found)
                else:
                    self._walk(tokens, condition, (0,), found)
            self._add(tokens, structure, _sides(guard.tokens, guard.predicate, wanted), found)
        elif (inner := structure_of(tokens, structure)) is not None:
            self._walk(tokens, inner, wanted, found)
            if structure.value.comparisons:
                self._add(tokens, structure, opaque(tokens, structure), found)
        else:
            self._add(tokens, structure, _sides(tokens, structure, wanted), found)

    def _add(
        self, tokens: Tokens, test: PredicateSyntax, sides: tuple[Node, ...], found: dict[Predicate, list[Place]]
    ) -> None:
        start = tokens.starts[test.start]
        end = tokens.starts[test.end - 1] + len(tokens.texts[test.end - 1])
        text = tokens.text
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        place = Place(self.rule.id, line, column, text[start:end])
        for predicate in {predicate for side in sides for predicate in distinct_predicates(side)}:
            found.setdefault(predicate, []).append(place)


def _sides(tokens: Tokens, predicate: PredicateSyntax, wanted: _Wanted) -> tuple[Node, ...]:
    sides = classify(tokens, predicate)
    return tuple(sides[side] for side in wanted)
