"""The functions that a tree calls. They must be registered wherever the tree runs.

The parser records them in the predicates it creates. Predicates read from a store lack the record, so their SQL is
parsed again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.tree import Constant, Node, distinct_predicates


def called_functions(tree: Node) -> frozenset[str]:
    """The functions called by the attributes and constants of a tree, in lower case.

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
    """The functions called by any of these attributes and constants, in lower case."""
    functions: set[str] = set()
    for attribute in attributes:
        functions |= functions_in(attribute)
    for constant in constants:
        if constant.kind == "sql":
            functions |= functions_in(constant.text)
    return frozenset(functions)


def functions_in(sql: str) -> frozenset[str]:
    """The functions called by one attribute or constant."""
    return _functions_in(sql) if "(" in sql else frozenset()


@lru_cache(maxsize=65_536)
def _functions_in(sql: str) -> frozenset[str]:
    tokens = tokenize(sql, ANYTHING)
    parse_structure(tokens, ANYTHING)
    return frozenset(tokens.functions.values())
