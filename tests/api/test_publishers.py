"""Python and the JVM publish by the same specification: `docs/store-format.md`, "Publishing".

Each operation runs with both publishers, which must pass the same checks. `tests/store/test_crashes.py` kills the
Python publisher before each of its steps. Here we build the states that a dying publisher can leave from its files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkrules import RuleSet
from sparkrules.store import Store
from tests.spark.oracle import settings
from tests.store.conformance import check_conformance, crashed_states

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Publish = Callable[["SparkSession", Path], None]
OLD = {f"r{number}" for number in range(1_200)} | {"late"}


def python_unsubscribe(_spark: SparkSession, store: Path) -> None:
    rules = RuleSet.load("alerts", store)
    rules.unsubscribe("r7")
    rules.publish(merge="none")


def python_rollback(_spark: SparkSession, store: Path) -> None:
    RuleSet.load("alerts", store).rollback(1)


def jvm_unsubscribe(spark: SparkSession, store: Path) -> None:
    with settings(spark, spark_sparkrules_store=str(store)):
        spark.sql("CALL sparkrules.unsubscribe('alerts', 'r7')").collect()


def jvm_rollback(spark: SparkSession, store: Path) -> None:
    with settings(spark, spark_sparkrules_store=str(store)):
        spark.sql("CALL sparkrules.rollback('alerts', 1)").collect()


UNSUBSCRIBE = OLD - {"r7"}
ROLLBACK = OLD - {"late"}
OPERATIONS: list[tuple[Publish, set[str]]] = [
    (python_unsubscribe, UNSUBSCRIBE),
    (jvm_unsubscribe, UNSUBSCRIBE),
    (python_rollback, ROLLBACK),
    (jvm_rollback, ROLLBACK),
]


@pytest.fixture
def pristine(tmp_path: Path) -> Path:
    rules = RuleSet("alerts", store=tmp_path / "pristine")
    rules.subscribe_all((id, f"a = {id[1:]}") for id in sorted(OLD - {"late"}))
    rules.publish()
    rules.subscribe("late", "b = 1")
    rules.publish(merge="none")
    return tmp_path / "pristine"


@pytest.mark.parametrize(("publish", "expected"), OPERATIONS, ids=[own.__name__ for own, _ in OPERATIONS])
def test_either_publisher_keeps_to_the_specification(
    spark: SparkSession, pristine: Path, tmp_path: Path, publish: Publish, expected: set[str]
) -> None:
    after = tmp_path / "after"
    shutil.copytree(pristine, after)
    publish(spark, after)
    check_conformance(after, "alerts")
    assert Store(after).manifest("alerts").parent == 2
    assert read_by_python(after) == read_by_jvm(spark, after) == expected

    states = crashed_states(pristine, after)
    for number, state in enumerate(states):
        store = tmp_path / f"crashed-{number}"
        shutil.copytree(pristine, store)
        for file in state:
            (store / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(after / file, store / file)
        (store / "alerts" / "versions" / f".{number:032x}.tmp").write_text("{", encoding="utf-8")
        is_published = number == len(states) - 1
        check_conformance(store, "alerts", finished=False)
        assert read_by_python(store) == (expected if is_published else OLD)
        Store(store).collect_garbage("alerts", keep=1, older_than=timedelta(0))
        check_conformance(store, "alerts")
        assert read_by_python(store) == (expected if is_published else OLD)
    # The JVM reads from the store between two steps as well.
    assert read_by_jvm(spark, tmp_path / "crashed-0") == OLD


def test_publishers_build_on_each_other(spark: SparkSession, pristine: Path) -> None:
    expected = set(OLD)
    for number, (id, publish) in enumerate([("r1", "jvm"), ("r2", "python"), ("r3", "jvm"), ("r4", "python")], 3):
        if publish == "jvm":
            with settings(spark, spark_sparkrules_store=str(pristine)):
                spark.sql(f"CALL sparkrules.unsubscribe('alerts', '{id}')").collect()
        else:
            rules = RuleSet.load("alerts", pristine)
            rules.unsubscribe(id)
            rules.publish()
        expected -= {id}
        check_conformance(pristine, "alerts")
        assert Store(pristine).versions("alerts")[-1] == number
        assert read_by_python(pristine) == read_by_jvm(spark, pristine) == expected


def read_by_python(store: Path) -> set[str]:
    return set(RuleSet.load("alerts", store).subscriptions)


def read_by_jvm(spark: SparkSession, store: Path) -> set[str]:
    with settings(spark, spark_sparkrules_store=str(store)):
        return {row.id for row in spark.sql("SELECT id FROM sparkrules.alerts.subscriptions").collect()}
