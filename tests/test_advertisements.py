"""Advertisements from the user's side: what overlaps them, restricted rule sets, rows that violate them."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkrules import RuleError, RuleSet
from sparkrules.demo.auctions import auction_rows, auction_rules
from sparkrules.errors import DuplicateId, RuleSetError, StoreError, UnknownId
from sparkrules.sql import Policy

if TYPE_CHECKING:
    pass


def rules(subscriptions: dict[str, str], **advertisements: str) -> RuleSet:
    made = RuleSet("alerts")
    assert made.subscribe_all(subscriptions) == len(subscriptions)
    for id, where in advertisements.items():
        made.advertise(id, where)
    return made


class TestAdvertising:
    def test_ids_are_their_own(self) -> None:
        made = rules({"hot": "t > 30"}, hot="t > 20")
        assert made.advertisements["hot"].where == "t > 20"
        made.unadvertise("hot")
        assert not made.advertisements
        assert "hot" in made

    def test_an_id_is_taken_once(self) -> None:
        made = rules({}, attic="t > 20")
        with pytest.raises(DuplicateId, match="already has an advertisement 'attic'; unadvertise it first"):
            made.advertise("attic", "t > 30")
        assert made.advertisements["attic"].where == "t > 20"

    @pytest.mark.parametrize("use", ["unadvertise", "overlapping", "restrict"])
    def test_an_unknown_id_says_which_are_known_and_how_a_condition_is_given(self, use: str) -> None:
        made = rules({}, attic="t > 20")
        with pytest.raises(UnknownId, match=r"no advertisement 'att-ic'; there are: 'attic'.*where="):
            getattr(made.advertisements if use == "overlapping" else made, use)("att-ic")

    def test_the_language_and_the_policy_are_those_of_subscriptions(self) -> None:
        made = RuleSet("alerts", policy=Policy(denied_functions={"upper"}))
        for where in ("t >", "t > (SELECT 1)", "upper(a) = 'X'", "", "rand() > 0.5"):
            with pytest.raises(RuleError, match="rule 'attic'"):
                made.advertise("attic", where)
            with pytest.raises(RuleError, match=r"at line 1, column \d+"):
                made.advertisements.overlapping(where=where)
        with pytest.raises(RuleSetError, match="text of a WHERE expression, not 5"):
            made.advertise("attic", 5)  # type: ignore[arg-type]
        with pytest.raises(RuleSetError, match="an id is a non-empty string"):
            made.advertise("", "t > 5")
        assert not made.advertisements

    def test_the_mapping_cannot_be_changed(self) -> None:
        with pytest.raises(TypeError):
            rules({}, attic="t > 20").advertisements["attic"] = None  # type: ignore[index]


class TestOverlapping:
    SUBSCRIPTIONS: ClassVar = {
        "hot": "t > 30",
        "cold": "t < 0",
        "mild": "t > 15 AND t < 25",
        "damp": "damp OR t IS NULL",
    }

    def test_the_answer_is_in_output_order(self) -> None:
        made = rules(self.SUBSCRIPTIONS, cellar="t < 20")
        made.subscribe("first", "t = 5", priority=9)
        assert made.advertisements.overlapping("cellar") == ["first", "cold", "damp", "mild"]

    def test_exact_looks_at_predicates_together(self) -> None:
        made = rules({"mild": "t > 15 AND t < 25"})
        assert made.advertisements.overlapping(where="t < 10 OR t > 30") == []
        assert made.advertisements.overlapping(where="t > 20 AND t < 18", exact=False) == ["mild"]
        assert made.advertisements.overlapping(where="t > 20 AND t < 18") == []

    def test_a_schema_decides_what_types_leave_open(self) -> None:
        made = rules({"above": "t > 5"})
        assert made.advertisements.overlapping(where="t < 6") == ["above"]
        assert made.advertisements.overlapping(where="t < 6", schema=pa.schema([("t", pa.int32())])) == []
        assert made.advertisements.overlapping(where="t < 6", schema=pa.table({"t": [1.5]})) == ["above"]

    def test_a_change_of_the_rules_is_seen(self) -> None:
        made = rules({"hot": "t > 30"}, attic="t > 20")
        assert made.advertisements.overlapping("attic") == ["hot"]
        made.subscribe("warm", "t > 25")
        assert made.advertisements.overlapping("attic") == ["hot", "warm"]

    def test_when_a_subscription_is_valid_does_not_matter(self) -> None:
        made = RuleSet("alerts")
        made.subscribe("old", "t > 30", valid_until=datetime(2020, 1, 1, tzinfo=timezone.utc))
        assert made.advertisements.overlapping(where="t > 0") == ["old"]

    def test_either_an_id_or_a_condition(self) -> None:
        made = rules({}, attic="t > 20")
        for ask in (made.advertisements.overlapping, made.restrict, made.advertisements.sources):
            with pytest.raises(RuleSetError, match="either the id of"):
                ask()
            with pytest.raises(RuleSetError, match="either the id of"):
                ask("attic", where="t > 1")

    def test_sources_are_the_other_direction(self) -> None:
        made = rules(self.SUBSCRIPTIONS, cellar="t < 20", attic="t > 20 AND t < 28", roof="t > 40")
        assert {id: made.advertisements.sources(id) for id in self.SUBSCRIPTIONS} == {
            "hot": ["roof"],
            "cold": ["cellar"],
            "mild": ["cellar", "attic"],
            "damp": ["cellar", "attic", "roof"],
        }
        assert made.advertisements.sources(where="t = 30") == []
        with pytest.raises(UnknownId, match="no rule 'none'"):
            made.advertisements.sources("none")

    def test_pairs_are_those_of_each_advertisement(self) -> None:
        made = rules(self.SUBSCRIPTIONS, cellar="t < 20", attic="t > 20 AND t < 28")
        pairs = made.advertisements.overlaps()
        for id in made.advertisements:
            assert [pair.subscription for pair in pairs if pair.advertisement == id] == made.advertisements.overlapping(
                id
            )
        assert {pair.certain for pair in pairs} == {True}
        undecided = rules({"x": "contains(name, 'x')", "y": "lower(name) = 'y'"}, all="t = 1")
        assert [(pair.subscription, pair.certain) for pair in undecided.advertisements.overlaps()] == [
            ("x", False),
            ("y", False),
        ]

    def test_columns_in_another_case_are_not_certain(self) -> None:
        (pair,) = rules({"x": "Price > 5"}, all="price < 3").advertisements.overlaps()
        assert not pair.certain

    def test_texts_of_a_table(self) -> None:
        made = rules(self.SUBSCRIPTIONS)
        table = pa.table({"condition": ["t > 40", "t >", None, "t > 40", "t = 7 AND NOT damp"]})
        assert made.advertisements.overlapping_all(table, "condition").to_pylist() == [
            {"condition": "t = 7 AND NOT damp", "subscriptions": [], "error": None},
            {"condition": "t >", "subscriptions": None, "error": "expected a value at line 1, column 4"},
            {"condition": "t > 40", "subscriptions": ["damp", "hot"], "error": None},
            {"condition": None, "subscriptions": None, "error": "the text is empty at line 1, column 1"},
        ]
        with pytest.raises(RuleSetError, match="no column 'where'; it has: condition"):
            made.advertisements.overlapping_all(table, "where")
        with pytest.raises(RuleSetError, match="column 'n' has type int64"):
            made.advertisements.overlapping_all(pa.table({"n": [1]}), "n")
        with pytest.raises(RuleSetError, match="not from list"):
            made.advertisements.overlapping_all(["t > 40"], "where")  # type: ignore[call-overload]


class TestRestricting:
    def test_it_has_a_name_of_its_own(self, tmp_path: Path) -> None:
        made = rules({"hot": "t > 30", "cold": "t < 0"}, attic="t > 20")
        made.store = tmp_path
        made.publish()
        small = made.restrict("attic")
        assert (small.name, list(small.subscriptions), list(small.advertisements)) == (
            "alerts.attic",
            ["hot"],
            ["attic"],
        )
        small.store = tmp_path
        small.publish()
        assert len(RuleSet.load("alerts", tmp_path)) == 2
        assert made.restrict(where="t < 5").name == "alerts.restricted"
        assert made.restrict("attic", name="top").name == "top"

    def test_an_id_that_is_no_name_needs_one(self) -> None:
        made = rules({}, **{"the attic": "t > 20"})
        with pytest.raises(StoreError, match="is not a name"):
            made.restrict("the attic")
        assert made.restrict("the attic", name="attic").name == "attic"

    def test_subscriptions_stay_what_they_are_but_for_tickets(self) -> None:
        made = RuleSet("alerts", dialect="postgres", default_validity=timedelta(days=1))
        begin = datetime(2030, 1, 1, tzinfo=timezone.utc)
        made.subscribe("hot", "t > 30 AND x ~ 'a'", 7, {"owner": "ops"}, valid_from=begin, ticket=True)
        small = made.restrict(where="t > 20")
        assert small.subscriptions["hot"] == made.subscriptions["hot"]
        assert (small.dialect, small.default_validity) == ("postgres", timedelta(days=1))
        small.unsubscribe("hot")
        assert "hot" in made

    def test_tickets_stay_with_the_original(self, tmp_path: Path) -> None:
        made = rules({})
        made.subscribe("hot", "t > 30", ticket=True)
        made.store = tmp_path
        made.publish()
        assert made.subscriptions["hot"].ticket is not None
        assert made.restrict(where="t > 20").subscriptions["hot"].ticket is None

    def test_nothing_may_be_left(self) -> None:
        small = rules({"hot": "t > 30"}).restrict(where="t < 0")
        assert len(small) == 0
        assert small.match(pa.table({"t": [-5]})).ids.to_pylist() == [[]]

    def test_auctions_that_conform_match_the_same(self) -> None:
        made = RuleSet("auctions")
        made.subscribe_all(auction_rules(3_000))
        rows = auction_rows(500)
        for where in ("price > 15 AND condition = 'new'", "title < 'D' AND NOT signed", "bids > 0 OR title LIKE '%1'"):
            source = RuleSet("source")
            source.subscribe("conforms", where)
            conforms = [bool(ids) for ids in source.match(rows).ids.to_pylist()]
            own = rows.filter(pa.array(conforms))
            for exact in (True, False):
                small = made.restrict(where=where, schema=rows, exact=exact)
                assert small.match(own).ids.equals(made.match(own).ids)
        assert 0 < len(made.restrict(where="title < 'D' AND NOT signed", schema=rows)) < len(made)


VALUES: dict[str, list[Any]] = {
    "i": [None, -1, 0, 1, 2, 3],
    "d": [None, -0.0, 0.0, 1.0, 1.5, math.nan, math.inf],
    "s": [None, "", "a", "ab", "b", "A"],
    "b": [None, True, False],
}
ROWS = pa.table(
    {name: [values[at % len(values)] for at in range(0, 997, step)][:140] for (name, values), step in
     zip(VALUES.items(), (1, 5, 4, 7), strict=True)},
    schema=pa.schema([("i", pa.int32()), ("d", pa.float64()), ("s", pa.string()), ("b", pa.bool_())]),
)  # fmt: skip
_compared = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"])
_tests = st.one_of(
    st.builds("i {} {}".format, _compared, st.integers(-1, 3)),
    st.builds("d {} {}".format, _compared, st.sampled_from(["0", "1", "1.5", "2E0", "NULL"])),
    st.builds("s {} '{}'".format, _compared, st.text("ab", max_size=2)),
    st.builds("s {} '{}'".format, st.sampled_from(["LIKE", "NOT LIKE"]), st.text("ab%_", max_size=3)),
    st.builds("contains(s, '{}')".format, st.text("ab", max_size=2)),
    st.builds("i {}IN ({}, {})".format, st.sampled_from(["", "NOT "]), st.integers(0, 2), st.sampled_from("2N").map(
        {"2": "2", "N": "NULL"}.__getitem__)),
    st.builds("{} IS {}NULL".format, st.sampled_from("idsb"), st.sampled_from(["", "NOT "])),
    st.builds("b IS {}{}".format, st.sampled_from(["", "NOT "]), st.sampled_from(["TRUE", "FALSE"])),
)  # fmt: skip
conditions = st.recursive(
    _tests,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("(NOT {})".format, inner),
    ),
    max_leaves=6,
)


@given(st.lists(conditions, min_size=1, max_size=8), conditions, st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rows_that_conform_match_the_same(texts: list[str], advertisement: str, with_schema: bool) -> None:
    made = rules({f"r{at}": text for at, text in enumerate(texts)}, source=advertisement)
    conforms = rules({"yes": advertisement}).match(ROWS).ids.to_pylist()
    own = ROWS.filter(pa.array([bool(ids) for ids in conforms]))
    schema = ROWS if with_schema else None
    whole = made.match(own).ids
    for exact in (True, False):
        small = made.restrict("source", schema=schema, exact=exact)
        assert small.match(own).ids.equals(whole)
    needed = {id for ids in whole.to_pylist() for id in ids}
    assert needed <= set(made.advertisements.overlapping("source", schema=schema))
    assert {pair.subscription for pair in made.advertisements.overlaps(schema=schema)} >= needed
