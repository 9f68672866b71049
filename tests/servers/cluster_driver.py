"""A driver whose executors are other processes; test_cluster.py runs it in a separate process.

python -m tests.servers.cluster_driver RESULT_FILE MASTER STORE SERIALIZER...

Runs one session per serializer, one after another, and writes what they saw as an object by serializer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.functions import udf

import sparkrules
from sparkrules.sql import Policy
from tests.spark.all_types import all_types, random_rules
from tests.spark.logins import alerts, detected, detected_in_stream, logins
from tests.spark.oracle import Pairs, pairs_by_plugin, pairs_by_where, readable, rule_set

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

COPIES = 20  # of each of the 150 rows


def main(result: str, master: str, store: str, *serializers: str) -> None:
    rules = random_rules(60)
    truth: Pairs = set()
    seen = {}
    for serializer in serializers:
        spark = session(master, store, serializer)
        truth = truth or pairs_by_where(many_rows(spark), rules)
        seen[serializer] = matched(spark, rules, truth)
        directory = Path(store).parent / f"logins-{serializer}"
        seen[serializer]["detected"] = detected(logins(spark), alerts("logins"))
        seen[serializer]["detected in a stream"] = detected_in_stream(logins(spark), alerts("logins"), directory)
        spark.stop()
    Path(result).write_text(json.dumps(seen), encoding="utf-8")


def session(master: str, store: str, serializer: str) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .config("spark.cores.max", 2)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.executor.cores", 1)
        .config("spark.executor.memory", "512m")
        # No task starts before both executors are there.
        .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "90s")
        .config("spark.scheduler.minRegisteredResourcesRatio", 1.0)
        .config("spark.serializer", f"org.apache.spark.serializer.{serializer}")
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    return sparkrules.configure(builder, store=store).getOrCreate()


def matched(spark: SparkSession, rules: dict[str, str], truth: Pairs) -> dict[str, object]:
    df = many_rows(spark)
    spark.sparkContext.setJobGroup("match", "matching")
    ours = pairs_by_plugin(df, rule_set("cluster", rules))
    spark.sparkContext.setJobGroup("overlaps", "overlapping")
    books = spark.createDataFrame([(5, "new"), (20, "new")], "price INT, state STRING").repartition(2)
    two = rule_set("two", {"cheap": "price < 10 AND state = 'new'", "new": "state = 'new'"})
    overlaps = {row.price: row.matches.overlaps for row in sparkrules.match(books, two).collect()}
    return {
        "serializer": spark.sparkContext.getConf().get("spark.serializer"),
        "rows": df.count(),
        "pairs": len(truth),
        "wrongly matched": readable(ours - truth, rules)[:20],
        "not matched": readable(truth - ours, rules)[:20],
        "tasks of executors": tasks_of_executors(spark.sparkContext, "match"),
        "overlaps": [overlaps[5], overlaps[20]],
        "with Python functions": with_python_functions(spark, df),
    }


def with_python_functions(spark: SparkSession, df: DataFrame) -> dict[str, object]:
    """Which rows differ from WHERE, how many calls there were, and how many a limit leaves, over both executors."""
    calls = spark.sparkContext.accumulator(0)

    def counted(x: int | None) -> int | None:
        calls.add(1)
        return x

    spark.udf.register("counted", counted, "int")
    spark.udf.register("shown", udf(lambda x, s: f"{x}{s}", "string", useArrow=True))
    rules = {"few": "row % 100 = 7 AND counted(row) > 50", "some": "row % 100 = 7 AND shown(row, 'x') LIKE '1%7x'"}
    truth = pairs_by_where(df, {"few": "row % 100 = 7 AND row > 50", "some": "row % 100 = 7 AND row LIKE '1%7'"})
    functions = {"counted", "shown"}
    spark.sparkContext.setJobGroup("calls", "calling Python functions")
    ours = pairs_by_plugin(df, rule_set("calls", rules, Policy(extra_functions=functions)))
    made = calls.value
    limited = pairs_by_plugin(df, rule_set("calls", rules, Policy(extra_functions=functions, max_calls=20)))
    limited_calls = calls.value - made

    def lost_at_first(x: int | None) -> int | None:
        from pyspark import TaskContext

        task = TaskContext.get()
        if task is not None and task.partitionId() == 3 and task.attemptNumber() == 0:
            os._exit(1)
        return x

    spark.udf.register("counted", lost_at_first, "int")
    retried = pairs_by_plugin(df, rule_set("calls", rules, Policy(extra_functions=functions)))
    return {
        "differ": sorted(ours ^ truth),
        "pairs": len(truth),
        "calls": made,
        "limited": limited_calls,
        "differ after a lost worker": sorted(retried ^ truth),
        "are among them": limited <= truth,
        "tasks of executors": tasks_of_executors(spark.sparkContext, "calls"),
    }


def many_rows(spark: SparkSession) -> DataFrame:
    few = all_types(spark)
    others = [column for column in few.columns if column != "row"]
    copies = few.crossJoin(spark.range(COPIES).withColumnRenamed("id", "copy"))
    return copies.selectExpr(f"row * {COPIES} + CAST(copy AS INT) AS row", *others).repartition(8).localCheckpoint()


def tasks_of_executors(context: SparkContext, group: str) -> dict[str, int]:
    """How many tasks of a job group each executor has done."""
    tasks: dict[str, int] = {}
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            done = store.executorSummary(stage, 0).iterator()
            while done.hasNext():
                entry = done.next()
                tasks[entry._1()] = tasks.get(entry._1(), 0) + entry._2().succeededTasks()
    return tasks


if __name__ == "__main__":
    main(*sys.argv[1:])
