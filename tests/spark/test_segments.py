"""A version of several segments, with removed and expired rules, matches like one segment of the remaining rules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules.errors import RuleSetError
from sparkrules.sql import Policy
from tests.spark.all_types import all_types, random_rules
from tests.spark.oracle import Pairs, differences, pairs_by_where, settings
from tests.spark.test_dense import rule_of
from tests.spark.versions import Validity, VersionWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIZES = [180, 90, 60, 25, 15]
NOW = datetime.now(timezone.utc)
PAST, FUTURE = NOW - timedelta(hours=1), NOW + timedelta(days=30)
VALIDITIES: list[tuple[Validity, bool]] = [
    ((None, None), True),
    ((None, None), True),
    ((PAST, None), True),
    ((None, FUTURE), True),
    ((PAST, FUTURE), True),
    ((None, PAST), False),
    ((FUTURE, None), False),
    ((FUTURE, PAST), False),
]


class Split:
    """The same rules twice: in segments with much that is hidden, and as one segment of what is left."""

    def __init__(self, spark: SparkSession, seed: int) -> None:
        chance = random.Random(seed)
        texts = random_rules(sum(SIZES) + 20, seed=seed)
        shared = random_rules(12, seed=seed + 1).values()
        # Subexpressions that rules of different segments share, alone and next to others.
        texts = {
            id: text if chance.random() < 0.4 else f"({chance.choice(list(shared))}) AND ({text})"
            for id, text in texts.items()
        }
        self.name, self.merged = f"split_{seed}", f"merged_{seed}"
        writer = VersionWriter(spark, self.name)
        ids = list(texts)
        segments, live, priorities = [], {}, {}
        removed: list[str] = []
        back: set[str] = set()  # removed, and published again in a later segment
        start = 0
        for size in SIZES:
            own = ids[start : start + size]
            start += size
            again = [id for id in chance.sample(removed, min(3, len(removed))) if id not in back]
            back.update(again)
            rules = {id: texts[id] for id in own} | {id: f"i > 0 OR ({texts[id]})" for id in again}
            validity = {id: chance.choice(VALIDITIES) for id in rules}
            segment_priorities = {id: chance.choice([-5, 0, 0, 0, 7]) for id in rules}
            segments.append(
                writer.segment(rules, segment_priorities, {id: bounds for id, (bounds, _) in validity.items()})
            )
            gone = chance.sample(own, size // 10)
            removed += gone
            for id, text in rules.items():
                if id not in gone and validity[id][1]:
                    live[id] = text
                    priorities[id] = segment_priorities[id]
        writer.publish(*segments, removed=removed)
        other = VersionWriter(spark, self.merged)
        other.publish(other.segment(live, priorities))
        self.live, self.priorities = live, priorities
        self.merged_answers: dict[str, Counter[str]] = {}


@pytest.fixture(scope="module", params=[1, 2])
def split(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[Split]:
    with settings(spark, spark_sql_ansi_enabled="false"):
        yield Split(spark, request.param)


@pytest.fixture(scope="module", params=["parts", "one part"])
def part_rules(request: pytest.FixtureRequest) -> str:
    """How many rules make a part: three segments are parts, and the small ones one; or everything is one."""
    return "50" if request.param == "parts" else "1000000"


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    df = all_types(spark)
    df.createOrReplaceTempView("all_types")
    return df


@pytest.fixture(scope="module")
def truth(split: Split, table: DataFrame) -> Pairs:
    return pairs_by_where(table, split.live)


def test_every_live_rule_matches_as_where_does(
    spark: SparkSession, split: Split, part_rules: str, table: DataFrame, truth: Pairs
) -> None:
    with settings(spark, spark_sparkrules_partRules=part_rules):
        found = sparkrules.match(table, split.name).select("row", "matches.ids").collect()
    assert differences({(row, id) for row, ids in found for id in ids}, truth, split.live) == []
    for _, ids in found:
        assert ids == sorted(ids, key=lambda rule: (-split.priorities[rule], rule))
    assert len(truth) > 2_000


QUERIES = {
    "ids and overlaps": "SELECT row, match_subscriptions('{}', *) AS m FROM all_types",
    "rows": "SELECT row, subscription_matches('{}', *) AS m FROM all_types",
    "a row per match": "SELECT row, subscription_id, priority, overlap "
    "FROM match_subscriptions('{}', TABLE(all_types))",
    "counts": "SELECT subscription_id, count(*) FROM match_subscriptions('{}', TABLE(all_types)) GROUP BY 1",
    "errors": "SELECT row, subscription_errors('{}', *) AS e FROM all_types",
    "the first": "SELECT row, match_subscriptions('{}', *, top => 1) AS m FROM all_types",
    "the first five": "SELECT row, match_subscriptions('{}', *, top => 5) AS m FROM all_types",
    "the first million": "SELECT row, match_subscriptions('{}', *, top => 1000000) AS m FROM all_types",
    "a row for the first three": "SELECT * FROM (SELECT row, subscription_id, priority, overlap "
    "FROM match_subscriptions('{}', TABLE(all_types), top => 3))",
    "counts of the first three": "SELECT subscription_id, count(*) "
    "FROM match_subscriptions('{}', TABLE(all_types), top => 3) GROUP BY 1",
    "a join condition": "SELECT l.row, r.row FROM all_types l JOIN all_types r ON l.row = r.row + 1 AND "
    "hash(match_subscriptions('{}', named_struct('t', l.t, 'i', r.i, 'l', l.l, 'f', r.f, 'd', l.d, 'dec', l.dec, "
    "'wide', r.wide, 's', l.s, 'b', r.b, 'dt', l.dt, 'ts', r.ts, 'ntz', l.ntz, 'bin', r.bin, 'st', l.st, "
    "'tags', r.tags, 'props', l.props))) % 3 = 0",
}


def answers(spark: SparkSession, query: str) -> Counter[str]:
    return Counter(repr(row) for row in spark.sql(query).collect())


@pytest.mark.parametrize("query", QUERIES)
def test_every_answer_is_that_of_the_rules_that_are_left(
    spark: SparkSession, split: Split, part_rules: str, table: DataFrame, query: str
) -> None:
    if query not in split.merged_answers:  # they do not depend on the parts
        split.merged_answers[query] = answers(spark, QUERIES[query].format(split.merged))
    expected = split.merged_answers[query]
    with settings(spark, spark_sparkrules_partRules=part_rules):
        got = answers(spark, QUERIES[query].format(split.name))
    assert got == expected
    assert len(expected) > 3


def test_the_first_ones_are_the_first_of_all(
    spark: SparkSession, split: Split, part_rules: str, table: DataFrame
) -> None:
    with settings(spark, spark_sparkrules_partRules=part_rules):
        all_of = {row.row: row.matches.ids for row in sparkrules.match(table, split.name).collect()}
        for n in (1, 4, 40):
            first = {row.row: row.matches.ids for row in sparkrules.match(table, split.name, top=n).collect()}
            assert first == {row: ids[:n] for row, ids in all_of.items()}
            per_match = sparkrules.matches(table, split.name, top=n).groupBy("row").count().collect()
            assert {row[0]: row[1] for row in per_match} == {row: min(n, len(i)) for row, i in all_of.items() if i}


def test_ranges_and_tests_are_those_of_all_segments(spark: SparkSession, table: DataFrame) -> None:
    def ranges(name: str) -> list[list[tuple[Any, ...]]]:
        rows = spark.sql(f"SELECT subscription_ranges('{name}', i, d, s) AS r FROM all_types ORDER BY row").collect()
        return [sorted((str(x.attribute), x.position, str(x.lower), str(x.upper)) for x in row.r) for row in rows]

    writer, whole = VersionWriter(spark, "ranges_split"), VersionWriter(spark, "ranges_whole")
    first, second, third = {"a": "i > 5 AND d < 0.5"}, {"b": "s = 'x' OR i > 1"}, {"c": "i = 3 AND d > 7"}
    writer.publish(writer.segment(first), writer.segment(second), writer.segment(third))
    whole.publish(whole.segment(first | second | third))
    with settings(spark, spark_sparkrules_partRules="1"):
        assert ranges("ranges_split") == ranges("ranges_whole")
        tests = spark.sql(
            "SELECT inline(subscription_tests('ranges_split', i, d, s)) FROM all_types WHERE row = 0"
        ).collect()
    assert {row.predicate for row in tests} == set(range(6)), "predicates are numbered over all segments"


def test_rules_that_match_often_are_hidden_too(spark: SparkSession) -> None:
    chance = random.Random(3)
    texts = {f"r{i}": rule_of(chance) for i in range(2_500)}
    writer = VersionWriter(spark, "dense_split")
    ids = list(texts)
    gone = ids[::7]
    expired = dict.fromkeys(ids[3::11], (None, PAST))
    more = {f"m{i}": text for i, text in enumerate(list(texts.values())[:30])}
    segments = [writer.segment(texts, validity=expired), writer.segment(more)]
    writer.publish(*segments, removed=[*gone, "m3"])
    live = {id: text for id, text in (texts | more).items() if id not in {*gone, *expired, "m3"}}
    rows = [(i, chance.choice([None, *range(100)]), i % 15, i / 7, "abc"[i % 3], i % 2 == 0) for i in range(400)]
    df = spark.createDataFrame(rows, "row BIGINT, a INT, b INT, x DOUBLE, s STRING, f BOOLEAN").coalesce(1)
    with settings(spark, spark_sparkrules_partRules="900"):
        found = sparkrules.match(df, "dense_split").select("row", "matches.ids").collect()
        counts = sparkrules.matches(df, "dense_split").groupBy("subscription_id").count().collect()
    pairs = {(row, id) for row, ids in found for id in ids}
    # Spark takes minutes for all of them: it is asked for some, and a rule set of one segment for all.
    some = {id: text for number, (id, text) in enumerate(live.items()) if number % 8 == 0}
    assert differences({pair for pair in pairs if pair[1] in some}, pairs_by_where(df, some), some) == []
    whole = sparkrules.RuleSet("dense_whole")
    whole.subscribe_all(live)
    matched = sparkrules.match(df, whole).select("row", "matches.ids").collect()
    assert pairs == {(row, id) for row, ids in matched for id in ids}
    assert dict(counts) == Counter(id for _, id in pairs)
    assert all(ids == sorted(ids) for _, ids in found)


FAILING = "CAST(s AS INT) > 0"


@pytest.mark.parametrize("part_rules", ["1", "1000"])
def test_a_hidden_rule_neither_fails_the_query_nor_is_an_error(spark: SparkSession, part_rules: str) -> None:
    name = f"hidden_errors_{part_rules}"
    writer = VersionWriter(spark, name)
    large = writer.segment(
        {"gone": FAILING, "expired": FAILING, "good": "i > 0", "other": "no_such_column > 1", "early": "nowhere = 1"},
        validity={"expired": (None, PAST), "early": (FUTURE, None)},
    )
    small = writer.segment({"more": "i > 1"})
    calls = f"match_subscriptions('{name}', *).ids AS ids, subscription_errors('{name}', *) AS e"
    query = f"SELECT {calls} FROM VALUES (2, 'x') t(i, s)"
    with settings(
        spark, spark_sparkrules_partRules=part_rules, spark_sparkrules_strict="true", spark_sql_ansi_enabled="true"
    ):
        writer.publish(large, small, removed=["gone", "other"])
        assert [tuple(row) for row in spark.sql(query).collect()] == [(["good", "more"], [])]
        writer.publish(large, small, removed=["other"])
        with pytest.raises(PySparkException, match="rule 'gone'"):
            spark.sql(query).collect()
        writer.publish(large, small, removed=["gone"])
        with pytest.raises(PySparkException, match="'other': there is no column no_such_column"):
            spark.sql(query).collect()


@pytest.mark.parametrize("part_rules", ["1", "1000"])
def test_a_python_function_of_removed_rules_is_not_called(spark: SparkSession, part_rules: str) -> None:
    def fails(x: int) -> int:
        raise ValueError("it was called")

    spark.udf.register("fails", fails, "int")
    spark.udf.register("plus_one", lambda x: x + 1, "int")
    writer = VersionWriter(spark, f"python_parts_{part_rules}", Policy(extra_functions={"fails", "plus_one"}))
    first = writer.segment({"bad": "fails(i) > 0", "fine": "plus_one(i) = 3"})
    second = writer.segment({"also": "plus_one(i) > 2 AND i > 1"})
    writer.publish(first, second, removed=["bad"])
    with settings(spark, spark_sparkrules_partRules=part_rules):
        rows = spark.sql(
            f"SELECT match_subscriptions('{writer.rule_set}', i).ids AS ids FROM VALUES (2) t(i)"
        ).collect()
    assert [row.ids for row in rows] == [["also", "fine"]]


def test_the_instant_of_the_query_counts_in_rules_of_several_segments(spark: SparkSession) -> None:
    writer = VersionWriter(spark, "instants")
    segments = [writer.segment({id: f"ts < current_timestamp() AND i <> {i}"}) for i, id in enumerate("abc")]
    writer.publish(*segments)
    with settings(spark, spark_sparkrules_partRules="1"):
        rows = spark.sql(
            "SELECT match_subscriptions('instants', *).ids AS ids FROM VALUES (1, TIMESTAMP'2020-01-01') t(i, ts)"
        ).collect()
    assert [row.ids for row in rows] == [["a", "c"]]


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("top => 0", "top => 0 is not a positive whole number"),
        ("top => -1", "top => .*1.* is not a positive whole number"),
        ("top => 1.5", "top => 1.5BD is not a positive whole number"),
        ("top => '3'", "top => '3' is not a positive whole number"),
        ("top => NULL", "top => NULL is not a positive whole number"),
        ("top => id", "top => .*id.* is not a positive whole number"),
        ("most => 3", "match_subscriptions has no argument 'most'. It takes top => 3"),
        ("top => 3, TOP => 4", "two arguments 'top'"),
    ],
)
def test_what_top_takes(spark: SparkSession, argument: str, problem: str) -> None:
    writer = VersionWriter(spark, "tops")
    writer.publish(writer.segment({"a": "id >= 0"}))
    with pytest.raises(PySparkException, match=problem):
        spark.sql(f"SELECT match_subscriptions('tops', *, {argument}) FROM range(3)").collect()
    with pytest.raises(PySparkException, match="subscription_errors has no argument 'top'"):
        spark.sql("SELECT subscription_errors('tops', *, top => 1) FROM range(3)").collect()


@pytest.mark.parametrize("top", [0, -3, 1.5, "3", True])
def test_what_top_takes_in_python(spark: SparkSession, top: Any) -> None:
    with pytest.raises(RuleSetError, match="is not a positive whole number: top=3 gives the first three"):
        sparkrules.match(spark.range(3), "tops", top=top)


def test_top_may_stand_anywhere_and_be_a_parameter(spark: SparkSession) -> None:
    writer = VersionWriter(spark, "tops_placed")
    writer.publish(writer.segment({"a": "id >= 0", "b": "id >= 0", "c": "id > 0"}))
    for call in ("'tops_placed', id, top => 2", "'tops_placed', *, top => 2L", "'tops_placed', *, top => :n"):
        rows = spark.sql(f"SELECT match_subscriptions({call}) AS m FROM range(1)", args={"n": 2}).collect()
        assert [(row.m.ids, row.m.overlaps) for row in rows] == [(["a", "b"], [["a", "b"]])]


def test_plans_of_a_version_are_the_same_unless_a_rule_has_a_validity(spark: SparkSession) -> None:
    writer = VersionWriter(spark, "same_plans")
    plain = writer.segment({"a": "id > 0"})
    limited = writer.segment({"b": "id > 0"}, validity={"b": (PAST, FUTURE)})
    query = "SELECT match_subscriptions('same_plans', *).ids AS ids FROM range(3)"

    def plan() -> str:
        return str(spark.sql(query)._jdf.queryExecution().optimizedPlan().canonicalized().toString())

    writer.publish(plain)
    assert "current" not in plan()
    assert spark.sql(query).sameSemantics(spark.sql(query))
    writer.publish(plain, limited)
    assert [row.ids for row in spark.sql(query).collect()] == [[], ["a", "b"], ["a", "b"]]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([5], "there is no subscription 5 of 1"), ([-1], "there is no subscription -1 of 1"), ([0, 0], "0 comes after 0")],
)
def test_a_file_of_removed_subscriptions_that_cannot_be_right_is_refused(
    spark: SparkSession, rows: list[int], reason: str
) -> None:
    writer = VersionWriter(spark, "bad_removed")
    segment = writer.segment({"a": "id > 0"})
    writer._removed = lambda _: VersionWriter._removed(writer, rows)  # type: ignore[method-assign]
    writer.publish(segment, removed=["a"])
    for part_rules in ("1", "1000"):
        with (
            settings(spark, spark_sparkrules_partRules=part_rules),
            pytest.raises(PySparkException, match=rf"removed/\w+.arrow is damaged \({reason}"),
        ):
            spark.sql("SELECT match_subscriptions('bad_removed', *).ids FROM range(3)").collect()
