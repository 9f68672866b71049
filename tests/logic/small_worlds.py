"""Small finite worlds: every possible row, random trees over them, and the brute-force answers for the trees."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sparkrules.logic.attribute_type import Enumeration
from sparkrules.sql.tree import OPERATORS, Constant, Junction, Node, Predicate
from tests.index.index_oracle import is_true

# The constants of i are 0 to 4: beyond them on either side, one value stands for all others.
TYPES = {"i": pa.int8(), "e": Enumeration("new", "old", "used"), "b": pa.bool_()}
VALUES: dict[str, list[Any]] = {
    "i": [None, *range(-2, 8)],
    "e": [None, "new", "old", "used"],
    "b": [None, True, False],
}
ROWS = [dict(zip(VALUES, values, strict=True)) for values in product(*VALUES.values())]
# Texts without a bound cannot be listed: brute force here only finds rows, it never proves that there are none.
TEXTS = [None, *("".join(letters) for length in range(5) for letters in product("ab", repeat=length))]
TEXT_ROWS = [{"t": text, "b": truth} for text in TEXTS for truth in VALUES["b"]]

_COMPARED = ("=", "<>", "<", "<=", ">", ">=", "<=>", "not <=>")
_MATCHED = ("like", "not like", "contains", "not contains", "startswith", "not startswith", "endswith", "not endswith")
_TRUTHS = ("is true", "is false", "is not true", "is not false")
_PRESENCE = ("is null", "is not null")


def _predicate(attribute: str, constants: st.SearchStrategy[Constant], operators: tuple[str, ...]) -> Any:
    null = st.just(Constant("null"))
    some = st.one_of(constants, constants, constants, null)
    single = st.builds(lambda op, c: Predicate(attribute, op, (c,)), st.sampled_from(operators), some)
    listed = st.builds(
        lambda op, cs: Predicate(attribute, op, tuple(cs)),
        st.sampled_from(("in", "not in")),
        st.lists(some, min_size=1, max_size=3),
    )
    presence = st.builds(lambda op: Predicate(attribute, op), st.sampled_from(_PRESENCE))
    return st.one_of(single, single, listed, presence)


_INTEGERS = st.integers(0, 4).map(lambda value: Constant("integer", str(value)))
_NAMES = st.sampled_from(["new", "old", "used", "n", "zzz"]).map(lambda text: Constant("string", text))
_LETTERS = st.text("ab", max_size=2).map(lambda text: Constant("string", text))
_PATTERNS = st.text("ab%_", max_size=3).map(lambda text: Constant("string", text))

decided = st.one_of(
    _predicate("i", _INTEGERS, _COMPARED),
    _predicate("i", _INTEGERS, _COMPARED),
    _predicate("e", _NAMES, (*_COMPARED, "startswith", "not startswith")),
    st.builds(lambda op: Predicate("b", op), st.sampled_from(_TRUTHS)),
)
texts = st.one_of(
    _predicate("t", _LETTERS, (*_COMPARED, *_MATCHED[2:])),
    _predicate("t", _PATTERNS, _MATCHED[:2]),
    st.builds(lambda op: Predicate("b", op), st.sampled_from(_TRUTHS)),
)


def trees(leaves: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Node]:
    """Trees of a few predicates, with empty junctions now and then."""
    return st.recursive(
        leaves,
        lambda nodes: st.builds(
            lambda operator, children: Junction(operator, tuple(children)),
            st.sampled_from(("and", "or")),
            st.lists(nodes, min_size=0, max_size=3),
        ),
        max_leaves=6,
    )


def true_rows(tree: Node, rows: list[dict[str, Any]] = ROWS) -> set[int]:
    """The numbers of the rows that a WHERE would keep."""
    return {number for number, row in enumerate(rows) if is_true(tree, row)}


assert set(_COMPARED) | set(_MATCHED) | set(_TRUTHS) | set(_PRESENCE) < set(OPERATORS)
