"""Which functions a tree calls: whoever runs it needs them registered."""

from __future__ import annotations

from functools import lru_cache

from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.policy import Policy
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.tree import Junction, Node


class _Anything(Policy):
    """For texts that have passed a policy already."""

    def allows(self, function: str) -> bool:  # noqa: ARG002
        return True


_ANYTHING = _Anything(max_characters=2**62, max_depth=2**31)


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


def functions_in(sql: str) -> frozenset[str]:
    """The functions that one attribute or constant calls."""
    return _functions_in(sql) if "(" in sql else frozenset()


@lru_cache(maxsize=65_536)
def _functions_in(sql: str) -> frozenset[str]:
    tokens = tokenize(sql, _ANYTHING)
    parse_structure(tokens, _ANYTHING)
    return frozenset(tokens.functions)
