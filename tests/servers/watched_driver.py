"""An application with a UI, an event log and metrics, whose tasks fail at first: writes what can be seen of its rules.

python -m tests.servers.watched_driver result.json store events
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession

import sparkrules

HOSTILE = "<script>alert(1)</script>\" onload='x' &amp; \u202e"


def failing_at_first(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The rows; a first attempt fails when it has given some of them."""
    task = TaskContext.get()
    assert task is not None
    for n, row in enumerate(rows):
        if n == 20 and task.attemptNumber() == 0:
            raise RuntimeError("the first attempt fails")
        yield row


def main(result: str, store: str, events: str) -> None:
    servlet = "spark.metrics.conf.*.sink.prometheusServlet"
    builder = (
        SparkSession.builder.master("local[2,4]")  # a task has four attempts
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", Path(events).as_uri())
        .config(f"{servlet}.class", "org.apache.spark.metrics.sink.PrometheusServlet")
        .config(f"{servlet}.path", "/metrics/prometheus")
    )
    spark = sparkrules.configure(builder, store=store).getOrCreate()
    address = spark.sparkContext.uiWebUrl

    def page(path: str) -> str:
        with urllib.request.urlopen(f"{address}{path}", timeout=60) as answer:
            text: str = answer.read().decode()
            return text

    rules = sparkrules.RuleSet("watched")
    rules.subscribe(HOSTILE, "n % 2 = 1")
    rules.subscribe("a-b", "n < 10")
    rules.subscribe("a_b", "n < 5 AND s = 'x'")
    rules.subscribe("failing", "CAST(s AS INT) > 3")
    rules.subscribe("never", "n < 0")
    before = page("/jobs/")
    rdd = spark.sparkContext.parallelize([(n, "x") for n in range(200)], 4).mapPartitions(failing_at_first)
    seen = sparkrules.RuleMetrics()
    matched = sparkrules.match(spark.createDataFrame(rdd, "n INT, s STRING"), rules, observe=seen)
    matched.write.format("noop").mode("overwrite").save()
    matched.orderBy("s").collect()
    (first, second) = seen.runs
    stages = json.loads(page(f"/api/v1/applications/{spark.sparkContext.applicationId}/stages"))
    written = {
        "application": spark.sparkContext.applicationId,
        "failed tasks": sum(stage["numFailedTasks"] for stage in stages),
        "rows": [first.rows, second.rows],
        "hits": [first.hits, second.hits],
        "errors": first.rule_errors,
        "tab before": 'href="/rules/"' in before,
        "rules": page("/rules/"),
        "run": page(f"/rules/?run={first.run}"),
        "no run": page("/rules/?run=99") + page("/rules/?run=99'%3Cscript%3E"),
        "execution": page(f"/SQL/execution/?id={first.execution}"),
        "prometheus": page("/metrics/prometheus"),
    }
    spark.stop()
    Path(result).write_text(json.dumps(written))


if __name__ == "__main__":
    main(*sys.argv[1:])
