"""Random conditions, printed as SQL and parsed: true for exactly the rows for which SQL's logic says so.

The oracle evaluates the condition itself in three-valued logic; the tree is evaluated with nothing but true and not
true, as the kernel does.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.sql import Constant, Junction, Node, Policy, Predicate, parse_rule

Row = dict[str, Any]
Truth = bool | None

NUMBERS = ("a", "b")
FLAGS = ("p", "q")
ROWS: list[Row] = [
    dict(zip(NUMBERS + FLAGS, values, strict=True))
    for values in itertools.product([None, 1, 2, 3], [None, 1, 2], [None, True, False], [None, True, False])
]


@dataclass
class Condition:
    sql: str
    truth: dict[int, Truth]
    """By the number of the row."""


def leaf(sql: str, evaluate: Any) -> Condition:
    return Condition(sql, {i: evaluate(row) for i, row in enumerate(ROWS)})


def null_or(evaluate: Any, *names: str) -> Any:
    return lambda row: None if any(row[name] is None for name in names) else evaluate(row)


@st.composite
def leaves(draw: st.DrawFn) -> Condition:
    x, flag = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(FLAGS))
    c, d = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    choices: list[tuple[str, Any]] = [
        (f"{x} < {c}", null_or(lambda r: r[x] < c, x)),
        (f"{c} <= {x}", null_or(lambda r: c <= r[x], x)),
        (f"{x} != {c}", null_or(lambda r: r[x] != c, x)),
        (f"{x} = NULL", lambda r: None),
        (f"{x} <=> {c}", lambda r: r[x] == c),
        (f"{x} IS DISTINCT FROM {c}", lambda r: r[x] != c),
        (f"{x} BETWEEN {c} AND {d}", null_or(lambda r: c <= r[x] <= d, x)),
        (f"{x} NOT BETWEEN {c} AND {d}", null_or(lambda r: not c <= r[x] <= d, x)),
        (f"{x} IN ({c}, {d})", null_or(lambda r: r[x] in (c, d), x)),
        (f"{x} IN ({c}, NULL)", null_or(lambda r: True if r[x] == c else None, x)),
        (f"{x} NOT IN ({c}, NULL)", null_or(lambda r: False if r[x] == c else None, x)),
        (f"{x} IS NULL", lambda r: r[x] is None),
        (f"{x} IS NOT NULL", lambda r: r[x] is not None),
        (flag, lambda r: r[flag]),
        (f"{flag} IS TRUE", lambda r: r[flag] is True),
        (f"{flag} IS NOT TRUE", lambda r: r[flag] is not True),
        (f"{flag} IS NOT FALSE", lambda r: r[flag] is not False),
        (f"{flag} IS UNKNOWN", lambda r: r[flag] is None),
        ("a < b", null_or(lambda r: r["a"] < r["b"], "a", "b")),
        ("TRUE", lambda r: True),
        ("FALSE", lambda r: False),
        ("NULL", lambda r: None),
    ]
    return leaf(*draw(st.sampled_from(choices)))


def both(x: Truth, y: Truth) -> Truth:
    return False if x is False or y is False else None if x is None or y is None else True


def negation(x: Truth) -> Truth:
    return None if x is None else not x


def either(x: Truth, y: Truth) -> Truth:
    return negation(both(negation(x), negation(y)))


def exclusive(x: Truth, y: Truth) -> Truth:
    return None if x is None or y is None else x != y


def combined(children: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    def binary(word: str, operation: Any) -> st.SearchStrategy[Condition]:
        return st.tuples(children, children).map(
            lambda pair: Condition(
                f"({pair[0].sql}) {word} ({pair[1].sql})",
                {i: operation(pair[0].truth[i], pair[1].truth[i]) for i in range(len(ROWS))},
            )
        )

    negated = children.map(lambda c: Condition(f"NOT ({c.sql})", {i: negation(t) for i, t in c.truth.items()}))
    # XOR is ours and cannot be part of a value, which goes to Spark as it is written.
    in_spark = children.map(lambda c: Condition(c.sql.replace(") XOR (", ") <> ("), c.truth))
    known = in_spark.map(lambda c: Condition(f"({c.sql}) IS NOT TRUE", {i: t is not True for i, t in c.truth.items()}))
    return st.one_of(
        binary("AND", both),
        binary("OR", either),
        binary("XOR", exclusive),
        binary("<>", exclusive),
        binary("=", lambda x, y: negation(exclusive(x, y))),
        negated,
        known,
    )


def holds(node: Node, number: int, opaque: dict[str, dict[int, Truth]]) -> bool:
    if isinstance(node, Junction):
        test = all if node.operator == "and" else any
        return test(holds(child, number, opaque) for child in node.children)
    return predicate_holds(node, number, opaque)


def predicate_holds(predicate: Predicate, number: int, opaque: dict[str, dict[int, Truth]]) -> bool:
    row = ROWS[number]
    name, operator = predicate.attribute, predicate.operator
    value = row[name] if name in row else opaque[name][number]
    constants = [value_of(constant) for constant in predicate.constants]
    known = value is not None and None not in constants
    results = {
        "=": lambda: known and value == constants[0],
        "<>": lambda: known and value != constants[0],
        "<": lambda: known and value < constants[0],
        "<=": lambda: known and value <= constants[0],
        ">": lambda: known and value > constants[0],
        ">=": lambda: known and value >= constants[0],
        "<=>": lambda: value == constants[0],
        "not <=>": lambda: value != constants[0],
        "in": lambda: value is not None and value in constants,
        "not in": lambda: known and value not in constants,
        "is null": lambda: value is None,
        "is not null": lambda: value is not None,
        "is true": lambda: value is True,
        "is false": lambda: value is False,
        "is not true": lambda: value is not True,
        "is not false": lambda: value is not False,
    }
    return bool(results[operator]())


def value_of(constant: Constant) -> Any:
    return {"null": lambda: None, "boolean": lambda: constant.text == "true", "integer": lambda: int(constant.text)}[
        constant.kind
    ]()


@settings(max_examples=400, deadline=None)
@given(st.recursive(leaves(), combined, max_leaves=12))
def test_the_tree_is_true_exactly_when_the_condition_is(condition: Condition) -> None:
    tree = parse_rule(condition.sql, policy=Policy(max_xors=1000))
    opaque = Opaque()
    for number in range(len(ROWS)):
        assert holds(tree, number, opaque) == (condition.truth[number] is True), (condition.sql, ROWS[number])


class Opaque(dict[str, dict[int, Truth]]):
    """The truth of an opaque attribute: by its own parse, as true, false or neither."""

    def __missing__(self, sql: str) -> dict[int, Truth]:
        policy = Policy(max_xors=1000)
        if sql == "a < b":
            truth = leaf(sql, null_or(lambda r: r["a"] < r["b"], "a", "b")).truth
        else:
            true, false = parse_rule(sql, policy=policy), parse_rule(f"NOT ({sql})", policy=policy)
            truth = {
                i: True if holds(true, i, self) else False if holds(false, i, self) else None for i in range(len(ROWS))
            }
        self[sql] = truth
        return truth
