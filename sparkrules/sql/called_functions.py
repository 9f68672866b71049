"""Which functions a tree calls: whoever runs it needs them registered.

The parser notes them in the predicates it makes. Predicates from a store have no such note: their SQL is parsed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.policy import Policy
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.tree import Constant, Node, distinct_predicates


class _Anything(Policy):
    """For texts that have passed a policy already."""

    def allows(self, function: str) -> bool:  # noqa: ARG002
        return True


ANYTHING = _Anything(max_characters=2**62, max_depth=2**31)


def called_functions(tree: Node) -> frozenset[str]:
    """The functions that the attributes and constants of a tree call, in lower case.

    >>> from sparkrules.sql import parse_rule
    >>> sorted(called_functions(parse_rule("lower(name) = trim(' x ') AND exists(tags, t -> length(t) > 3)")))
    ['exists', 'length', 'lower', 'trim']
    """
    functions: set[str] = set()
    for predicate in distinct_predicates(tree):
        known = predicate.functions
        functions |= functions_of([predicate.attribute], predicate.constants) if known is None else known
    return frozenset(functions)


def functions_of(attributes: Iterable[str], constants: Iterable[Constant]) -> frozenset[str]:
    """The functions that any of these attributes and constants calls, in lower case."""
    functions: set[str] = set()
    for attribute in attributes:
        functions |= functions_in(attribute)
    for constant in constants:
        if constant.kind == "sql":
            functions |= functions_in(constant.text)
    return frozenset(functions)


def functions_in(sql: str) -> frozenset[str]:
    """The functions that one attribute or constant calls."""
    return _functions_in(sql) if "(" in sql else frozenset()


@lru_cache(maxsize=65_536)
def _functions_in(sql: str) -> frozenset[str]:
    tokens = tokenize(sql, ANYTHING)
    parse_structure(tokens, ANYTHING)
    return frozenset(tokens.functions.values())
