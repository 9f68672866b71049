"""The tree of a rule for people: with `at_least` and the like as they were written, not as the index has them.

A network of ANDs and ORs tells nobody that two of three conditions must be true. Everything else is in negation normal
form, as in the index, so that each predicate of the tree is one of the index.

>>> from sparkrules.sql import spark_sql
>>> for where in ("at_least(2, a > 1, b = 2, c < 3) AND d", "at_most(1, a > 1, b = 2, c < 3)"):
...     print(written_tree(where, spark_sql(where)))
at_least(2, a > 1, b = 2, c < 3) and d is true
at_least(2, a <= 1, b <> 2, c >= 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkrules.sql.errors import RuleError
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.normal_form import TreeBuilder
from sparkrules.sql.policy import AnyFunction, Policy
from sparkrules.sql.row_functions import may_have_row_functions
from sparkrules.sql.rule import RulePredicates, read_spark_sql
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.tree import Junction, Node

_ACCEPTED = AnyFunction(2**62, 2**31, 2**31, 2**31, 2**62)


@dataclass(frozen=True, slots=True, eq=False)
class Threshold:
    """At least `needed` of the children. `written` is how the rule says it."""

    needed: int
    children: tuple[Written, ...]
    written: str

    @property
    def text(self) -> str:
        """The node in words.

        >>> Threshold(2, (), "at_least(2, ...)").text, Threshold(2, (), "at_most(1, ...)").text
        ('at_least(2, ...)', 'at_most(1, ...): at least 2 of')
        """
        same = f"at_least({self.needed}, ...)"
        return same if self.written == same else f"{self.written}: at least {self.needed} of"

    def __str__(self) -> str:
        return f"at_least({', '.join([str(self.needed), *map(str, self.children)])})"


Written = Node | Threshold
"""The children of a junction may be thresholds as well."""


def written_tree(where: str, sql: str | None) -> Written | None:
    """The tree of a rule with counts; None if it has none, or is in another dialect. `sql` is its text as Spark SQL."""
    if sql is None or not may_have_row_functions(where) or text_in_spark_dialect(where, sql, _ACCEPTED) != where:
        return None
    try:
        tokens = tokenize(where, _ACCEPTED)
        structure = parse_structure(tokens, _ACCEPTED)
        builder = _WrittenBuilder(RulePredicates(tokens, _ACCEPTED).sides)
        tree: Written = builder.sides(structure)[0]
    except (RuleError, RecursionError):
        return None
    return tree if builder.has_counts else None


def text_in_spark_dialect(where: str, sql: str | None, policy: Policy) -> str | None:
    """The text of a rule in the Spark dialect, with row functions as they are written; None if there is no such text.

    A rule in another dialect has only `sql`, which has no row functions any more.
    """
    if sql is None:
        return where
    if not may_have_row_functions(where):
        return sql
    try:
        return where if read_spark_sql(where, policy).sql == sql else None
    except (RuleError, RecursionError):
        return None


def has_counts(tree: Written) -> bool:
    """Whether a part is a threshold."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Threshold):
            return True
        if isinstance(node, Junction):
            stack.extend(node.children)
    return False


class _WrittenBuilder(TreeBuilder):
    """Leaves counts as they are."""

    has_counts = False

    def at_least(self, needed: int, nodes: Sequence[Node], said: str) -> Node:
        self.has_counts = True
        return Threshold(needed, tuple(nodes), said)  # type: ignore[return-value]
