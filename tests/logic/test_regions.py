from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkrules.errors import RuleSetError
from sparkrules.logic.attribute_type import Enumeration
from sparkrules.logic.codes import NULL, Codes
from sparkrules.logic.exact_overlap import overlap
from sparkrules.logic.regions import Regions
from sparkrules.logic.string_pattern import following, string_pattern
from sparkrules.logic.value_space import Floating, Grid
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Constant, Predicate, predicates
from tests.index.index_oracle import like, truth
from tests.logic import small_worlds as world

sets = st.sets(st.integers(-2, 12))


def codes(of: set[int]) -> Codes:
    return Codes.of(*((code, code) for code in of))


@given(sets, sets)
def test_sets_of_codes_are_sets(a: set[int], b: set[int]) -> None:
    assert set(codes(a) & codes(b)) == a & b
    assert set(codes(a) | codes(b)) == a | b
    assert set(codes(a) - codes(b)) == a - b
    assert (codes(a) <= codes(b)) == (a <= b)
    assert (codes(a) == codes(b)) == (a == b)
    assert len(codes(a)) == len(a)


@given(st.lists(world.decided, min_size=1, max_size=8))
def test_a_decided_predicate_is_true_exactly_in_its_codes(tests: list[Predicate]) -> None:
    regions = Regions(tests, world.TYPES)
    for predicate in tests:
        leaf, own = regions.extent(predicate), regions.attributes[predicate.attribute]
        assert leaf.sure == leaf.possible
        for value in world.VALUES[predicate.attribute]:
            code = NULL if value is None else own.encode(value)
            assert code in own.inhabited
            assert (truth(predicate, value) is True) == (code in leaf.sure), (predicate, value)
            assert (truth(predicate, value) is not True) == (code in leaf.complement().sure), (predicate, value)


@given(st.lists(world.texts, min_size=1, max_size=6), world.texts)
def test_a_predicate_is_true_where_it_is_sure_and_never_where_it_is_not_possible(
    tests: list[Predicate], other: Predicate
) -> None:
    regions = Regions(tests)
    for predicate in [*tests, *([other] if other.attribute in regions.attributes else [])]:
        leaf, own = regions.extent(predicate), regions.attributes[predicate.attribute]
        for value in world.TEXTS if predicate.attribute == "t" else world.VALUES["b"]:
            code = NULL if value is None else own.encode(value)
            is_true = truth(predicate, value) is True
            assert code in own.universe
            assert is_true or code not in leaf.sure, (predicate, value)
            assert not is_true or code in leaf.possible, (predicate, value)


@given(st.lists(world.decided, min_size=1, max_size=4), world.decided)
def test_constants_that_were_not_cut_at_are_never_wrongly_excluded(tests: list[Predicate], other: Predicate) -> None:
    regions = Regions(tests, world.TYPES)
    if other.attribute not in regions.attributes:
        return
    leaf, own = regions.extent(other), regions.attributes[other.attribute]
    for value in world.VALUES[other.attribute]:
        code = NULL if value is None else own.encode(value)
        assert truth(other, value) is not True or code in leaf.possible
        assert truth(other, value) is True or code not in leaf.sure


@given(st.text("ab%_", max_size=4), st.text("ab", max_size=4), st.text("ab%_", max_size=4))
def test_patterns_match_imply_and_exclude_as_strings_do(pattern: str, text: str, other: str) -> None:
    one, two = string_pattern("like", pattern), string_pattern("like", other)
    assert (one is None) == ("_" in pattern)
    if one is None or two is None:
        return
    assert one.matches(text) == like(text, pattern)
    assert not one.implies(two) or not like(text, pattern) or like(text, other)
    assert not one.excludes(two) or not (like(text, pattern) and like(text, other))
    assert one.implies(one)


@pytest.mark.parametrize("prefix", ["a", "ab", "a\x7f", "\ud7ff", "a\U0010ffff", "é"])
def test_the_string_after_a_prefix_is_beyond_all_with_it(prefix: str) -> None:
    end = following(prefix)
    assert end is not None
    for more in ("", "\0", "z", "\U0010ffff" * 3):
        assert prefix <= prefix + more < end
    assert not end.startswith(prefix)
    assert following("\U0010ffff") is None


@pytest.mark.parametrize(
    ("a", "b", "declared", "overlaps"),
    [
        ("a > 5", "a < 6", None, True),
        ("a > 5", "a < 6", pa.int32(), False),
        ("a > 5", "a < 6", pa.int64(), False),
        ("a > 5", "a < 6", pa.decimal128(5, 0), False),
        ("a > 5", "a < 6", pa.decimal128(5, 1), True),
        ("a > 5.1", "a < 5.2", pa.decimal128(5, 1), False),
        ("a > 5", "a < 6", pa.float64(), True),
        ("a > 127", "a > 0", pa.int8(), False),
        ("a >= 127", "a > 0", pa.int8(), True),
        ("a = 2.5", "a > 0", pa.int32(), False),
        ("a = 2.5", "a > 0", None, True),
        ("a > 9.99", "a > 0", pa.decimal128(3, 2), False),
        ("a = 0.1", "a > 0", pa.float32(), False),
        ("a = 0.5", "a > 0", pa.float32(), True),
        ("a > 1e308", "a > 1e307", pa.float64(), True),
        ("a > DATE '2024-01-01'", "a < DATE '2024-01-02'", None, True),
        ("a > DATE '2024-01-01'", "a < DATE '2024-01-02'", pa.date32(), False),
        ("a > DATE '2024-01-01'", "a < DATE '2023-01-02'", None, False),
        ("a > 'x'", "a < 'x\\u0000'", None, False),
        ("a < ''", "a <> 'x'", None, False),
        ("a = true", "a = false", None, False),
        ("a > false", "a < true", None, False),
        ("a IS TRUE", "a IS NULL", None, False),
        ("a IS NOT TRUE", "a IS NULL", None, True),
        ("a IS NULL", "a IS NOT NULL", None, False),
        ("a <=> NULL", "a = 3", None, False),
        ("NOT a <=> 3", "a IS NULL", None, True),
        ("a <> 3", "a IS NULL", None, False),
        ("a NOT IN (1, NULL)", "a = 2", None, False),
        ("a IN (1, NULL)", "a = 1", None, True),
        ("a = NULL", "a IS NULL", None, False),
        ("a = '5'", "a = '6'", None, False),
        # Strings that may be numbers, dates or Booleans, if the column is one.
        ("a > '5'", "a < '10'", None, True),
        ("a > '5'", "a < '10'", pa.string(), False),
        ("a = '5'", "a = '5.0'", None, True),
        ("a = ' 5'", "a = '5'", None, True),
        ("a = 'nan'", "a = 'NaN'", None, True),
        ("a = 'true'", "a = 'T'", None, True),
        ("a = 'true'", "a = '1'", None, True),
        ("a = 'true'", "a = 'false'", None, False),
        ("a > '2024-01-05'", "a < '2024-01-01'", None, False),
        ("a > '2024-1-5'", "a < '2024-01-10'", None, True),
        ("a = '2024-1-5'", "a = '2024-01-05'", None, True),
        ("a = '2024-01-05 00:00:00'", "a = '2024-01-05'", None, True),
        ("a = '127.0.0.1'", "a = '127.0.0.2'", None, False),
        ("a > 'x'", "a < 'w'", None, False),
        ("lower(a) > '5'", "lower(a) < '10'", None, False),
        # Number and string: which cast Spark makes depends on the column.
        ("a = '5'", "a = 6", None, True),
        ("a = '5' AND a = 7", "a = 6", None, True),
        ("a > 5", "a LIKE '3%'", None, True),
        ("a = '5'", "a = '6'", pa.int32(), True),
        ("a = '5'", "a <> '5'", pa.int32(), False),
        # The same double, and different bigints.
        ("a = 9007199254740993", "a = 9007199254740992", None, True),
        ("a = 9007199254740993", "a = 9007199254740992", pa.int64(), False),
        ("a > 9007199254740992", "a <= 9007199254740992e0", pa.int64(), True),
        ("a > 0.1", "a <= 1e-1", None, True),
        ("a > 0.1", "a <= 1e-1", pa.float64(), False),
        ("a < 4e0", "a > 5", pa.int64(), False),
        ("a = -0e0", "a = 0e0", None, True),
        ("a LIKE 'abc%'", "a LIKE 'abd%'", None, False),
        ("a LIKE 'abc%'", "a LIKE 'ab%'", None, True),
        ("a LIKE 'abc%'", "a = 'abd'", None, False),
        ("a LIKE 'abc%x'", "a > 'abd'", None, False),
        ("a LIKE '%x'", "a = 'abc'", None, False),
        ("a LIKE '%c'", "a = 'abc'", None, True),
        ("contains(a, 'x')", "a = 'abc'", None, False),
        ("contains(a, 'x')", "NOT contains(a, 'x')", None, False),
        ("contains(a, 'xyz')", "NOT contains(a, 'y')", None, False),
        ("contains(a, 'y')", "NOT contains(a, 'xyz')", None, True),
        ("endswith(a, 'x')", "endswith(a, 'y')", None, False),
        ("startswith(a, 'xy')", "NOT contains(a, 'y')", None, False),
        ("contains(a, 'x')", "a IS NULL", None, False),
        ("a RLIKE 'x+'", "a NOT RLIKE 'x+'", None, False),
        ("a RLIKE 'x+'", "a = 'b'", None, True),
        ("lower(a) = lower('ABC')", "lower(a) = 'abd'", None, False),
        ("b + c > d", "NOT b + c > d", None, False),
        ("a < lower('É')", "a >= lower('É')", None, False),
        ("a < lower('É')", "a > lower('Ö')", None, True),
        ("a <> 'new'", "a <> 'used'", Enumeration("new", "used"), False),
        ("a <> 'new'", "a <> 'used'", Enumeration("new", "used", "old"), True),
        ("a > 1", "a < 3", Enumeration(1, 3, 5), False),
        ("a IS NULL", "true", Enumeration(1, nullable=False), False),
        ("a IS NULL", "true", None, True),
        ("false", "true", None, False),
    ],
)
def test_whether_two_conditions_overlap(a: str, b: str, declared: Any, overlaps: bool) -> None:
    types = {"a": declared} if declared is not None else None
    for first, second in ((a, b), (b, a)):
        assert overlap(parse_rule(first), parse_rule(second), types).overlaps == overlaps


def test_a_schema_gives_types_and_says_what_is_never_null() -> None:
    schema = pa.schema([pa.field("A", pa.int32(), nullable=False), ("s", pa.struct([("x", pa.int8())]))])
    assert not overlap(parse_rule("a IS NULL"), parse_rule("true"), schema)
    assert not overlap(parse_rule("a > 1"), parse_rule("a < 2"), schema)
    assert not overlap(parse_rule("s.x > 200"), parse_rule("true"), schema)
    assert overlap(parse_rule("s.x IS NULL"), parse_rule("true"), schema)


def test_attributes_that_depend_on_each_other_give_no_certainty() -> None:
    for a, b in (("lower(x) = 'a'", "x = 'B'"), ("s IS NULL", "s.x = 1"), ("x = 1", "X = 2")):
        found = overlap(parse_rule(a), parse_rule(b))
        assert found.overlaps
        assert not found.certain


def test_an_enumeration_has_values_of_one_kind() -> None:
    with pytest.raises(RuleSetError, match="one kind"):
        Enumeration(1, "one")


@pytest.mark.parametrize("low", [None, Decimal("-0.3"), Decimal("0.25"), Decimal(7)])
@pytest.mark.parametrize("high", [None, Decimal("0.3"), Decimal(8), Decimal("9.9")])
@pytest.mark.parametrize(
    "space", [Grid(Decimal("0.1"), Decimal(-5), Decimal(9)), Grid(Decimal(1)), Floating(), Floating(narrow=True)]
)
def test_a_sample_lies_where_it_was_asked_for(space: Any, low: Any, high: Any) -> None:
    if isinstance(space, Floating):
        low, high = (None if bound is None else float(bound) for bound in (low, high))
    if low is not None and high is not None and low >= high:
        return
    if space.between(low, high):
        value = space.sample(low, high)
        assert low is None or math.isnan(value) or value > low
        assert high is None or value < high
        assert space.at(value)


def test_all_operators_of_the_tree_have_codes() -> None:
    text = (
        "a = 1 AND a <> 1 AND a < 1 AND a <= 1 AND a > 1 AND a >= 1 AND a <=> 1 AND NOT a <=> 1 AND a IN (1) AND "
        "a NOT IN (1) AND a IS NULL AND a IS NOT NULL AND b IS TRUE AND b IS FALSE AND b IS NOT TRUE AND "
        "b IS NOT FALSE AND c LIKE 'x' AND c NOT LIKE 'x' AND c ILIKE 'x' AND c NOT ILIKE 'x' AND c RLIKE 'x' AND "
        "c NOT RLIKE 'x' AND contains(c, 'x') AND NOT contains(c, 'x') AND startswith(c, 'x') AND "
        "NOT startswith(c, 'x') AND endswith(c, 'x') AND NOT endswith(c, 'x') AND cidr_contains('10.0.0.0/8', c) AND "
        "NOT cidr_contains('10.0.0.0/8', c) AND in_list('l', c) AND NOT in_list('l', c)"
    )
    found = list(predicates(parse_rule(text)))
    from sparkrules.sql.tree import OPERATORS

    assert {predicate.operator for predicate in found} == set(OPERATORS)
    regions = Regions(found)
    for predicate in found:
        leaf = regions.extent(predicate)
        assert leaf.sure <= leaf.possible
        assert leaf.possible


def test_constants_of_any_sql_are_compared_by_their_text_only() -> None:
    now = Predicate("at", ">", (Constant("sql", "current_date()"),))
    assert Regions([now]).extent(now).atom is not None
