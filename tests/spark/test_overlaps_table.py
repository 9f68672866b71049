"""`overlaps('set')`, and the catalog's table of that name: `Advertisements.overlaps` for every SQL client."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from sparkrules import RuleSet
from sparkrules.store import Pairs, Store, publish_draft
from sparkrules.store.overlaps_file import write_overlaps
from tests.spark.oracle import settings
from tests.spark.stored_versions import read_arrow, write_arrow
from tests.store.resealed import reseal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUBSCRIPTIONS = {"hot": "t > 30", "cold": "t < 0", "mild": "t > 15 AND t < 25", "Rome": "contains(place, 'Rome')"}
PAIRS = [("attic", "Rome", False), ("attic", "hot", True), ("cellar", "Rome", False), ("cellar", "mild", True)]


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    with settings(spark, spark_sparkrules_store=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def alerts(store: Path) -> RuleSet:
    rules = RuleSet("alerts")
    rules.subscribe_all(SUBSCRIPTIONS)
    rules.advertise("cellar", "t > 10 AND t < 20")
    rules.advertise("attic", "t > 25")
    rules.store = store
    rules.publish()
    return rules


def rows(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def error(spark: SparkSession, query: str) -> str:
    with pytest.raises(PySparkException) as caught:
        spark.sql(query).collect()
    return str(caught.value)


@pytest.mark.usefixtures("alerts")
def test_it_has_a_row_for_each_pair(spark: SparkSession) -> None:
    table = spark.sql("SELECT * FROM overlaps('alerts')")
    assert table.columns == ["advertisement", "subscription", "certain"]
    assert [field.dataType.simpleString() for field in table.schema] == ["string", "string", "boolean"]
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == PAIRS
    assert rows(spark, "SELECT * FROM sparkrules.alerts.overlaps") == PAIRS


@pytest.mark.usefixtures("alerts")
def test_it_is_a_table_like_others(spark: SparkSession) -> None:
    assert rows(spark, "SELECT certain FROM overlaps('alerts') WHERE subscription = 'hot'") == [(True,)]
    assert rows(spark, "SELECT count(*) FROM overlaps('alerts')") == [(4,)]
    joined = "SELECT a.advertisement, b.advertisement FROM overlaps('alerts') a JOIN overlaps('alerts') b "
    assert len(rows(spark, joined + "USING (subscription)")) == 6
    assert rows(
        spark,
        "SELECT id, subscription, certain FROM sparkrules.alerts.advertisements "
        "JOIN overlaps('alerts') ON id = advertisement WHERE `where` LIKE '%10%'",
    ) == [("cellar", "Rome", False), ("cellar", "mild", True)]


def test_advertisements_are_a_table(spark: SparkSession, store: Path) -> None:
    rules = RuleSet("alerts", dialect="postgres")
    rules.subscribe("a", "t > 3")
    rules.store = store
    rules.publish()
    assert rows(spark, "SELECT * FROM sparkrules.alerts.advertisements") == []
    rules.advertise("attic", "room ~ '^a'")
    rules.publish()
    expected = [("attic", "room ~ '^a'", rules.advertisements["attic"].sql)]
    assert rows(spark, "SELECT * FROM sparkrules.alerts.advertisements") == expected
    assert rows(spark, "SELECT * FROM sparkrules.alerts.advertisements VERSION AS OF 1") == []


def test_without_advertisements_it_is_empty(spark: SparkSession, store: Path) -> None:
    rules = RuleSet("alerts")
    rules.subscribe("a", "t > 3")
    rules.store = store
    rules.publish()
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == []
    rules.advertise("attic", "t > 3")
    rules.unsubscribe("a")
    rules.publish()
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == []


def test_it_follows_the_newest_version_unless_one_is_named(spark: SparkSession, alerts: RuleSet) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW pairs_of_alerts AS SELECT * FROM overlaps('alerts')")
    spark.sql("SELECT * FROM pairs_of_alerts").cache().count()
    alerts.unsubscribe("Rome")
    alerts.subscribe("warm", "t = 27 AND place IS NULL")
    alerts.publish()
    after = sorted(tuple(pair) for pair in alerts.advertisements.overlaps())
    assert ("attic", "warm", True) in after
    assert rows(spark, "SELECT * FROM pairs_of_alerts") == after
    assert rows(spark, "SELECT * FROM overlaps('alerts@2')") == after
    assert rows(spark, "SELECT * FROM overlaps('alerts@1')") == PAIRS
    assert rows(spark, "SELECT * FROM sparkrules.alerts.overlaps VERSION AS OF 1") == PAIRS
    with settings(spark, spark_sparkrules_ruleset="alerts@1"):
        assert rows(spark, "SELECT * FROM overlaps()") == PAIRS


@pytest.mark.usefixtures("alerts")
def test_versions_that_sql_makes_have_it_too(spark: SparkSession) -> None:
    spark.sql("CALL sparkrules.unsubscribe('alerts', array('hot', 'cold'))")
    left = [pair for pair in PAIRS if pair[1] != "hot"]
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == left
    assert rows(spark, "SELECT count(*) FROM overlaps('alerts')") == [(3,)]
    spark.sql("CALL sparkrules.rollback('alerts', 1)")
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == PAIRS


def test_a_publisher_goes_on_from_a_version_that_sql_made(spark: SparkSession, alerts: RuleSet, store: Path) -> None:
    spark.sql("CALL sparkrules.unsubscribe('alerts', 'hot')")
    alerts.subscribe("warm", "t = 27")
    alerts.publish()
    loaded = RuleSet.load("alerts", store)
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == sorted(
        tuple(pair) for pair in loaded.advertisements.overlaps()
    )
    assert "hot" not in loaded
    assert "warm" in loaded


def test_where_pairs_are_missing_it_says_what_to_do(
    spark: SparkSession, alerts: RuleSet, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(publish_draft.__globals__["overlap_files"].__globals__, "UNASKED", 50)
    alerts.subscribe_all({f"r{number}": f"t = {number}" for number in range(50)})
    alerts.publish()
    message = error(spark, "SELECT * FROM overlaps('alerts')")
    assert "alerts@2 overlap has not been computed" in message
    advice = message[message.index("RuleSet.load(") : message.index(" computes it.")]
    assert eval(advice, {"RuleSet": RuleSet}) == 3
    assert rows(spark, "SELECT * FROM overlaps('alerts')") == sorted(
        tuple(pair) for pair in RuleSet.load("alerts", store).advertisements.overlaps()
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("overlaps(1)", "takes the name of a rule set"),
        ("overlaps('alerts', 'b')", "takes the name of a rule set"),
        ("overlaps(name => 'alerts')", "takes the name of a rule set"),
        ("overlaps()", r"name one in the call, overlaps\('alerts'\), or set spark.sparkrules.ruleset"),
        ("overlaps('nope')", "There is no rule set 'nope'"),
        ("overlaps('alerts@7')", "no version 7"),
        ("overlaps('../alerts')", "is not the name of a rule set"),
    ],
)
@pytest.mark.usefixtures("alerts")
def test_what_it_does_not_take(spark: SparkSession, call: str, message: str) -> None:
    with settings(spark, spark_sparkrules_ruleset=""), pytest.raises(PySparkException, match=message):
        spark.sql(f"SELECT * FROM {call}").collect()


def condition(chance: random.Random, depth: int = 2) -> str:
    if depth == 0 or chance.random() < 0.2:
        name = chance.choice("abc")
        if chance.random() < 0.15:
            return f"{name} IS {chance.choice(['', 'NOT '])}NULL"
        return f"{name} {chance.choice(['=', '<>', '<', '<=', '>', '>='])} {chance.randrange(4)}"
    parts = [condition(chance, depth - 1) for _ in range(chance.randrange(2, 4))]
    whole = f"({chance.choice([' AND ', ' AND ', ' OR ']).join(parts)})"
    return f"NOT {whole}" if chance.random() < 0.15 else whole


@pytest.mark.parametrize("schema", [None, pa.schema([(name, pa.int32()) for name in "abc"])])
def test_it_says_what_python_says_and_misses_no_pair_that_a_row_has(
    spark: SparkSession, store: Path, schema: pa.Schema | None
) -> None:
    chance = random.Random(7)
    subscriptions = {f"s{number}": condition(chance) for number in range(60)}
    advertisements = {f"a{number}": condition(chance) for number in range(12)}
    made = RuleSet("alerts")
    for number, (id, where) in enumerate(subscriptions.items()):
        made.subscribe(id, where)
        if number % 20 == 19:
            for own, text in list(advertisements.items())[number // 5 - 3 : number // 5 + 1]:
                made.advertise(own, text)
            made.store = store
            made.publish(merge="none", overlaps=False if schema is None else schema)
    made.unsubscribe("s3")
    made.unsubscribe("s33")
    made.publish(merge="none")
    assert len(Store(store).manifest("alerts").segments) == 3
    got = rows(spark, "SELECT * FROM overlaps('alerts')")
    assert got == sorted(tuple(pair) for pair in made.advertisements.overlaps(schema=schema))

    values = [None, -1, 0, 1, 2, 3, 4]
    columns = zip(*itertools.product(values, repeat=3), strict=True)
    world = pa.table(dict(zip("abc", map(list, columns), strict=True)), pa.schema([(n, pa.int32()) for n in "abc"]))
    sources = RuleSet("sources")
    sources.subscribe_all(advertisements)
    truth = set()
    matches = zip(sources.match(world).ids.to_pylist(), made.match(world).ids.to_pylist(), strict=True)
    for own, theirs in matches:
        truth.update(itertools.product(own, theirs))
    pairs = {(own, subscription) for own, subscription, _ in got}
    assert truth <= pairs
    assert {(own, subscription) for own, subscription, certain in got if certain} <= truth
    assert len(advertisements) * len(made) - len(pairs) > 50
    if schema is not None:
        assert truth == pairs


class TestDamage:
    def file(self, store: Path) -> Path:
        (file,) = (store / "alerts" / "overlaps").iterdir()
        return file

    @pytest.mark.usefixtures("alerts")
    @pytest.mark.parametrize(("own", "row", "what"), [(2, 0, "advertisement 2"), (0, 4, "subscription 4")])
    def test_a_row_that_is_not_there(self, spark: SparkSession, store: Path, own: int, row: int, what: str) -> None:
        write_overlaps(self.file(store), Pairs(np.array([own]), np.array([row]), np.array([True])), None)
        reseal(store / "alerts")
        assert f"there is no {what}" in error(spark, "SELECT * FROM overlaps('alerts')")

    @pytest.mark.usefixtures("alerts")
    def test_files_that_are_something_else(self, spark: SparkSession, store: Path) -> None:
        file = self.file(store)
        whole = file.read_bytes()
        table = read_arrow(file)
        for content in (b"", whole[: len(whole) // 2], b"\0" * len(whole)):
            file.write_bytes(content)
            assert f"{file.name} is damaged" in error(spark, "SELECT * FROM overlaps('alerts')")
        write_arrow(file, table.drop_columns(["certain"]))
        reseal(store / "alerts")
        assert "it has no column 'certain'" in error(spark, "SELECT * FROM overlaps('alerts')")
        write_arrow(file, table.set_column(2, "certain", pa.array([1] * 4, pa.int32())))
        reseal(store / "alerts")
        assert "the column 'certain' has the type" in error(spark, "SELECT * FROM overlaps('alerts')")
        file.unlink()
        assert "is missing from the store" in error(spark, "SELECT * FROM overlaps('alerts')")

    @pytest.mark.usefixtures("alerts")
    @pytest.mark.parametrize("batch", [1, 3])
    def test_record_batches_do_not_matter(self, spark: SparkSession, store: Path, batch: int) -> None:
        write_arrow(self.file(store), read_arrow(self.file(store)), batch)
        reseal(store / "alerts")
        assert rows(spark, "SELECT * FROM overlaps('alerts')") == PAIRS

    @pytest.mark.parametrize("field", ["advertisements", "overlaps"])
    def test_a_name_that_leaves_the_store(self, spark: SparkSession, store: Path, alerts: RuleSet, field: str) -> None:
        manifest = Store(store).manifest("alerts")
        name = manifest.advertisements if field == "advertisements" else manifest.segments[0].overlaps
        file = store / "alerts" / "versions" / "1.json"
        file.write_text(file.read_text().replace(str(name), "../../secret"))
        reseal(store / "alerts")
        assert "is not the name of" in error(spark, "SELECT * FROM overlaps('alerts')")
        assert "is not the name of" in error(spark, "SELECT * FROM sparkrules.alerts.advertisements")
        assert "is not the name of" in error(spark, "SELECT overlap_advertisements('alerts', id) FROM range(1)")
