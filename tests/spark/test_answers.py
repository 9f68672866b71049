"""What a match says beside the ids: fields of the rule, the version, shadow rules; and rules chosen by tags.

The oracles: a rule set that has only the rules that are asked for, and a join with the catalog's table of rules.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from sparkrules.store import Store
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENGINES = ("plugin", "python")
Row = tuple[Any, ...]


def random_rules(chance: random.Random, count: int) -> list[dict[str, Any]]:
    made = []
    for number in range(count):
        low, high = sorted(chance.choices(range(-3, 12), k=2))
        where = chance.choice([f"x > {low}", f"x BETWEEN {low} AND {high}", f"x = {low} OR s = 's{high}'", "s IS NULL"])
        metadata: dict[str, Any] = {
            "severity": chance.choice([1, 2, 3, None]),
            "score": chance.choice([1, 2.5, -0.5]),
            "title": chance.choice(["a", "é", "", "it's"]),
            "on": chance.choice([True, False]),
            "mixed": chance.choice(["x", 7, True, None, [1, {"a": "é"}], {"b": None}]),
            "list": [number],
            "huge": 2**63 + number,
        }
        made.append(
            {
                "id": f"r{number}",
                "where": where,
                "priority": chance.choice([0, 0, 5]),
                "metadata": chance.choice([None, {name: metadata[name] for name in metadata if chance.random() < 0.7}]),
                "status": chance.choice(["live", "live", "shadow", "draft"]),
                "tags": chance.sample(["win", "mac", "lin"], chance.randrange(3)),
            }
        )
    everything = {
        name: {"severity": 1, "score": 0.5, "title": "t", "on": True, "mixed": 1, "list": [], "huge": 2**63}
        for name in ("metadata",)
    }
    return [{"id": "all", "where": "x IS NOT NULL", "tags": ["win", "mac", "lin"], **everything}, *made]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    chance = random.Random(3)
    values = [(n, chance.choice([None, *range(-4, 13)]), chance.choice([None, "s1", "s5", "z"])) for n in range(60)]
    df = spark.createDataFrame(values, "n INT, x INT, s STRING").cache()
    df.createOrReplaceTempView("answer_rows")
    return df


@pytest.fixture(scope="module", params=[1])
def described(spark: SparkSession, request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """Random rules, published as `answers`, in several segments with removed rules."""
    chance = random.Random(request.param)
    made = random_rules(chance, 40)
    rules = RuleSet("answers")
    rules.subscribe_all(made[:25])
    rules.subscribe("gone", "x > 0", tags=["gone"], metadata={"gone": 1, "severity": "text"})
    rules.publish(spark)
    rules.unsubscribe("gone")
    rules.subscribe_all(made[25:])
    rules.publish(spark, merge="none")
    return made


@pytest.fixture
def parts(spark: SparkSession) -> Iterator[None]:
    """Every segment is compiled by itself."""
    with settings(spark, **{"spark.sparkrules.partRules": "1"}):
        yield


def ids_of(spark: SparkSession, rows: DataFrame, rules: list[dict[str, Any]], **options: Any) -> list[Any]:
    """Each row's ids and overlaps of a rule set that has these rules, all of them live."""
    only = RuleSet("only_these")
    only.subscribe_all([{**rule, "status": "live"} for rule in rules])
    only.publish(spark)
    found = sparkrules.match(rows, "only_these", "m", **options).selectExpr("n", "m.ids", "m.overlaps").collect()
    return [row[1:] for row in sorted(map(tuple, found))]


def plain(found: list[Any]) -> list[Any]:
    return [tuple(sorted(map(sorted, value)) if place else value for place, value in enumerate(row)) for row in found]


def having(rules: list[dict[str, Any]], status: str, *tags: str) -> list[dict[str, Any]]:
    kept = [rule for rule in rules if rule.get("status", "live") == status]
    return [rule for rule in kept if not tags or set(tags) & set(rule["tags"])]


@pytest.mark.parametrize("tags", [(), ("win",), ("mac", "lin")])
@pytest.mark.parametrize("top", [None, 2])
def test_ids_and_shadow_are_those_of_rule_sets_with_these_rules(
    spark: SparkSession, rows: DataFrame, described: list[dict[str, Any]], tags: tuple[str, ...], top: int | None
) -> None:
    options: dict[str, Any] = {"tags": list(tags) or None, "shadow": True, "top": top}
    live = ids_of(spark, rows, having(described, "live", *tags), top=top)
    shadow = ids_of(spark, rows, having(described, "shadow", *tags), top=top)
    assert any(ids for ids, _ in live)
    for engine in ENGINES:
        found = sparkrules.match(rows, "answers", "m", engine=engine, **options)
        assert found.schema["m"].dataType.fieldNames() == ["ids", "overlaps", "shadow"]
        got = sorted(map(tuple, found.selectExpr("n", "m.ids", "m.overlaps", "m.shadow").collect()))
        assert plain([row[1:3] for row in got]) == plain(live)
        assert [row[3] for row in got] == [ids for ids, _ in shadow]
    without = sparkrules.match(rows, "answers", "m", tags=list(tags) or None, top=top)
    assert without.schema["m"].dataType.fieldNames() == ["ids", "overlaps"]
    got = sorted(map(tuple, without.selectExpr("n", "m.ids").collect()))
    assert [row[1] for row in got] == [ids for ids, _ in live]


@pytest.mark.usefixtures("parts")
def test_several_parts(spark: SparkSession, rows: DataFrame, described: list[dict[str, Any]]) -> None:
    live = ids_of(spark, rows, having(described, "live"))
    shadow = ids_of(spark, rows, having(described, "shadow"))
    found = sparkrules.match(rows, "answers", "m", shadow=True, fields=["title"])
    got = sorted(map(tuple, found.selectExpr("n", "m.ids", "m.overlaps", "m.shadow", "m.matches").collect()))
    assert plain([row[1:3] for row in got]) == plain(live)
    assert [row[3] for row in got] == [ids for ids, _ in shadow]
    titles = {rule["id"]: (rule.get("metadata") or {}).get("title") for rule in described}
    assert all([tuple(one) for one in row[4]] == [(id, titles[id]) for id in row[1]] for row in got)


FIELDS = ["severity", "score", "title", "on", "mixed", "list", "huge"]
TYPES = ["bigint", "double", "string", "boolean", "string", "string", "string"]


def in_catalog(spark: SparkSession) -> dict[str, Row]:
    """The fields of each rule, as Python reads them from the catalog's table of rules."""

    def text(value: Any) -> str | None:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    found = {}
    for id, metadata in spark.sql("SELECT id, metadata FROM sparkrules.answers.subscriptions").collect():
        own = json.loads(metadata or "{}")
        score = own.get("score")
        found[id] = (
            own.get("severity"), None if score is None else float(score), own.get("title"), own.get("on"),
            text(own.get("mixed")), text(own.get("list")), text(own.get("huge")),
        )  # fmt: skip
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_fields_are_those_of_the_catalog(
    spark: SparkSession, rows: DataFrame, described: list[dict[str, Any]], engine: Any
) -> None:
    known, version = in_catalog(spark), Store(spark.conf.get("spark.sparkrules.store")).manifest("answers").version
    found = sparkrules.match(rows, "answers", "m", fields=FIELDS, engine=engine)
    assert found.schema["m"].dataType.fieldNames() == ["ids", "overlaps", "matches", "version"]
    types = found.selectExpr("inline(m.matches)").dtypes
    assert types == [("subscription_id", "string"), *zip(FIELDS, TYPES, strict=True)]
    for ids, matches, number in found.selectExpr("m.ids", "m.matches", "m.version").collect():
        assert [tuple(own) for own in matches] == [(id, *known[id]) for id in ids]
        assert number == version
    table = sparkrules.matches(rows, "answers", fields=FIELDS, shadow=True, engine=engine)
    assert table.columns == ["n", "x", "s", "subscription_id", "priority", "overlap", *FIELDS, "version", "status"]
    statuses = {rule["id"]: rule.get("status", "live") for rule in described}
    lines = table.drop("overlap", "priority", "x", "s").collect()
    assert {line[1] for line in lines} & {id for id, status in statuses.items() if status == "shadow"}
    for line in lines:
        assert tuple(line)[2:] == (*known[line[1]], version, statuses[line[1]])


def test_the_functions_of_sql_agree(spark: SparkSession, rows: DataFrame, described: list[dict[str, Any]]) -> None:
    arguments = "fields => array('severity', 'title'), tags => array('win', 'mac'), shadow => true, top => 3"
    by_row = spark.sql(
        f"SELECT n, inline(subscription_matches('answers', *, {arguments})) FROM answer_rows ORDER BY n"
    ).collect()
    table = spark.sql(f"SELECT * FROM match_subscriptions('answers', TABLE(answer_rows), {arguments})")
    assert table.columns[3:] == ["subscription_id", "priority", "overlap", "severity", "title", "version", "status"]
    found = table.drop("x", "s").orderBy("n").collect()
    assert sorted(map(str, found)) == sorted(map(str, by_row))
    live = {row["subscription_id"] for row in found if row["status"] == "live"}
    assert live <= {rule["id"] for rule in having(described, "live", "win", "mac")}
    counts = spark.sql(
        f"SELECT status, count(*) FROM match_subscriptions('answers', TABLE(answer_rows), {arguments}) GROUP BY status"
    ).collect()
    assert dict(map(tuple, counts)) == {
        status: sum(row["status"] == status for row in found) for status in ("live", "shadow")
    }
    # Without shadow, counting by rule has a plan of its own.
    for id, title, count in spark.sql(
        "SELECT subscription_id, title, count(*) FROM match_subscriptions('answers', TABLE(answer_rows), fields => "
        "array('title')) GROUP BY ALL"
    ).collect():
        assert count == sum(id in row.ids for row in _ids(rows))
        assert title == in_catalog(spark)[id][2]


def _ids(rows: DataFrame) -> list[Any]:
    return sparkrules.match(rows, "answers", "m").selectExpr("m.ids").collect()


def test_what_nobody_reads_is_not_computed(spark: SparkSession, rows: DataFrame, described: Any) -> None:
    found = sparkrules.match(rows, "answers", "m", fields=["title"], shadow=True, tags=["win"])

    def plan(*columns: str) -> str:
        return str(found.selectExpr(*columns)._jdf.queryExecution().optimizedPlan())  # type: ignore[operator]

    assert "shadow" not in plan("m.ids")
    assert "matches" not in plan("m.ids")
    assert "tagged win" in plan("m.ids")
    assert plan("m.shadow").count("Match [") == 1
    assert plan("m.ids", "m.shadow").count("Match [") == 2
    assert "Match [" not in plan("n")


def test_a_filter_on_live_rules_keeps_the_rows_of_shadow_rules(
    spark: SparkSession, rows: DataFrame, tmp_path: Path
) -> None:
    rules = RuleSet("two_filters")
    rules.subscribe("high", "x > 9")
    rules.subscribe("low", "x < 0", status="shadow")
    rules.subscribe("none", "no_such_column > 0", status="draft")
    rules.publish(spark)
    rows.coalesce(1).write.parquet(str(tmp_path / "t"))
    stored = spark.read.parquet(str(tmp_path / "t"))
    found = sparkrules.match(stored, "two_filters", "m", shadow=True)
    for condition, expected in (
        ("size(m.ids) > 0", "x > 9"),
        ("size(m.shadow) > 0", "x < 0"),
        ("size(m.ids) > 0 OR size(m.shadow) > 0", "x > 9 OR x < 0"),
        ("array_contains(m.shadow, 'low')", "x < 0"),
    ):
        got = {row.n for row in found.where(condition).select("n").collect()}
        assert got == {row.n for row in rows.where(expected).select("n").collect()}, condition


def test_only_drafts(spark: SparkSession, rows: DataFrame) -> None:
    rules = RuleSet("drafts")
    rules.subscribe("a", "no_such_column > 1", status="draft", tags=["t"], metadata={"f": 1})
    rules.publish(spark)
    for engine in ENGINES:
        found = sparkrules.match(rows, "drafts", "m", shadow=True, fields=["f"], tags=["t"], engine=engine).collect()
        assert {(len(row.m.ids), len(row.m.shadow), len(row.m.matches)) for row in found} == {(0, 0, 0)}
        assert sparkrules.matches(rows, "drafts", engine=engine).count() == 0
    assert rules.match(pa.table({"x": [1]}), shadow=True).ids.to_pylist() == [[]]
    assert sparkrules.left_out(rows, "drafts").count() == 0


def test_a_rule_set_without_shadow_rules_has_none(spark: SparkSession, rows: DataFrame) -> None:
    rules = RuleSet("no_shadow")
    rules.subscribe("a", "x > 1")
    rules.publish(spark)
    for engine in ENGINES:
        found = sparkrules.match(rows, "no_shadow", "m", shadow=True, engine=engine)
        assert {len(row.m.shadow) for row in found.collect()} == {0}
        assert {row.status for row in sparkrules.matches(rows, "no_shadow", shadow=True, engine=engine).collect()} == {
            "live"
        }
    rules.subscribe("b", "x > 1", status="shadow")
    rules.publish(spark, merge="none")  # in a segment of its own
    assert {tuple(row.m.shadow) for row in sparkrules.match(rows, "no_shadow", "m", shadow=True).collect()} == {
        (),
        ("b",),
    }


def test_a_draft_or_shadow_rule_is_in_no_other_answer(spark: SparkSession, rows: DataFrame) -> None:
    rules = RuleSet("elsewhere")
    texts = {"live": "x > 3", "shadow": "x > 2", "draft": "x > 1"}
    rules.subscribe_all([{"id": id, "where": where, "status": id} for id, where in texts.items()])
    rules.sequence("p", ["shadow", "live"], within="1 hour")
    rules.count("q", "shadow", within="1 hour", at_least=1)
    rules.publish(spark)
    (region,) = spark.sql("SELECT overlap_subscriptions('elsewhere', x) FROM VALUES (5) AS t(x)").first() or ()
    assert region == ["live"]
    timed = rows.selectExpr("x", "timestamp_seconds(n) AS ts").where("x IS NOT NULL")
    assert sparkrules.detect(timed, "elsewhere", time="ts").count() == 0
    assert list(rules.detect(timed.toArrow(), time="ts")) == []
    assert [own.id for own in rules.explain({"x": 5})] == ["live"]
    assert [own.id for own in rules.explain({"x": 5}, ids=["draft"])] == ["draft"]
    assert rules.scan_filter().sql == "x > 3"
    assert rules.analyze(rows.select("x")) is not None
    found = sparkrules.match(rows, "elsewhere", "m", shadow=True).selectExpr("x", "m.ids", "m.shadow").collect()
    assert all((row.ids == ["live"], row.shadow == ["shadow"]) == ((row.x or 0) > 3, (row.x or 0) > 2) for row in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fields => array('titel')", "No rule of answers@.* has a field 'titel'.* There are: .*severity.*title"),
        ("fields => array('gone')", "No rule of answers@.* has a field 'gone'"),
        ("fields => array()", "fields => .* is empty"),
        ("fields => array('title', 'title')", "has 'title' twice"),
        ("fields => array('title', NULL)", "NULL or empty"),
        ("fields => array('title', '')", "NULL or empty"),
        ("fields => array(1)", "is not an array of strings"),
        ("fields => NULL", "is not an array of strings"),
        ("fields => array(s)", "is not a constant"),
        ("fields => array('Subscription_ID')", "there is a column 'Subscription_ID' of every match"),
        ("fields => array('title'), fields => array('on')", "two arguments 'fields'|DUPLICATE|duplicate"),
        ("tags => array('windows')", "No rule of answers@.* has the tag 'windows'. There are: lin, mac, win"),
        ("tags => array('gone')", "No rule of answers@.* has the tag 'gone'"),
        ("tags => array(s)", "is not a constant"),
        ("tags => array()", "is empty"),
        ("tags => 7", "is not an array of strings"),
        ("shadow => 1", "neither true nor false"),
        ("shadow => NULL", "neither true nor false"),
        ("field => array('title')", "has no argument 'field'. It takes"),
    ],
)
def test_arguments_that_are_wrong(
    spark: SparkSession, rows: DataFrame, described: Any, arguments: str, message: str
) -> None:
    for query in (
        f"SELECT match_subscriptions('answers', *, {arguments}) FROM answer_rows",
        f"SELECT * FROM match_subscriptions('answers', TABLE(answer_rows), {arguments})",
    ):
        if "(s)" in arguments and "TABLE" in query:
            continue  # there is no such column there
        with pytest.raises(PySparkException, match=message):
            spark.sql(query)


def test_names_that_clash_with_columns(spark: SparkSession, rows: DataFrame, described: Any) -> None:
    rows.withColumnRenamed("s", "title").createOrReplaceTempView("titled")
    with pytest.raises(PySparkException, match="the table has a column 'title' already"):
        spark.sql("SELECT * FROM match_subscriptions('answers', TABLE(titled), fields => array('title'))")
    for name in ("version", "priority", "OVERLAP"):
        with pytest.raises(PySparkException, match=f"there is a column '{name}' of every match"):
            spark.sql(f"SELECT * FROM match_subscriptions('answers', TABLE(titled), fields => array('{name}'))")
    with pytest.raises(RuleSetError, match="has a column 'title' already"):
        sparkrules.matches(spark.table("titled"), "answers", fields=["title"])
    with pytest.raises(RuleSetError, match="there is a column 'Version' already"):
        sparkrules.matches(rows, "answers", fields=["Version"])


@pytest.mark.parametrize("engine", ENGINES)
def test_wrong_arguments_in_python(spark: SparkSession, rows: DataFrame, described: Any, engine: Any) -> None:
    for options, message in (
        ({"fields": []}, "fields must be a list of names that are not empty"),
        ({"fields": [1]}, "names that are not empty"),
        ({"tags": ["win", "win"]}, "'win' is there twice"),
        ({"tags": {"win": 1}}, "must be a list of names"),
        ({"shadow": 1}, "must be True or False"),
        ({"fields": ["nothing"]}, "has a field 'nothing'"),
        ({"tags": ["nothing"]}, "has the tag 'nothing'"),
    ):
        with pytest.raises((RuleSetError, PySparkException), match=message):
            sparkrules.match(rows, "answers", engine=engine, **options)  # type: ignore[arg-type]


def test_odd_names(spark: SparkSession, rows: DataFrame) -> None:
    rules = RuleSet("odd_names")
    odd = ["it's", "a\\b", "${env:HOME}", "`x`", "é\n", "a b"]
    rules.subscribe("r", "x > 5", metadata={name: name for name in odd}, tags=["it's", "é", "a b", "a\\b"])
    rules.publish(spark)
    for engine in ENGINES:
        found = sparkrules.match(rows, "odd_names", "m", fields=odd, tags=["it's", "a\\b"], engine=engine)
        first = found.where("size(m.ids) > 0").first()
        assert first is not None
        assert tuple(first.m.matches[0]) == ("r", *odd)


def test_a_later_version_with_other_types(spark: SparkSession, rows: DataFrame) -> None:
    """A plan keeps the types with which it was resolved; what cannot be converted is NULL."""

    def publish(**metadata: Any) -> None:
        rules = RuleSet("changing")
        rules.subscribe("r", "x > 5", metadata=metadata, tags=["t"] if metadata else [])
        rules.publish(spark)

    publish(a=1, b="x", c=1.5, d=True)
    names = ["a", "b", "c", "d"]
    prepared = sparkrules.match(rows, "changing", "m", fields=names, tags=["t"]).where("size(m.ids) > 0")
    prepared.createOrReplaceTempView("prepared_matches")

    def values() -> set[Row]:
        lines = prepared.selectExpr("inline(m.matches)", "m.version").collect()
        again = spark.sql("SELECT inline(m.matches), m.version FROM prepared_matches").collect()
        assert lines == again
        return {tuple(line)[1:] for line in lines}

    assert values() == {(1, "x", 1.5, True, 1)}
    publish(a="text", b=7, c=2, d=[1])
    assert values() == {(None, "7", 2.0, None, 2)}
    publish(a=2.5, c="x", d=1, e=1)
    assert values() == {(None, None, None, None, 3)}
    publish()  # the tag is gone as well: no rule is asked, and nothing fails
    assert values() == set()


def test_a_stream_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    rules = RuleSet("answers_of_a_stream")
    rules.subscribe("r", "x > 5", metadata={"a": 1}, tags=["t"])
    rules.publish(spark)
    source = str(tmp_path / "in")
    spark.createDataFrame([(7,)], "x INT").write.parquet(source)
    read = spark.readStream.schema("x INT").option("maxFilesPerTrigger", 1).parquet(source)
    found = sparkrules.matches(read, "answers_of_a_stream", fields=["a"], tags=["t"], shadow=True)
    query = found.writeStream.format("memory").queryName("streamed_matches").start()
    try:
        query.processAllAvailable()
        other = RuleSet.load("answers_of_a_stream", spark.conf.get("spark.sparkrules.store"))
        other.unsubscribe("r")
        other.subscribe("r2", "x > 6", metadata={"a": "text"}, status="shadow", tags=["t"])
        other.publish(spark)
        spark.createDataFrame([(8,)], "x INT").write.mode("append").parquet(source)
        query.processAllAvailable()
        other.unsubscribe("r2")
        other.subscribe("r3", "x > 6")
        other.publish(spark)
        spark.createDataFrame([(9,)], "x INT").write.mode("append").parquet(source)
        query.processAllAvailable()
        lines = spark.sql("SELECT x, subscription_id, a, version, status FROM streamed_matches ORDER BY x").collect()
        assert list(map(tuple, lines)) == [(7, "r", 1, 1, "live"), (8, "r2", None, 2, "shadow")]
    finally:
        query.stop()


def test_many_selections_do_not_fill_the_cache(spark: SparkSession, rows: DataFrame) -> None:
    rules = RuleSet("many_tags")
    rules.subscribe_all([{"id": f"r{i}", "where": f"x > {i}", "tags": [f"t{i}"]} for i in range(80)])
    rules.publish(spark)
    for i in range(80):
        spark.sql(
            f"SELECT match_subscriptions('many_tags', *, tags => array('t{i}')).ids FROM answer_rows"
        )._jdf.queryExecution().optimizedPlan()  # type: ignore[operator]
    cache = spark._jvm.sparkrules.version.VersionCache  # type: ignore[union-attr]
    assert cache.cachedParts() <= 65


def test_named_values_of_an_old_version(spark: SparkSession, rows: DataFrame) -> None:
    rules = RuleSet("dated")
    rules.subscribe("r", "x > 5", metadata={"a": 1})
    rules.publish(spark)
    rules.unsubscribe("r")
    rules.subscribe("r", "x > 5", metadata={"b": 1}, tags=["t"])
    rules.publish(spark)
    old = spark.sql("SELECT match_subscriptions('dated@1', *, fields => array('a')) AS m FROM answer_rows")
    assert {row[0] for row in old.where("size(m.ids) > 0").selectExpr("m.version").collect()} == {1}
    with pytest.raises(PySparkException, match=r"No rule of dated@1 has the tag 't'\. No rule has tags"):
        spark.sql("SELECT match_subscriptions('dated@1', *, tags => array('t')) FROM answer_rows")


def test_without_spark(spark: SparkSession, rows: DataFrame, described: list[dict[str, Any]]) -> None:
    rules = RuleSet.load("answers", spark.conf.get("spark.sparkrules.store"))
    table = rows.orderBy("n").toArrow()
    for tags in (None, ["win"]):
        found = rules.match(table, shadow=True, tags=tags, fields=["score", "mixed"])
        by_spark = sparkrules.match(rows, "answers", "m", shadow=True, tags=tags).orderBy("n").collect()
        assert found.ids.to_pylist() == [row.m.ids for row in by_spark]
        assert found.shadow.to_pylist() == [row.m.shadow for row in by_spark]
        known = in_catalog(spark)
        pairs = found.pairs().to_pylist()
        assert all(
            (own["score"], own["mixed"]) == (known[own["subscription_id"]][1], known[own["subscription_id"]][4])
            for own in pairs
        )
