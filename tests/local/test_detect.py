"""Detection without Spark finds what the specification says, and nothing else."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sparkrules import NeedsSpark, Policy, RuleSet, RuleSetError, UnknownColumn
from tests.pattern_cases import BEGIN, FLAGS, ROWS, Definition, Row, expected, plain, rule_set, several_definitions

SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("k2", pa.int32()), ("v", pa.int32()), ("id", pa.string())]
    + [(flag, pa.bool_()) for flag in FLAGS]
)


def table_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


@settings(max_examples=400, deadline=None)
@given(several_definitions(), ROWS)
def test_it_finds_what_the_specification_says(definitions: list[Definition], rows: list[Row]) -> None:
    rules = rule_set(definitions)
    found = [plain(own) for own in rules.detect(table_of(rows), time="ts", id="id")]
    assert sorted(found) == expected(rules, rows)
    ends = [own[4] for own in found]
    assert ends == sorted(ends)


@settings(max_examples=100, deadline=None)
@given(several_definitions(), ROWS)
def test_without_ids(definitions: list[Definition], rows: list[Row]) -> None:
    rules = rule_set(definitions)
    assert sorted(map(plain, rules.detect(table_of(rows), time="ts"))) == expected(rules, rows, with_id=False)


def seconds(*rows: tuple[float, str], **columns: Any) -> pa.Table:
    """Rows with a time in seconds, and the flags that are true; `e` is NULL where it is not true."""
    made = [
        {"ts": BEGIN + timedelta(seconds=time), "e": True if "e" in flags else None}
        | {flag: flag in flags for flag in FLAGS}
        for time, flags in rows
    ]
    table = pa.Table.from_pylist(made)
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


def ends(rules: RuleSet, table: pa.Table, **options: Any) -> list[float]:
    return [(own["end"] - BEGIN) / timedelta(seconds=1) for own in rules.detect(table, time="ts", **options)]


class TestTheThesis:
    """The examples of section 2.3.1 and of the definition."""

    def prices(self, *prices: int | None) -> pa.Table:
        times = [BEGIN + timedelta(seconds=n) for n in range(len(prices))]
        return pa.table({"ts": times, "IBM": pa.array(prices, pa.int32())})

    @pytest.fixture
    def rules(self) -> RuleSet:
        rules = RuleSet("stocks")
        rules.subscribe("up", "IBM > 30", on_change=[])
        return rules

    def test_a_subscription_is_notified_when_it_becomes_true(self, rules: RuleSet) -> None:
        assert ends(rules, self.prices(29, 31, 35, 28, 32)) == [1, 4]

    def test_null_neither_notifies_nor_resets(self, rules: RuleSet) -> None:
        assert ends(rules, self.prices(31, None, 35, None, 28, None, 32, None)) == [0, 6]

    def test_one_after_the_other_within_a_span(self) -> None:
        rules = rule_set([])
        rules.sequence("p", ["a", "b"], within="3 s")
        assert ends(rules, seconds((0, "a"), (3, "b"))) == [3]
        assert ends(rules, seconds((0, "a"), (3.000001, "b"))) == []
        assert ends(rules, seconds((0, "b"), (3, "a"))) == []

    def test_a_row_that_matches_both(self) -> None:
        rules = rule_set([])
        rules.sequence("p", ["a", "b"], within="3 s")
        assert ends(rules, seconds((0, "ab"))) == []
        assert ends(rules, seconds((0, "ab"), (1, "ab"), (2, "ab"))) == [1]
        rules.sequence("q", ["a", "b"], within="3 s", overlapping=True)
        assert ends(rules, seconds((0, "ab"), (1, "ab"), (2, "ab"))) == [1, 1, 2]
        rules.together("r", ["a", "b"], within="3 s")
        assert [own["count"] for own in rules.detect(seconds((0, "ab")), time="ts")] == [1]


class TestSequences:
    def test_equal_times_are_no_sequence(self) -> None:
        rules = rule_set([])
        rules.sequence("p", ["a", "b"], within="3 s")
        assert ends(rules, seconds((1, "a"), (1, "b"), (2, "b"))) == [2]

    def test_the_rows_are_the_latest_first_and_then_the_earliest(self) -> None:
        rules = rule_set([])
        rules.sequence("p", ["a", "b", "c"], within="9 s")
        rows = seconds((0, "a"), (1, "b"), (2, "a"), (3, "b"), (4, "b"), (5, "c"))
        (found,) = rules.detect(rows, time="ts")
        assert [(own["step"], (own["time"] - BEGIN).seconds) for own in found["rows"]] == [(1, 2), (2, 3), (3, 5)]

    def test_at_least_so_far_apart(self) -> None:
        rules = rule_set([])
        rules.sequence("p", ["a", "b"], within="9 s", after="4 s")
        rows = seconds((0, "a"), (1, "a"), (4, "a"), (5, "b"))
        (found,) = rules.detect(rows, time="ts")
        assert (found["start"], found["end"]) == (BEGIN + timedelta(seconds=1), BEGIN + timedelta(seconds=5))

    def test_of_more_chains_than_are_kept_the_oldest_goes(self) -> None:
        rules = rule_set([], policy=Policy(max_pattern_rows=2))
        rules.sequence("p", ["a", "b"], within="9 s", after="4 s")
        assert ends(rules, seconds((0, "a"), (1, "a"), (4.5, "b"))) == [4.5]
        assert ends(rules, seconds((0, "a"), (1, "a"), (2, "a"), (4.5, "b"))) == []
        assert ends(rules, seconds((0, "a"), (1, "a"), (2, "a"), (5, "b"))) == [5]


class TestTheEndOfTime:
    def test_a_wait_is_over_when_its_deadline_has_come(self) -> None:
        rules = rule_set([])
        rules.absence("p", after="a", without="b", within="3 s")
        assert ends(rules, seconds((0, "a"), (2.999999, ""))) == []
        assert ends(rules, seconds((0, "a"), (3, ""))) == [3]
        assert ends(rules, seconds((0, "a"), (3, "b"))) == []
        assert ends(rules, seconds((0, "a"), (3.000001, "b"))) == [3]

    def test_suppressed_ones_are_counted_when_the_span_is_over(self) -> None:
        rules = rule_set([])
        rules.subscribe("p", "a", suppress="3 s")

        def kinds(*rows: tuple[float, str]) -> list[tuple[str, int]]:
            return [(own["kind"], own["count"]) for own in rules.detect(seconds(*rows), time="ts")]

        assert kinds((0, "a"), (1, "a"), (2, "a")) == [("match", 1)]
        assert kinds((0, "a"), (1, "a"), (2, "a"), (2.999999, "")) == [("match", 1), ("suppressed", 2)]
        assert kinds((0, "a"), (1, "a"), (3, "a")) == [("match", 1), ("suppressed", 1), ("match", 1)]


class TestKeys:
    @pytest.mark.parametrize(
        ("values", "texts"),
        [
            (pa.array([1, -2], pa.int8()), ["1", "-2"]),
            (pa.array([True, False]), ["true", "false"]),
            (pa.array(["x", "é"]), ["x", "é"]),
            (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
            (pa.array([0.0, -0.0]), ["0.0", "0.0"]),
            (pa.array([float("nan"), -float("nan")]), ["NaN", "NaN"]),
            (pa.array([float("inf"), -float("inf")]), ["Infinity", "-Infinity"]),
            (pa.array([1e7, 9999999.0]), ["1.0E7", "9999999.0"]),
            (pa.array([0.001, 0.00099]), ["0.001", "9.9E-4"]),
            (pa.array([1.1, 1e100], pa.float64()), ["1.1", "1.0E100"]),
            (pa.array([1.1, 3.4e38], pa.float32()), ["1.1", "3.4E38"]),
            (pa.array([Decimal("1.50"), Decimal("0.00")]), ["1.50", "0.00"]),
            (pa.array([Decimal("0.0000001")]), ["0.0000001"]),
            (pa.array([date(2026, 1, 31)]), ["2026-01-31"]),
            (pa.array([1_000_400], pa.timestamp("us")), ["1970-01-01 00:00:01.0004"]),
            (pa.array([0], pa.timestamp("us", "Europe/Berlin")), ["1970-01-01 00:00:00"]),
            (pa.array([{"x": 5}]), None),
            (pa.array([[1]]), None),
        ],
    )  # fmt: skip
    def test_values_as_strings(self, values: pa.Array, texts: list[str] | None) -> None:
        rules = RuleSet("alerts")
        rules.subscribe("p", "a", suppress="1 us", by=["s.key"])
        times = pa.array(range(0, 10 * len(values), 10), pa.timestamp("us", "UTC"))
        nested = pa.StructArray.from_arrays([values], ["Key"])
        table = pa.table({"ts": times, "a": [True] * len(values), "S": nested})
        if texts is None:
            with pytest.raises(NeedsSpark, match=r"(?s)only Spark can detect 1 of the patterns.*can make a key of a"):
                rules.detect(table, time="ts")
            return
        found = [own["key"] for own in rules.detect(table, time="ts")]
        assert found == [{"s.key": text} for text in texts]

    def test_without_columns_there_is_one_key(self) -> None:
        rules = rule_set([])
        rules.count("p", "a", within="9 s", at_least=2)
        (found,) = rules.detect(seconds((0, "a"), (1, "a")), time="ts")
        assert found["key"] == {}

    def test_names_with_blanks_and_backticks(self) -> None:
        rules = RuleSet("alerts")
        rules.subscribe("p", "a", suppress="1 us", by=["odd name", "`x.y`"])
        table = seconds((0, "a"), **{"odd name": [1], "x.y": [2]})
        assert next(iter(rules.detect(table, time="ts")))["key"] == {"odd name": "1", "`x.y`": "2"}


class TestWhatIsAskedFor:
    @pytest.fixture
    def rules(self) -> RuleSet:
        rules = rule_set([])
        rules.count("p", "a", by=["k"], within="9 s", at_least=1)
        return rules

    def test_the_columns(self, rules: RuleSet) -> None:
        found = rules.detect(seconds((0, "a"), k=["x"]), time="ts").table
        time = pa.timestamp("us", "UTC")
        assert found.schema.names == ["pattern", "kind", "key", "start", "end", "count", "rows"]
        assert (found.schema.field("start").type, found.schema.field("end").type) == (time, time)
        assert found.schema.field("rows").type.value_type.field("time").type == time

    @pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
    @pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
    def test_types_of_time(self, rules: RuleSet, unit: str, zone: str | None) -> None:
        table = pa.table({"ts": pa.array([1, 2], pa.timestamp(unit, zone)), "k": ["x", "y"], "a": [True, True]})
        table = table.append_column("b", table["a"]).append_column("c", table["a"]).append_column("d", table["a"])
        found = rules.detect(table, time="TS").table
        assert found.schema.field("end").type == pa.timestamp("us", zone)
        assert len(found) == 2

    def test_pandas_and_polars(self, rules: RuleSet) -> None:
        table = seconds((0, "a"), (1, "b"), k=["x", "y"])
        for frame in (table.to_pandas(), polars.from_arrow(table)):
            found = rules.detect(frame, time="ts")
            assert [own["key"] for own in found] == [{"k": "x"}]
            assert polars.DataFrame(found).height == len(pandas.DataFrame(found.to_pylist())) == len(found) == 1

    def test_an_empty_table(self, rules: RuleSet) -> None:
        assert len(rules.detect(seconds((0, "a"), k=["x"]).slice(0, 0), time="ts")) == 0
        assert len(rules.detect(seconds((0, "a"), k=["x"]).slice(0, 0), time="ts", id="k")) == 0

    def test_without_patterns_nothing_is_found(self) -> None:
        assert repr(rule_set([]).detect(seconds((0, "a")), time="ts")) == "Detections(0)"

    def test_a_column_that_is_not_there(self, rules: RuleSet) -> None:
        with pytest.raises(RuleSetError, match="time: there is no column 'when'"):
            rules.detect(seconds((0, "a"), k=["x"]), time="when")
        with pytest.raises(RuleSetError, match="id: there is no column 'number'"):
            rules.detect(seconds((0, "a"), k=["x"]), time="ts", id="number")
        with pytest.raises(RuleSetError, match="type bool; the time of a row is a timestamp"):
            rules.detect(seconds((0, "a"), k=["x"]), time="a")
        with pytest.raises(UnknownColumn, match=r"(?s)missing for 1 of the patterns.*p: there is no column 'k'"):
            rules.detect(seconds((0, "a")), time="ts")

    def test_rules_that_only_spark_can_match(self, rules: RuleSet) -> None:
        rules.subscribe("odd", "upper(k) = 'X'")
        table = seconds((0, "a"), k=["x"])
        assert len(rules.detect(table, time="ts")) == 1  # no pattern names it
        rules.sequence("q", ["a", "odd"], within="1 s")
        rules.sequence("r", ["a", {"where": "lower(k) = 'x'"}], within="1 s")
        with pytest.raises(NeedsSpark, match=r"(?s)only Spark can detect 2 of the patterns.*q: odd: .*r: \(lower"):
            rules.detect(table, time="ts")
        found = rules.detect(table, time="ts", unsupported="skip")
        assert (len(found), list(found.skipped)) == (1, ["q", "r"])
        assert repr(found) == "Detections(1, 2 patterns left out)"

    def test_rules_are_matched_as_they_are_valid(self) -> None:
        rules = RuleSet("alerts")
        begin = datetime(2030, 1, 1, tzinfo=timezone.utc)
        rules.subscribe("a", "a", valid_from=begin, suppress="1 us")
        table = seconds((0, "a"))
        assert len(rules.detect(table, time="ts")) == 0
        assert len(rules.detect(table, time="ts", at=begin)) == 1

    def test_rows_that_the_rules_need_are_found_in_any_order(self, rules: RuleSet) -> None:
        table = seconds((3, "a"), (1, "a"), k=["x", "x"])
        assert ends(rules, table) == [1, 3]
