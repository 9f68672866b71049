"""A session without the jar, classic or Connect; test_without_plugin.py runs it in a separate process.

python -m tests.servers.plain_client RESULT_FILE REMOTE   (REMOTE is `classic`, or the address of a server)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import sparkrules
from sparkrules.errors import PluginMissing
from tests.spark.all_types import all_types, random_rules
from tests.spark.oracle import differences, pairs_by_where, rule_set


def main(result: str, remote: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if remote == "classic":
        builder = builder.master("local[2]").config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
    else:
        builder = builder.remote(remote)
    spark = builder.getOrCreate()
    df, texts = all_types(spark, rows=60), random_rules(70, seed=3)
    rules = rule_set("plain", texts)
    seen: dict[str, object] = {"session": type(spark).__module__}
    try:
        sparkrules.match(df, rules)
    except PluginMissing as error:
        seen["plugin"] = str(error)
    matched = sparkrules.match(df, rules, engine="python").selectExpr("row", "matches.ids").collect()
    truth = pairs_by_where(df, texts)
    seen["differences"] = differences({(row, id) for row, ids in matched for id in ids}, truth, texts)
    seen["matches"] = [len(truth), sparkrules.matches(df, rules, engine="python").count()]
    Path(result).write_text(json.dumps(seen), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
