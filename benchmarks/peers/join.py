"""A hand-written join: what a good SQL engineer would do for auctions, knowing the three classes of rules.

Each class becomes a table of its constants, joined on the equality that all its rules have, with the other conditions
in the join. Class 3 has two such equalities, so it needs two joins; the second omits what the first has found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.workloads.workload import RuleText

_CLASSES = {
    "by_condition": re.compile(
        r"title = '(?P<title>[^']*)' AND ending_within < (?P<ending>\d+) "
        r"AND \(condition = 'new' AND price < (?P<new>[\d.]+) OR condition = 'used' AND price < (?P<used>[\d.]+)\)"
    ),
    "by_format": re.compile(
        r"title = '(?P<title>[^']*)' AND ending_within < (?P<ending>\d+) AND \("
        r"condition = 'new' AND format = 'Softcover' AND price < (?P<new_soft>[\d.]+) OR "
        r"condition = 'new' AND format = 'Hardcover' AND price < (?P<new_hard>[\d.]+) OR "
        r"condition = 'used' AND format = 'Softcover' AND price < (?P<used_soft>[\d.]+) OR "
        r"condition = 'used' AND format = 'Hardcover' AND price < (?P<used_hard>[\d.]+)\)"
    ),
    "collectors": re.compile(
        r"\(category = '(?P<category>[^']*)' OR author = '(?P<author>[^']*)'\) AND signed "
        r"AND \(ending_within < (?P<ending>\d+) AND bids = 0 OR buy_it_now\)"
    ),
}
_TYPES: dict[str, Callable[[str], object]] = {"title": str, "category": str, "author": str, "ending": int}

_SOON = "r.signed AND (r.ending_within < s.ending AND r.bids = 0 OR r.buy_it_now)"
_JOINS = f"""
    SELECT r.auction, s.id FROM {{rows}} r JOIN {{by_condition}} s
    ON r.title = s.title AND r.ending_within < s.ending
    AND (r.condition = 'new' AND r.price < s.new OR r.condition = 'used' AND r.price < s.used)
  UNION ALL
    SELECT r.auction, s.id FROM {{rows}} r JOIN {{by_format}} s
    ON r.title = s.title AND r.ending_within < s.ending AND (
      r.condition = 'new' AND r.format = 'Softcover' AND r.price < s.new_soft OR
      r.condition = 'new' AND r.format = 'Hardcover' AND r.price < s.new_hard OR
      r.condition = 'used' AND r.format = 'Softcover' AND r.price < s.used_soft OR
      r.condition = 'used' AND r.format = 'Hardcover' AND r.price < s.used_hard)
  UNION ALL
    SELECT r.auction, s.id FROM {{rows}} r JOIN {{collectors}} s ON r.category = s.category AND {_SOON}
  UNION ALL
    SELECT r.auction, s.id FROM {{rows}} r JOIN {{collectors}} s
    ON r.author = s.author AND NOT r.category <=> s.category AND {_SOON}
"""


class RuleTables:
    """The auction rules as one table per class."""

    def __init__(self, spark: SparkSession, rules: Iterable[RuleText], directory: Path) -> None:
        self._spark = spark
        rows: dict[str, list[dict[str, object]]] = {name: [] for name in _CLASSES}
        for id, where in rules:
            name, constants = _constants(where)
            rows[name].append({"id": id, **constants})
        for name, table in rows.items():
            pq.write_table(pa.Table.from_pylist(table), directory / f"{name}.parquet")
        self._tables: dict[str, Any] = {name: spark.read.parquet(str(directory / f"{name}.parquet")) for name in rows}

    def match(self, df: DataFrame) -> int:
        """The number of matches, computed by collecting the ids for each auction."""
        pairs = self._spark.sql(_JOINS, rows=df, **self._tables)
        ids = pairs.groupBy("auction").agg({"id": "collect_list"}).toDF("auction", "ids")
        return int(ids.selectExpr("coalesce(sum(size(ids)), 0)").collect()[0][0])


def _constants(where: str) -> tuple[str, dict[str, object]]:
    for name, pattern in _CLASSES.items():
        found = pattern.fullmatch(where)
        if found:
            return name, {key: _TYPES.get(key, float)(text) for key, text in found.groupdict().items()}
    raise ValueError(f"no class of auction rules: {where}")
