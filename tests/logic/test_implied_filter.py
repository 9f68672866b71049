"""A filter is true for every row that a rule matches."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.logic.implied_filter import ImpliedFilter, implied_filter
from sparkrules.logic.relations import covers
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Node, predicates
from tests.logic import small_worlds as world
from tests.logic.test_pruning import share


def found(*rules: Node | str, types: Any = None, **bounds: int) -> ImpliedFilter:
    trees = [parse_rule(rule) if isinstance(rule, str) else rule for rule in rules]
    forest = build_segment(Rule(f"{at:04}", "", tree) for at, tree in enumerate(trees)).forest
    shares = [share(own) for own in forest.all_predicates()]
    return implied_filter(forest, range(len(trees)), shares.__getitem__, types, **bounds)


def sql(*rules: str, **options: Any) -> str:
    return found(*rules, **options).sql


def test_a_wider_predicate_stands_for_narrower_ones() -> None:
    assert sql("price < 7.4 AND lower(a) = 'x'", "price < 20 AND lower(a) = 'y'") == "price < 20"
    assert sql("price <= 7.4", "price < 20", "price = 3", "price IN (5, 6)") == "price < 20"


def test_predicates_of_an_attribute_are_united() -> None:
    assert sql("city = 'Rome'", "city = 'Oslo'", "city IN ('Bern', 'Rome')") == "city IN ('Bern', 'Oslo', 'Rome')"
    assert sql("a > 5 AND isnan(x)", "a = 5 AND isnan(y)", "a < 3 AND isnan(z)") == "a < 3 OR a >= 5"
    assert sql("a BETWEEN 1 AND 3", "a > 2 AND a < 9").startswith("a ")
    assert sql("a <> 1", "a IS NULL") == "a IS NULL OR a <> 1"
    assert sql("b", "NOT b") == "b IS NOT NULL"
    assert sql("a IS NULL", "a IS NOT NULL") == "a IS NULL OR a IS NOT NULL"


def test_an_or_needs_all_its_branches_and_an_and_one() -> None:
    assert sql("a = 1 OR b = 2") == "a = 1 OR b = 2"
    assert sql("length(x) > 1 AND (a = 1 OR a = 2 AND isnan(y))") == "a IN (1, 2)"
    assert sql("(a = 1 OR isnan(x)) AND (b = 1 OR b = 2)") == "b IN (1, 2)"


def test_rules_that_offer_nothing_are_blamed() -> None:
    blamed = found("a = 1", "length(a) = 1", "a = 2 OR b + c > 5", "rlike(a, 'x')")
    assert (blamed.sql, blamed.share, blamed.blamed) == ("TRUE", 1.0, (1, 2, 3))


def test_what_never_matches_needs_no_filter() -> None:
    assert sql("false", "a = NULL") == "FALSE"
    assert sql("false OR b = 1", "a = NULL AND isnan(x)") == "b = 1"
    assert found().sql == "FALSE"


def test_patterns_become_ranges_of_their_prefix() -> None:
    assert sql("s LIKE 'ab%'") == "s LIKE 'ab%'"
    assert sql("s LIKE 'ab%z'") == "s >= 'ab' AND s < 'ac'"
    assert sql("s LIKE '%z'") == "TRUE"


def test_constants_without_a_common_order_stay_apart() -> None:
    text = sql("a > 5", "a > '7'", "d > TIMESTAMP '2024-01-01 00:00:00'", "d > TIMESTAMP '2025-01-01 00:00:00'")
    assert text.split(" OR ") == [
        "a > 5", "a > '7'", "d > TIMESTAMP '2024-01-01 00:00:00'", "d > TIMESTAMP '2025-01-01 00:00:00'",
    ]  # fmt: skip
    assert sql("d > DATE '2024-01-01'", "d > DATE '2023-01-01'") == "d > DATE '2023-01-01'"


def test_what_a_source_would_have_to_cast_is_not_used() -> None:
    schema = pa.schema([("n", pa.string()), ("k", pa.int32())])
    assert sql("n > 5 AND k = 1", types=schema) == "k = 1"
    assert found("n > 5", types=schema).blamed == (0,)
    assert sql("n > 5 AND lower(k) = 'x'") == "n > 5"


def test_moments_that_depend_on_the_query_are_not_used() -> None:
    assert found("d > current_date() - 1").blamed == (0,)
    assert found("d = current_date").blamed == (0,)


def test_names_and_fields_are_written_as_the_rules_do() -> None:
    assert (
        sql("addr.city = 'it''s' AND isnan(x)", "`odd name`.x < 1.50") == r"`odd name`.x < 1.50 OR addr.city = 'it\'s'"
    )


def test_long_lists_are_closed_into_ranges() -> None:
    rules = [f"n = {value}" for value in (*range(100), *range(1000, 1100))]
    text = sql(*rules, values=2)
    assert text == "n BETWEEN 0 AND 99 OR n BETWEEN 1000 AND 1099"
    assert sql(*rules, values=2, disjuncts=1) == "n BETWEEN 0 AND 1099"
    assert sql("a = 1", "b = 1", "c = 1", disjuncts=2) == "TRUE"


def test_many_ranges_that_lie_apart_are_closed_into_few() -> None:
    schema = pa.schema([("n", pa.int32())])
    rules = [f"n IN ({10 * at}, {10 * at + 2}) AND isnan(x)" for at in range(400)]
    rules += [f"n BETWEEN {10 * at} AND {10 * at + 2}" for at in range(400, 800)]
    filter_ = found(*rules, types=schema)
    assert not filter_.blamed
    kept = parse_rule(filter_.sql)
    assert len(list(predicates(kept))) <= 64
    assert all(covers(kept, parse_rule(f"n = {value}")) == "yes" for value in (0, 2, 3990, 4000, 4001, 7992))


def test_the_rarest_predicate_per_rule_is_chosen() -> None:
    trees = [parse_rule(f"common = 1 AND rare{at % 2} = {at}") for at in range(6)]
    forest = build_segment(Rule(str(at), "", tree) for at, tree in enumerate(trees)).forest
    shares = [0.9 if own.attribute == "common" else 0.001 for own in forest.all_predicates()]
    assert implied_filter(forest, range(6), shares.__getitem__).sql == "rare0 IN (0, 2, 4) OR rare1 IN (1, 3, 5)"
    shares = [0.01 if own.attribute == "common" else 0.5 for own in forest.all_predicates()]
    cheap = implied_filter(forest, range(6), shares.__getitem__)
    assert (cheap.sql, cheap.share) == ("common = 1", pytest.approx(0.01))


@settings(max_examples=250, deadline=None)
@given(st.lists(world.trees(world.decided), min_size=1, max_size=6), st.integers(1, 6), st.integers(1, 4))
def test_it_is_true_for_every_row_that_a_rule_matches(trees: list[Node], disjuncts: int, values: int) -> None:
    filter_ = found(*trees, types=world.TYPES, disjuncts=disjuncts, values=values)
    kept = world.true_rows(parse_rule(filter_.sql))
    for number, tree in enumerate(trees):
        assert world.true_rows(tree) <= kept, (str(tree), filter_.sql)
        if number in filter_.blamed:
            assert filter_.sql == "TRUE"
    assert len(filter_.sql.split(" OR ")) <= max(disjuncts, 1)


@settings(max_examples=150, deadline=None)
@given(st.lists(world.trees(world.texts), min_size=1, max_size=4))
def test_so_it_is_for_strings(trees: list[Node]) -> None:
    filter_ = found(*trees)
    kept = world.true_rows(parse_rule(filter_.sql), world.TEXT_ROWS)
    for tree in trees:
        assert world.true_rows(tree, world.TEXT_ROWS) <= kept, (str(tree), filter_.sql)


def test_it_covers_every_auction_rule() -> None:
    from sparkrules.demo.auctions import auction_rules

    texts = [rule.where for rule in auction_rules(300, seed=random.Random(1).randrange(99))]
    text = sql(*texts)
    assert text != "TRUE"
    filter_ = parse_rule(text)
    assert len(list(predicates(filter_))) < 20
    assert all(covers(filter_, parse_rule(rule)) == "yes" for rule in texts[:60])
