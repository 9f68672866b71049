"""`at_least`, `at_most`, `exactly`, `matched`, `sum`, `avg`, `min` and `max`: trees, Spark SQL, bounds and errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from sparkrules.sql import Node, Policy, Predicate, RuleError, called_functions, parse_rule, spark_sql
from sparkrules.sql.row_functions import ROW_FUNCTIONS
from sparkrules.sql.template import lift, make_template
from sparkrules.sql.threshold import most_nodes
from sparkrules.sql.tree import distinct_predicates

Truth = bool | None


def junctions(tree: Node) -> list[Node]:
    found: dict[int, Node] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, Predicate) and id(node) not in found:
            found[id(node)] = node
            stack.extend(node.children)
    return list(found.values())


def holds(tree: Node, truths: dict[str, Truth]) -> bool:
    """The truth of a tree over Boolean columns."""
    known: dict[int, bool] = {}

    def evaluated(node: Node) -> bool:
        if id(node) not in known:
            if isinstance(node, Predicate):
                known[id(node)] = truths[node.attribute] is (node.operator == "is true")
            else:
                known[id(node)] = (all if node.operator == "and" else any)([evaluated(own) for own in node.children])
        return known[id(node)]

    return evaluated(tree)


def counted(name: str, number: int, truths: list[Truth]) -> Truth:
    """By definition: what holds however the unknown ones turn out, fails however they do, or neither."""
    ways = itertools.product(*([truth] if truth is not None else [True, False] for truth in truths))
    compared: dict[str, Callable[[int], bool]] = {
        "at_least": lambda count: count >= number,
        "at_most": lambda count: count <= number,
        "exactly": lambda count: count == number,
    }
    found = {compared[name](sum(way)) for way in ways}
    return found.pop() if len(found) == 1 else None


@pytest.mark.parametrize("size", range(1, 7))
@pytest.mark.parametrize("name", ["at_least", "at_most", "exactly"])
def test_a_count_is_what_it_is_however_unknown_conditions_turn_out(name: str, size: int) -> None:
    columns = [f"c{i}" for i in range(size)]
    for number in range(0 if name != "at_least" else 1, size + (name != "at_most")):
        text = f"{name}({number}, {', '.join(columns)})"
        tree, negated = parse_rule(text), parse_rule(f"NOT {text}")
        for truths in itertools.product([True, False, None], repeat=size):
            expected = counted(name, number, list(truths))
            row = dict(zip(columns, truths, strict=True))
            assert holds(tree, row) == (expected is True), (text, row)
            assert holds(negated, row) == (expected is False), (text, row)


@pytest.mark.parametrize(("needed", "size"), [(2, 100), (10, 20), (50, 100), (97, 100), (2, 1000), (60, 64)])
def test_a_count_needs_few_nodes_and_is_flat(needed: int, size: int) -> None:
    tree = parse_rule(f"at_least({needed}, {', '.join(f'c{i}' for i in range(size))})")
    found = junctions(tree)
    assert len(distinct_predicates(tree)) == size
    assert len(found) <= most_nodes(needed, size) <= 2 * size * needed
    depth: dict[int, int] = {}

    def depth_of(node: Node) -> int:
        if isinstance(node, Predicate):
            return 0
        if id(node) not in depth:
            depth[id(node)] = 1 + max(map(depth_of, node.children))
        return depth[id(node)]

    assert depth_of(tree) <= 3 * size.bit_length()


def test_the_policy_bounds_the_nodes_of_all_counts_of_a_rule_together() -> None:
    columns = ", ".join(f"c{i}" for i in range(20))
    one = f"at_least(3, {columns})"
    assert parse_rule(one, policy=Policy(max_count_nodes=most_nodes(3, 20)))
    with pytest.raises(RuleError, match="at_least of 20 conditions needs more than 200 nodes") as raised:
        parse_rule(f"{one} AND {one}", policy=Policy(max_count_nodes=200))
    assert (raised.value.column, "max_count_nodes" in raised.value.remedy) == (len(one) + 6, True)
    # Of which an OR is one.
    many = ", ".join(f"c{i}" for i in range(5_000))
    assert len(junctions(parse_rule(f"at_least(1, {many}) AND at_most(0, {many}) AND exactly(5000, {many})"))) <= 3


def test_nested_counts_stay_small() -> None:
    text = "at_least(2, a, b, c)"
    for depth in range(30):
        text = f"exactly(2, {text}, x{depth}, NOT y{depth})"
    assert len(junctions(parse_rule(text))) < 1000
    assert len(spark_sql(text)) < 30 * 400


def test_types_may_have_commas() -> None:
    text = "at_least(1, a::map<int, int> IS NULL, CAST(b AS struct<x: int, y: int>).x > 1)"
    assert [own.attribute for own in distinct_predicates(parse_rule(text))] == [
        "a :: map < int, int >",
        "CAST(b AS struct < x : int, y : int >).x",
    ]
    assert "array(a :: map" in spark_sql(text)


class TestValues:
    @pytest.mark.parametrize(
        ("text", "tree"),
        [
            ("matched(a >= 200) + matched(b >= 100) <= 1000", "a >= 200 and b >= 100 and a + b <= 1000"),
            ("1000 >= matched(a >= 200) + matched(b >= 100)", "a >= 200 and b >= 100 and a + b <= 1000"),
            ("NOT matched(a >= 200) * 2 <= 1000", "a >= 200 and a * 2 > 1000"),
            ("sum(matched(a >= 2), b, c - 1) < 5", "a >= 2 and a + b + (c - 1) < 5"),
            ("avg(matched(a > 1), matched(b > 2)) <= 10", "a > 1 and b > 2 and (a + b) / 2 <= 10"),
            ("min(matched(a > 1), matched(b > 2)) <= 10", "a > 1 and b > 2 and least(a, b) <= 10"),
            ("max(a, matched(b > 2)) <= 10", "a is not null and b > 2 and greatest(a, b) <= 10"),
            (
                "max(matched(a <=> 1), 2) IN (1, 2)",
                "a <=> 1 and a is not null and greatest(a, 2) in (1, 2)",
            ),
            (
                "min(min(a, b), c) = 1",
                "a is not null and b is not null and c is not null and least(least(a, b), c) = 1",
            ),
            ("matched(a BETWEEN 1 AND 5) = 3", "a >= 1 and a <= 5 and a = 3"),
            ("matched(a > 1 AND a <> 5) BETWEEN 2 AND 9", "a > 1 and a <> 5 and a >= 2 and a <= 9"),
            ("matched(a < 0 OR a > 9) = 10", "(a < 0 or a > 9) and a = 10"),
            ("matched(`odd name`.x + 1 > 1) * 2 = 4", "`odd name`.x + 1 > 1 and (`odd name`.x + 1) * 2 = 4"),
            ("abs(matched(a > 1) - matched(b > 1)) < 3", "a > 1 and b > 1 and abs(a - b) < 3"),
            ("matched(s LIKE 'x%') LIKE '%y'", "s like 'x%' and s like '%y'"),
            # Where NULL is not passed on, nothing may be tested first.
            ("coalesce(matched(a > 1), 0) < 5", "coalesce((CASE WHEN a > 1 THEN a END), 0) < 5"),
            ("matched(a > 1) IS NULL", "(CASE WHEN a > 1 THEN a END) is null"),
            ("matched(a > 1) <=> 5", "(CASE WHEN a > 1 THEN a END) <=> 5"),
            ("sum(a, b) = 5", "a + b = 5"),
        ],
    )
    def test_gates_come_first_and_the_attribute_is_plain(self, text: str, tree: str) -> None:
        assert str(parse_rule(text)) == tree

    def test_rules_with_other_gates_share_the_attribute(self) -> None:
        texts = ["matched(a > 1) + matched(b > 2) < 9", "matched(a > 5) + matched(b > 7) > 8", "a + b = 3"]
        attributes = {p.attribute for text in texts for p in distinct_predicates(parse_rule(text))}
        assert attributes == {"a", "b", "a + b"}

    def test_spark_is_asked_only_for_functions_that_it_has(self) -> None:
        texts = ["coalesce(matched(a > 1), 0) < 5", "at_least(1, a, b) IS NULL", "min(a, b) IS NULL", "max(a, b) > 2"]
        texts += ["lower(matched(s = 'X')) = 'x'"]
        called = [called_functions(parse_rule(text)) for text in texts]
        assert not any(own & ROW_FUNCTIONS for own in called), called
        assert called[-2:] == [{"greatest"}, {"lower"}]


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("at_least()", 10, "at_least needs a whole number first"),
        ("at_least(a > 1, b > 2)", 10, "at_least needs a whole number first"),
        ("at_least(1.5, a > 1)", 10, "at_least needs a whole number first"),
        ("at_least(-1, a > 1)", 10, "at_least needs a whole number first"),
        ("at_least(2L, a > 1, b > 1)", 10, "at_least needs a whole number first"),
        ("at_most(n, a > 1)", 9, "at_most needs a whole number first"),
        ("exactly(2)", 10, "exactly without conditions"),
        ("at_least(0, a > 1)", 10, "at_least(0, ...) of 1 condition is true for every row"),
        ("at_least(3, a > 1, b)", 10, "at_least(3, ...) of 2 conditions is never true"),
        ("at_most(2, a > 1, b)", 9, "at_most(2, ...) of 2 conditions is true for every row"),
        ("exactly(3, a > 1, b)", 9, "exactly(3, ...) of 2 conditions is never true"),
        ("x AND matched(a > 1)", 7, "matched(...) is a value, not a condition"),
        ("NOT sum(a, b)", 5, "sum(...) is a value, not a condition"),
        ("matched(a > b) > 1", 9, "matched needs a predicate"),
        ("matched(TRUE) = 1", 9, "matched needs a predicate"),
        ("matched(a > 1 OR b > 1) > 1", 9, "matched needs predicates of one attribute"),
        ("matched() > 1", 9, "matched needs one condition"),
        ("matched(a > 1, 5) > 1", 16, "matched needs one condition"),
        ("matched(at_least(1, a > 1)) > 1", 9, "a row function inside matched"),
        ("sum(a > 1, b > 2) > 1", 5, "sum of a condition"),
        ("sum(a) > 1", 1, "this function is not allowed in a rule"),
        ("max(DISTINCT a, b) > 1", 5, "aggregates are not allowed"),
        ("at_least(1, SELECT a)", 13, "subqueries and statements are not allowed"),
        ("at_least(1, from COLLATE x)", 13, "subqueries and statements are not allowed"),
        ("at_least(1, a, rand() > 1)", 16, "this function is not allowed in a rule"),
        ("min(a, b) OVER (ORDER BY c) > 1", 11, "aggregates and windows are not allowed"),
    ],
)
def test_bad_use_says_where_and_why(text: str, column: int, reason: str) -> None:
    with pytest.raises(RuleError) as raised:
        parse_rule(text)
    assert (raised.value.column, raised.value.reason) == (column, reason)
    assert raised.value.remedy


class TestAFunctionOfTheSameName:
    def test_it_is_called_in_backticks(self) -> None:
        policy = Policy(extra_functions={"at_least", "matched"})
        assert str(parse_rule("`at_least`(a, 1) > 2", policy=policy)) == "`at_least`(a, 1) > 2"
        with pytest.raises(RuleError, match="not allowed"):
            parse_rule("`at_least`(a, 1) > 2")

    def test_a_policy_that_has_it_means_it(self) -> None:
        policy = Policy(extra_functions={"at_least", "matched"})
        tree = parse_rule("at_least(a, 1) > 2 AND matched(a > b) = 5", policy=policy)
        assert str(tree) == "at_least(a, 1) > 2 and matched(a > b) = 5"
        assert called_functions(tree) == {"at_least", "matched"}
        assert spark_sql("at_least(a, 1) > 2", policy=policy) == "at_least(a, 1) > 2"

    def test_a_policy_may_deny_ours(self) -> None:
        with pytest.raises(RuleError, match="not allowed"):
            parse_rule("at_least(1, a, b)", policy=Policy(denied_functions={"AT_LEAST"}))

    def test_columns_may_have_these_names(self) -> None:
        assert str(parse_rule("exactly > 1 AND sum = 2 AND matched")) == "exactly > 1 and sum = 2 and matched is true"


def test_rules_that_differ_in_constants_share_a_template() -> None:
    text = "at_least(2, a > 5, b = 'x', matched(c > 1.5) + d < 7) AND coalesce(matched(e > 3), 4) < 8"
    skeleton, literals = lift(text)
    template = make_template(skeleton, literals, Policy())
    assert template is not None
    assert template.pinned == (0, 5, 6)
    other = ["2", "50", "'it''s'", "2.25", "70", "3", "4", "80"]
    filled = "at_least(2, a > 50, b = 'it''s', matched(c > 2.25) + d < 70) AND coalesce(matched(e > 3), 4) < 80"
    assert template.sql_of(other) == spark_sql(filled)
    assert str(template.tree_of(other)) == str(parse_rule(filled))
