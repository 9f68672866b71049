"""The attributes that a rule compares with BETWEEN.

The tree has two comparisons for a BETWEEN, the same as those of a rule that was written with them. Almost always both
mean the same. Where they do not, the text of the rule is parsed again."""

from __future__ import annotations

from sparkrules.sql.boolean import structure_of
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.predicate_sides import attribute_of
from sparkrules.sql.syntax import Count, Gate, Not, Syntax
from sparkrules.sql.tokens import tokenize


def between_attributes(text: str) -> frozenset[str]:
    """The attributes of the BETWEENs in a text of Spark SQL, as the predicates of its tree have them.

    >>> sorted(between_attributes("NOT (a BETWEEN 1 AND 2 OR lower(`b`) NOT BETWEEN 'x' AND 'y') AND c = 'BETWEEN'"))
    ['a', 'lower(`b`)']
    """
    tokens = tokenize(text, ANYTHING)
    found: set[str] = set()
    stack: list[Syntax] = [parse_structure(tokens, ANYTHING)]
    while stack:
        syntax = stack.pop()
        if isinstance(syntax, Not):
            stack.append(syntax.child)
        elif isinstance(syntax, Gate | Count):
            stack.extend(syntax.children)
        elif (inner := structure_of(tokens, syntax)) is not None:
            stack.append(inner)
        elif syntax.kind == "between" and (attribute := attribute_of(tokens, syntax.value)) is not None:
            found.add(attribute)
    return frozenset(found)
