"""The Boolean tree of a rule, in negation normal form.

A rule is true for a row exactly when its tree is true, and the tree has only three kinds of thing in it:

- a `Predicate`: *attribute operator constants*, a test that is true or not true for a row. There is no NOT: a negated
  test is an operator of its own (`a < 5` negated is `a >= 5`, `a LIKE 'x'` negated is `a NOT LIKE 'x'`), so that in
  SQL's three-valued logic "unknown" can count as "not true" everywhere.
- a `Junction`: AND or OR over other nodes. An empty AND is always true, an empty OR never.

A leaf that is not of the form attribute-operator-constant is *opaque*: its whole text becomes a Boolean attribute and
the test is `is true` or `is false`. `a + b > c` is the predicate `Predicate("a + b > c", "is true")`.

>>> tree = Junction("and", (Predicate("price", "<", (Constant("integer", "5"),)), Predicate("sold", "is false")))
>>> print(tree)
price < 5 and sold is false
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

ConstantKind = Literal["null", "boolean", "integer", "decimal", "double", "string", "sql"]
JunctionOperator = Literal["and", "or"]

# Every operator a predicate may have, with the operator that is true exactly when it is *false* (not when it is
# unknown: `a < 5` and `a >= 5` are both not true for a NULL).
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
    "is null": "is not null",
    "is true": "is false",
}
NEGATED |= {negative: positive for positive, negative in NEGATED.items()}
# `is not true` (false or unknown) and `is not false` are never unknown, so their negations are the plain tests, but
# not the other way round.
OPERATORS: tuple[str, ...] = (*NEGATED, "is not true", "is not false")


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant as Spark's parser types it: `kind` fixes the type, `text` the value.

    | kind | text | Spark's type |
    |---|---|---|
    | null | empty | void |
    | boolean | `true` or `false` | boolean |
    | integer | `-5` | int, bigint or decimal, whichever is the first to hold it |
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
    """The functions that the parser saw called where the predicate was written; None if no parser made it."""

    def __str__(self) -> str:
        if self.operator in ("in", "not in"):
            return f"{self.attribute} {self.operator} ({', '.join(map(str, self.constants))})"
        return " ".join([self.attribute, self.operator, *map(str, self.constants)])


@dataclass(frozen=True, slots=True)
class Junction:
    """AND or OR. The empty AND is true, the empty OR is false."""

    operator: JunctionOperator
    children: tuple[Node, ...]

    def __str__(self) -> str:
        if not self.children:
            return "true" if self.operator == "and" else "false"
        return f" {self.operator} ".join(f"({c})" if isinstance(c, Junction) else str(c) for c in self.children)


Node = Predicate | Junction
ALWAYS = Junction("and", ())
NEVER = Junction("or", ())


def predicates(tree: Node) -> Iterator[Predicate]:
    """The predicates of a tree, left to right, repeated ones repeatedly."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Predicate):
            yield node
        else:
            stack.extend(reversed(node.children))


def distinct_predicates(tree: Node) -> list[Predicate]:
    """The predicates of a tree, each once, however often its nodes are shared."""
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
