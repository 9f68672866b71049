from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Node, Predicate
from tests.index.index_oracle import truth
from tests.logic import small_worlds as world

# Figure 1 of the paper: p1 to p6 and n1 to n5 in the order of the texts.
S1 = (
    "contains(title, 'Harry Potter') AND ending < 24 AND "
    "(condition = 'new' AND price < 25 OR price < 15 AND condition = 'used')"
)
N6, N7 = "condition = 'new' AND price > 20", "price > 7.5 AND condition = 'used'"
A1 = f"ending < 168 AND ({N6} OR {N7})"
P3, P4, P5, P6 = "condition = 'new'", "price < 25", "price < 15", "condition = 'used'"
N1, N2, N3, N4, N5 = "ending < 168", "condition = 'new'", "price > 20", "price > 7.5", "condition = 'used'"


def rule(id: str, text: str) -> Rule:
    return Rule(id, text, parse_rule(text))


def index_of(*texts: str, **options: int) -> OverlapIndex:
    return OverlapIndex(build_segment(rule(str(n), text) for n, text in enumerate(texts)), **options)


def leaf(text: str) -> Predicate:
    found = parse_rule(text)
    assert isinstance(found, Predicate)
    return found


class TestThePapersExample:
    """Examples 1 to 3."""

    index = index_of(S1)

    def violating(self, text: str) -> set[str]:
        mask = self.index.violating(leaf(text))
        return {
            str(p)
            for p, is_violating in zip(self.index.segment.forest.all_predicates(), mask, strict=True)
            if is_violating
        }

    def sets(self, text: str) -> list[set[str]]:
        found = self.index.violating_sets(parse_rule(text))
        listed = list(self.index.segment.forest.all_predicates())
        return [{str(listed[i]) for i in mask.nonzero()[0]} for mask in found.sets]

    def test_example_1_leaves(self) -> None:
        assert self.violating(N1) == set()
        assert self.violating(N2) == {P6}
        assert self.violating(N3) == {P5}
        assert self.violating(N4) == set()
        assert self.violating(N5) == {P3}

    def test_example_2_inner_nodes(self) -> None:
        assert self.sets(N1) == [set()]
        assert self.sets(N6) == [{P5, P6}]
        assert self.sets(N7) == [{P3}]
        assert self.sets(f"{N6} OR {N7}") == [{P3}, {P5, P6}]  # n8
        assert self.sets(A1) == [{P3}, {P5, P6}]  # n9

    def test_example_3_candidates(self) -> None:
        assert self.index.predicate_count.tolist() == [6]
        assert self.index.minimum_count.tolist() == [4]
        for violating in self.index.violating_sets(parse_rule(A1)).sets:
            assert self.index.candidates(violating).tolist() == [0]
        assert self.index.all(parse_rule(A1)) == ["0"]
        assert self.index.first(parse_rule(A1)) == "0"

    def test_the_other_direction(self) -> None:
        advertisements = index_of(A1)
        assert advertisements.all(parse_rule(S1)) == ["0"]
        assert advertisements.all(parse_rule(f"{P3} AND price < 20")) == []


@pytest.mark.parametrize("o", [2, 3, 4])
@pytest.mark.parametrize("f_i", ["=", "<>", ">", "<", ">=", "<="])
@pytest.mark.parametrize("f_j", ["=", "<>", ">", "<", ">=", "<="])
def test_table_1_follows_the_definition(f_i: str, f_j: str, o: int) -> None:
    """Including where the paper's table does not: EQUALS o violates `> o`, and `<> o` violates no `<> p`."""
    segment = build_segment(rule(str(c), f"i {f_j} {c}") for c in range(6))
    index = OverlapIndex(segment, world.TYPES)
    asked = leaf(f"i {f_i} {o}")
    for registered, is_violating in zip(segment.forest.all_predicates(), index.violating(asked), strict=True):
        both = [v for v in range(-3, 10) if truth(asked, v) and truth(registered, v)]
        assert is_violating == (not both), (str(asked), str(registered))


@settings(max_examples=100, deadline=None)
@given(st.lists(world.trees(world.decided), min_size=1, max_size=5), world.trees(world.decided), st.integers(1, 4))
def test_an_overlap_is_never_missed(registered: list[Node], asked: Node, max_sets: int) -> None:
    rules = [Rule(str(number), "", tree) for number, tree in enumerate(registered)]
    wanted = world.true_rows(asked)
    overlapping = [rule.id for rule in rules if world.true_rows(rule.tree) & wanted]
    for limit in (max_sets, 64):
        index = OverlapIndex(build_segment(rules), world.TYPES, max_sets=limit)
        found = index.all(asked)
        assert set(overlapping) <= set(found)
        assert index.all(asked, exact=True) == overlapping
        assert (index.first(asked) is not None) == bool(found)
        assert index.first(asked) in (None, *found)
        assert (index.first(asked, exact=True) is not None) == bool(overlapping)


@settings(max_examples=80, deadline=None)
@given(st.lists(world.trees(world.texts), min_size=1, max_size=4), world.trees(world.texts))
def test_nor_is_one_of_texts(registered: list[Node], asked: Node) -> None:
    rules = [Rule(str(number), "", tree) for number, tree in enumerate(registered)]
    wanted = world.true_rows(asked, world.TEXT_ROWS)
    overlapping = {rule.id for rule in rules if world.true_rows(rule.tree, world.TEXT_ROWS) & wanted}
    index = OverlapIndex(build_segment(rules))
    assert overlapping <= set(index.all(asked, exact=True)) <= set(index.all(asked))


@settings(max_examples=80, deadline=None)
@given(st.lists(world.trees(world.decided), min_size=1, max_size=5), world.trees(world.decided))
def test_overlap_is_symmetric(registered: list[Node], asked: Node) -> None:
    ids = [str(number) for number in range(len(registered))]
    rules = [Rule(id, "", tree) for id, tree in zip(ids, registered, strict=True)]
    there = OverlapIndex(build_segment(rules), world.TYPES).all(asked, exact=True)
    back = OverlapIndex(build_segment([Rule("asked", "", asked)]), world.TYPES)
    assert there == [id for id, tree in zip(ids, registered, strict=True) if back.all(tree, exact=True)]


def test_many_alternatives_are_merged_and_nothing_is_missed() -> None:
    registered = [" AND ".join(f"x{i} = {i % 3}" for i in range(30))]
    index = index_of(*registered, max_sets=8)
    asked = parse_rule(" AND ".join(f"(x{i} = {i % 3} OR x{i} = 7 OR y{i} = 1)" for i in range(30)))
    found = index.violating_sets(asked)
    assert len(found.sets) <= 8
    assert index.all(asked) == ["0"]
    apart = parse_rule(" AND ".join(f"(x{i} = 5 OR x{i} = 7)" for i in range(30)))
    assert index.all(apart) == []


def test_what_is_not_named_is_not_restricted() -> None:
    assert index_of("a = 1", "b = 2", "a = 2").all(parse_rule("a = 1")) == ["0", "1"]
    assert index_of("a = 1").all(parse_rule("c > 5")) == ["0"]


def test_nothing_overlaps_what_is_never_true() -> None:
    index = index_of("a = 1", "a = NULL", "false", "true")
    assert index.all(parse_rule("true")) == ["0", "3"]
    assert index.all(parse_rule("false")) == []
    assert index.all(parse_rule("b = NULL")) == []
    assert index.all(parse_rule("a = NULL OR a > 0")) == ["0", "3"]


def test_strings_that_may_be_numbers_are_not_kept_apart() -> None:
    assert index_of("a = '5'").all(parse_rule("a = '5.0'")) == ["0"]
    assert index_of("a = '5'", "a = '6'").all(parse_rule("a = '6'")) == ["1"]
    assert index_of("a = '10'").all(parse_rule("a > '5'")) == ["0"]
    assert index_of("a = 'Rome'").all(parse_rule("a = 'Oslo'")) == []
    assert index_of("a = 5").all(parse_rule("a = '6'")) == ["0"]


def test_a_given_text_excludes_patterns_in_both_directions() -> None:
    assert index_of("title = 'abc'", "title = 'xyz'").all(parse_rule("contains(title, 'b')")) == ["0"]
    assert index_of("contains(title, 'b')", "title LIKE '%z'").all(parse_rule("title IN ('xyz', 'yz')")) == ["1"]
