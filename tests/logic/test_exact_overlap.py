from __future__ import annotations

from hypothesis import given, settings

from sparkrules.logic.exact_overlap import overlap
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Node
from tests.index.index_oracle import is_true
from tests.logic import small_worlds as world


@settings(max_examples=150, deadline=None)
@given(world.trees(world.decided), world.trees(world.decided))
def test_it_is_what_brute_force_finds_in_a_finite_world(a: Node, b: Node) -> None:
    found = overlap(a, b, world.TYPES)
    assert found.certain
    assert found.overlaps == bool(world.true_rows(a) & world.true_rows(b))
    if found.overlaps:
        row = dict.fromkeys(world.VALUES) | dict(found.row)
        assert is_true(a, row)
        assert is_true(b, row)


@settings(max_examples=150, deadline=None)
@given(world.trees(world.texts), world.trees(world.texts))
def test_it_never_denies_an_overlap_of_texts(a: Node, b: Node) -> None:
    found = overlap(a, b)
    rows = world.TEXT_ROWS
    assert found.overlaps or not (world.true_rows(a, rows) & world.true_rows(b, rows))
    if found.overlaps and found.certain:
        row = {"t": None, "b": None} | dict(found.row)
        assert is_true(a, row)
        assert is_true(b, row)


@settings(deadline=None)
@given(world.trees(world.decided), world.trees(world.decided))
def test_a_search_that_is_given_up_says_perhaps(a: Node, b: Node) -> None:
    found = overlap(a, b, world.TYPES, limit=1)
    if found.is_exhausted:
        assert found.overlaps
        assert not found.certain
    else:
        assert found.overlaps == overlap(a, b, world.TYPES).overlaps


def test_many_alternatives_are_decided_quickly_where_attributes_decide_them() -> None:
    a = parse_rule(" AND ".join(f"(x{i} = 1 OR x{i} = 2 OR y{i} = 1)" for i in range(100)))
    b = parse_rule(" AND ".join(f"x{i} > 5" for i in range(100)))
    assert overlap(a, b).certain
    assert not overlap(a, parse_rule("x7 = 3 AND y7 = 3"))


def test_a_hard_one_is_given_up() -> None:
    # Ten pigeons, nine holes: no row, and nothing shows it but trying.
    each = " AND ".join("(" + " OR ".join(f"b{p}_{h}" for h in range(9)) + ")" for p in range(10))
    apart = " AND ".join(f"(NOT b{p}_{h} OR NOT b{q}_{h})" for h in range(9) for p in range(10) for q in range(p))
    found = overlap(parse_rule(each), parse_rule(apart), limit=200)
    assert found.overlaps
    assert found.is_exhausted
    assert repr(found) == "Overlap(perhaps, given up)"
