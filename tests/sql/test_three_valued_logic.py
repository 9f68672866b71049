"""Random conditions, printed as SQL and parsed, are true for exactly the rows where SQL's logic says so.

The oracle evaluates the condition itself in three-valued logic. The tree is evaluated with only true and not true, as
in the kernel.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from sparkrules.sql import Constant, Node, Policy, Predicate, RuleError, parse_rule, spark_sql

Row = dict[str, Any]
Truth = bool | None

NUMBERS = ("a", "b")
FLAGS = ("p", "q")
ROWS: list[Row] = [
    dict(zip(NUMBERS + FLAGS, values, strict=True))
    for values in itertools.product([None, 1, 2, 3], [None, 1, 2], [None, True, False], [None, True, False])
]


POLICY = Policy(max_xors=1000)

# What is opaque to the parser is looked up by its text.
TRUTH: dict[str, dict[int, Truth]] = {}


@dataclass
class Condition:
    """A condition as SQL, with the oracle's answer for each row."""

    sql: str
    truth: dict[int, Truth] = field(repr=False)

    def __post_init__(self) -> None:
        TRUTH[self.sql.replace(" ", "")] = self.truth
        with suppress(RuleError):  # it may be too deep, or have an XOR in a value
            TRUTH[spark_sql(self.sql, policy=POLICY).replace(" ", "")] = self.truth


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


BINARY: dict[str, Any] = {
    "AND": both,
    "OR": either,
    "XOR": exclusive,
    "<>": exclusive,
    "=": lambda x, y: negation(exclusive(x, y)),
}


def binary(word: str, left: Condition, right: Condition) -> Condition:
    operation = BINARY[word]
    truth = {i: operation(left.truth[i], right.truth[i]) for i in range(len(ROWS))}
    return Condition(f"({left.sql}) {word} ({right.sql})", truth)


def negated(condition: Condition) -> Condition:
    return Condition(f"NOT ({condition.sql})", {i: negation(truth) for i, truth in condition.truth.items()})


def known(condition: Condition) -> Condition:
    """IS NOT TRUE makes a value of it, which goes to Spark as it is written, so it cannot have our XOR in it."""
    sql = Condition(condition.sql.replace(") XOR (", ") <> ("), condition.truth).sql
    return Condition(f"({sql}) IS NOT TRUE", {i: truth is not True for i, truth in condition.truth.items()})


def counted(name: str, number: int, parts: list[Condition]) -> Condition:
    """At least or at most so many: however those that are unknown turn out, or not."""
    size = len(parts)
    number = number % size + (name == "at_least")
    truth: dict[int, Truth] = {}
    for i in range(len(ROWS)):
        truths = [part.truth[i] for part in parts]
        least, most = truths.count(True), size - truths.count(False)
        enough = True if least >= number else False if most < number else None
        too_many = True if least > number else False if most <= number else None
        truth[i] = enough if name == "at_least" else negation(too_many)
        truth[i] = both(enough, negation(too_many)) if name == "exactly" else truth[i]
    return Condition(f"{name}({number}, {', '.join(part.sql for part in parts)})", truth)


def combined(children: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.one_of(
        st.builds(binary, st.sampled_from(sorted(BINARY)), children, children),
        st.builds(negated, children),
        st.builds(
            counted,
            st.sampled_from(["at_least", "at_most", "exactly"]),
            st.integers(0, 3),
            st.lists(children, min_size=1, max_size=4),
        ),
        st.builds(known, children),
    )


def holds(node: Node, number: int) -> bool:
    """Whether a node is true for a row; each node once, for below XORs a tree is a graph."""
    known: dict[int, bool] = {}

    def evaluated(node: Node) -> bool:
        if id(node) not in known:
            if isinstance(node, Predicate):
                known[id(node)] = predicate_holds(node, number)
            else:
                known[id(node)] = (all if node.operator == "and" else any)(map(evaluated, node.children))
        return known[id(node)]

    return evaluated(node)


def predicate_holds(predicate: Predicate, number: int) -> bool:
    row = ROWS[number]
    name, operator = predicate.attribute, predicate.operator
    value = row[name] if name in row else TRUTH[name.replace(" ", "")][number]
    constants = [value_of(constant, number) for constant in predicate.constants]
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


def value_of(constant: Constant, number: int) -> Any:
    if constant.kind == "sql":  # a condition without a column, as it is written
        return TRUTH[constant.text.replace(" ", "")][number]
    return {"null": lambda: None, "boolean": lambda: constant.text == "true", "integer": lambda: int(constant.text)}[
        constant.kind
    ]()


@settings(max_examples=80, deadline=None)
@given(st.recursive(leaves(), combined, max_leaves=12))
def test_the_tree_is_true_exactly_when_the_condition_is(condition: Condition) -> None:
    try:
        tree = parse_rule(condition.sql, policy=POLICY)
    except RuleError as error:
        # Spark would have to evaluate `(NULL) <> (a XOR b)` as a value, and has no XOR.
        if error.reason == "XOR inside a value":
            reject()
        raise
    for number in range(len(ROWS)):
        assert holds(tree, number) == (condition.truth[number] is True), (condition.sql, ROWS[number])
