"""Which functions a tree calls: whoever runs it needs them registered."""

from __future__ import annotations

from functools import lru_cache

from sparkrules.sql.policy import Policy
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.tree import Junction, Node, Predicate

_UNBOUNDED = Policy(max_characters=2**62)
# Words that are followed by a bracket without being called.
_SYNTAX = frozenset("AND OR XOR NOT IN LIKE ILIKE RLIKE IS BETWEEN CASE WHEN THEN ELSE DIV FROM ESCAPE AS".split())


def called_functions(tree: Node) -> frozenset[str]:
    """The functions that the attributes and constants of a tree call, in lower case.

    >>> from sparkrules.sql import parse_rule
    >>> sorted(called_functions(parse_rule("lower(name) = trim(' x ') AND exists(tags, t -> length(t) > 3)")))
    ['exists', 'length', 'lower', 'trim']
    """
    functions: set[str] = set()
    seen: set[int] = set()
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Junction):
            stack.extend(node.children)
            continue
        functions |= functions_in(node.attribute)
        for constant in node.constants:
            if constant.kind == "sql":
                functions |= functions_in(constant.text)
    return frozenset(functions)
