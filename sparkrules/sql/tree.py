"""The Boolean tree of a rule, in negation normal form.

A rule is true for a row exactly when its tree is true. A tree has two kinds of nodes:

- A `Predicate` is *attribute operator constants*. For a row it is true or not true. There is no NOT: a negated
  predicate has its own operator (`a < 5` negated is `a >= 5`, `a LIKE 'x'` negated is `a NOT LIKE 'x'`). So SQL's
  "unknown" can count as "not true" everywhere.
- A `Junction` is AND or OR over other nodes. An empty AND is always true, an empty OR never.

An expression that is not of the form attribute-operator-constant is *opaque*: its whole text becomes a Boolean
attribute with the operator `is true` or `is false`. `a + b > c` becomes `Predicate("a + b > c", "is true")`.

>>> tree = Junction("and", (Predicate("price", "<", (Constant("integer", "5"),)), Predicate("sold", "is false")))
>>> print(tree)
price < 5 and sold is false
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sparkrules.sql.binding_text import TYPED, shown_predicate

ConstantKind = Literal["null", "boolean", "integer", "decimal", "double", "string", "sql"]
JunctionOperator = Literal["and", "or"]

# Every operator of a predicate, with the operator that is true exactly when it is *false* (not unknown: for a NULL,
# neither `a < 5` nor `a >= 5` is true).
NEGATED: dict[str, str] = {
    "=": "<>",
    "<": ">=",
    ">": "<=",
    "<=>": "not <=>",
    "in": "not in",
    "like": "not like",
    "ilike": "not ilike",
    "rlike": "not rlike",
    "contains": "not contains",
    "startswith": "not startswith",
    "endswith": "not endswith",
    "in network": "not in network",
    "in list": "not in list",
    "is null": "is not null",
    "is true": "is false",
}
NEGATED |= {negative: positive for positive, negative in NEGATED.items()}
# `is not true` (false or unknown) and `is not false` are never unknown, so their negations are `is true` and
# `is false`, but not the other way round.
OPERATORS: tuple[str, ...] = (*NEGATED, "is not true", "is not false")
NEWER_OPERATORS: frozenset[str] = frozenset({"in network", "not in network", "in list", "not in list"})
"""Operators that older versions of sparkrules cannot read: see `docs/store-format.md`."""
# A tree whose parts are shared may be far larger when written out than in memory.
_LONGEST_TEXT = 1_000_000


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant as Spark's parser types it: `kind` fixes the type, `text` the value.

    | kind | text | Spark's type |
    |---|---|---|
    | null | empty | void |
    | boolean | `true` or `false` | boolean |
    | integer | `-5` | the first of int, bigint and decimal that can hold it |
    | decimal | `1.50` | decimal with exactly these digits |
    | double | `1e3` | double |
    | string | the value itself, escapes resolved | string |
    | sql | any other constant expression, as Spark SQL: `DATE '2020-01-01'`, `lower('A')` | what Spark says |
    """

    kind: ConstantKind
    text: str = ""

    def __str__(self) -> str:
        if self.kind == "null":
            return "NULL"
        if self.kind == "string":
            return "'" + self.text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return self.text


@dataclass(frozen=True, slots=True)
class Predicate:
    """An attribute, an operator and constants. `attribute` is a deterministic scalar Spark expression, as SQL."""

    attribute: str
    operator: str
    constants: tuple[Constant, ...] = ()
    functions: frozenset[str] | None = field(default=None, compare=False, repr=False)
    """The functions that the parser saw called in this predicate; None if no parser created it."""

    def __str__(self) -> str:
        if TYPED in self.attribute:
            return shown_predicate(self.attribute, self.operator, list(map(str, self.constants)))
        if self.operator in ("in", "not in"):
            return f"{self.attribute} {self.operator} ({', '.join(map(str, self.constants))})"
        return " ".join([self.attribute, self.operator, *map(str, self.constants)])


@dataclass(frozen=True, slots=True)
class Junction:
    """AND or OR. The empty AND is true, the empty OR is false."""

    operator: JunctionOperator
    children: tuple[Node, ...]

    def __str__(self) -> str:
        pieces: list[str] = []
        length = 0
        for piece in self._pieces():
            if length > _LONGEST_TEXT:
                return "".join([*pieces, "..."])
            pieces.append(piece)
            length += len(piece)
        return "".join(pieces)

    def _pieces(self) -> Iterator[str]:
        if not self.children:
            yield "true" if self.operator == "and" else "false"
        for number, child in enumerate(self.children):
            if number:
                yield f" {self.operator} "
            if isinstance(child, Junction):
                yield "("
                yield from child._pieces()
                yield ")"
            else:
                yield str(child)


Node = Predicate | Junction
ALWAYS = Junction("and", ())
NEVER = Junction("or", ())


def predicates(tree: Node) -> Iterator[Predicate]:
    """The predicates of a tree from left to right, including repetitions."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Predicate):
            yield node
        else:
            stack.extend(reversed(node.children))


def has_newer_operators(tree: Node) -> bool:
    """Whether an older sparkrules cannot read the tree."""
    return any(predicate.operator in NEWER_OPERATORS for predicate in distinct_predicates(tree))


def distinct_predicates(tree: Node) -> list[Predicate]:
    """The distinct predicates of a tree, visiting shared nodes once."""
    found: dict[Predicate, None] = {}
    seen: set[int] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Predicate):
            found[node] = None
        else:
            stack.extend(reversed(node.children))
    return list(found)
