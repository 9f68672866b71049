"""The process of the attack suite: reads, publishes, plans and runs rules beside an innocent one.

`python -m tests.hostile.rule_child DIRECTORY`; the store and the table go into the directory.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import sparkrules
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.sql import Policy, Predicate, parse_rule
from sparkrules.store import Store
from tests.hostile.attacks.pieces import SECRET
from tests.hostile.child import answer_questions, claimed_answers
from tests.specification.publish_tables import publish_tables

# One row of everything that attacks are aimed at; a second one is all NULL but for `a`.
ROW = {
    "a": "1",
    "s": "repeat('a', 30)",
    "t": "repeat('a', 60000)",
    "w": "array_join(transform(sequence(1, 8000), y -> concat('w', y)), ' ')",
    "p": "'(?:(?:){2147483647}){2147483647}'",
    "xs": "sequence(1, 1000)",
    "ys": "transform(sequence(1, 1000), y -> concat('w', y))",
    "aa": "transform(sequence(1, 2000), y -> array(y, y + 1))",
    "m": "map_from_arrays(transform(sequence(1, 100), y -> concat('w', y)), sequence(1, 100))",
    "j": "concat('[', repeat('{\"a\":[1,{\"b\":\"x\"}]},', 2000), '1]')",
    "deepjson": "concat(repeat('[', 20000), repeat(']', 20000))",
    "x": "concat('<r>', repeat('<a><b>1</b></a>', 200), '</r>')",
    "deepxml": "concat(repeat('<a>', 3000), repeat('</a>', 3000))",
    "doctype": "'<!DOCTYPE a SYSTEM \"file:///nowhere/x.dtd\"><a>1</a>'",
    "b": "CAST('x' AS BINARY)",
    "d": "DATE'2024-02-29'",
    "ts": "TIMESTAMP'2024-02-29 01:02:03'",
    "n": "1.5D",
    "dec": "CAST(1.5 AS DECIMAL(38, 18))",
    "digits": "repeat('9', 60000)",
    "tiny": "'1E-500000000'",
    "huge": "'1E500000000'",
}
QUERY = "SELECT match_subscriptions('hostile', *).ids AS ids, subscription_errors('hostile', *) AS errors FROM hostile"
# What a deployment might have let in on top of the default list: the bounds have to hold for these as well.
POLICY = Policy(
    extra_functions=[
        "xpath",
        "xpath_string",
        "xpath_int",
        "xpath_boolean",
        "repeat",
        "space",
        "lpad",
        "rpad",
        "sequence",
        "array_repeat",
        "array_insert",
        "format_string",
        "printf",
        "format_number",
    ]
)


def main() -> None:
    answers = claimed_answers()
    home = Path(sys.argv[1])
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", "-XX:+ExitOnOutOfMemoryError")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sparkrules.invalidRules", "skip")
        # A bound that holds at a hundredth of its default holds, and a thousand attacks take minutes.
        .config("spark.sparkrules.steps", "20000000")
        .config("spark.sparkrules.bindSeconds", "4")
        .config("spark.hostile.secret", SECRET)
        .config("spark.sql.warehouse.dir", str(home / "warehouse"))
    )
    spark = sparkrules.configure(builder, store=home / "store").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    table = home / "table.parquet"
    if not table.exists():
        columns = [f"{sql} AS {name}" for name, sql in ROW.items()]
        row = spark.range(1).selectExpr(*columns)
        row.unionByName(
            row.selectExpr(*(f"nullif({c}, {c}) AS {c}" if c not in ("a", "m") else c for c in ROW))
        ).coalesce(1).write.parquet(str(table))
    spark.read.parquet(str(table)).createOrReplaceTempView("hostile")
    spark.sql(f"DECLARE OR REPLACE VARIABLE a_variable STRING DEFAULT '{SECRET}'")
    store = Store(home / "store")
    innocent = Rule("innocent", "a = 1", parse_rule("a = 1"))

    def publish(texts: list[str], past: bool) -> list[str]:
        """Why rules were refused."""
        if past:
            attacks = [Rule(f"attack{i}", text, Predicate(text, "is true")) for i, text in enumerate(texts)]
            publish_tables(store, "hostile", to_tables(build_segment([*attacks, innocent])))
            return []
        rules = sparkrules.RuleSet("hostile", policy=POLICY)
        rules.subscribe_all({f"attack{i}": text for i, text in enumerate(texts)} | {"innocent": "a = 1"})
        rules.publish(spark)
        return [rejected.reason for rejected in rules.rejected]

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        told: list[str] = []
        refused, ids, times = 0, [], [time.perf_counter()]
        try:
            told += publish(question["texts"], question["past"])
            refused = len(told)
            times.append(time.perf_counter())
            query = spark.sql(QUERY)
            told.append(query._jdf.queryExecution().toString())
            times.append(time.perf_counter())
            rows = query.collect()
            ids = [list(row.ids) for row in rows]
            told += [str(row.errors) for row in rows]
        except PySparkException as error:
            told.append(str(error))
        times += [time.perf_counter()] * (4 - len(times))
        parts = zip(("publish", "plan", "run"), times, times[1:], strict=False)
        return {
            "refused": refused,
            "seconds": {part: round(end - start, 2) for part, start, end in parts},
            "innocent": len(ids) == 2 and all("innocent" in found for found in ids),
            "leaked": any(SECRET in said for said in told),
            "said": told[-1][:500] if not ids else "",
        }

    jvm = spark._jvm
    assert jvm is not None
    answer({"texts": ["length(t) > 1"], "past": False})  # classes loaded, code compiled
    answer_questions(answer, jvm.java.lang.ProcessHandle.current().pid(), answers)


if __name__ == "__main__":
    main()
