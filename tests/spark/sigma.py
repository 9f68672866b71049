"""The real corpus: Sigma's Windows rules over real events, and Spark's own answer for them, computed once and kept.

`python -m benchmarks.sigma` compares all rules over all events, which takes many minutes; `test_sigma` uses a sample.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from pyspark.errors import AnalysisException

from tests.spark.oracle import Pairs, batches, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "sigma"
TRUTHS = ROOT / "build" / "sigma"

RULES_PER_QUERY = 40
# A search for `.*(a|b).*` is one for `a|b`, but takes Java quadratic time: hours for a few rules over these events.
_SEARCH = re.compile(r"(rlike '\(\?iu\))\.\*(\((?:[^'\\]|\\.)*\))\.\*'")
SEARCH_AS = r"\1\2'"


@dataclass(frozen=True)
class Corpus:
    """Rules that Spark accepts and, with Spark's reason, those that it rejects, over a part of the events."""

    events: DataFrame
    rules: dict[str, str]
    rejected: dict[str, str]


def corpus(spark: SparkSession, every_rule: int = 1, every_event: int = 1) -> Corpus:
    """Every n-th rule over every n-th event; the events' column `row` is their position in the file."""
    events = spark.read.parquet(str(DATA / "events.parquet")).selectExpr("_metadata.row_index AS row", "*")
    if every_event > 1:
        events = events.where(f"row % {every_event} = 0").localCheckpoint()
    with (DATA / "rules.jsonl").open(encoding="utf-8") as lines:
        texts = {rule["id"]: rule["where"] for rule in map(json.loads, lines)}
    rules = dict(list(texts.items())[::every_rule])
    rejected: dict[str, str] = {}
    for batch in batches(rules, RULES_PER_QUERY):
        rejected |= rejected_by_spark(events, batch)
    return Corpus(events, {id: text for id, text in rules.items() if id not in rejected}, rejected)


def rejected_by_spark(events: DataFrame, rules: Mapping[str, str]) -> dict[str, str]:
    """Per rule that is no condition on these events for Spark: the function that it lacks, or what else it says."""
    try:
        events.selectExpr(*(f"({text}) IS TRUE" for text in rules.values()))
    except AnalysisException as error:
        if len(rules) == 1:
            unknown = re.search(r"Cannot resolve routine `(\w+)`", str(error))
            return dict.fromkeys(rules, unknown[1] if unknown else str(error).splitlines()[0])
        halves = batches(rules, (len(rules) + 1) // 2)
        return {id: reason for half in halves for id, reason in rejected_by_spark(events, half).items()}
    return {}


def without_slow_searches(text: str) -> str:
    """The same condition, with regular expressions that Java evaluates in linear time."""
    return _SEARCH.sub(SEARCH_AS, text)


def truth(part: Corpus) -> Pairs:
    """(row, rule) for every rule of the corpus that is true, according to Spark; from the last run where possible."""
    kept = TRUTHS / f"{_fingerprint(part)}.parquet"
    if not kept.exists():
        TRUTHS.mkdir(parents=True, exist_ok=True)
        pairs = _compute(part)
        unfinished = kept.with_suffix(".unfinished")
        pq.write_table(pa.table({"row": [row for row, _ in pairs], "rule": [id for _, id in pairs]}), unfinished)
        unfinished.replace(kept)
    table = pq.read_table(kept)
    return set(zip(table["row"].to_pylist(), table["rule"].to_pylist(), strict=True))


def _compute(part: Corpus) -> list[tuple[int, str]]:
    pairs: list[tuple[int, str]] = []
    # Generated code for so many rules is too long for Java to compile unless it is divided into methods.
    with settings(part.events.sparkSession, spark_sql_codegen_wholeStage="false"):
        for batch in batches(part.rules, RULES_PER_QUERY):
            tested = (f"IF({without_slow_searches(text)}, {at}, NULL)" for at, text in enumerate(batch.values()))
            found = part.events.selectExpr("row", f"array_compact(array({', '.join(tested)})) AS numbers").toArrow()
            found = found.combine_chunks()
            rows = found["row"].take(pc.list_parent_indices(found["numbers"])).to_pylist()
            numbers = pc.list_flatten(found["numbers"]).to_pylist()
            ids = list(batch)
            pairs += ((row, ids[at]) for row, at in zip(rows, numbers, strict=True))
    return pairs


def _fingerprint(part: Corpus) -> str:
    hashed = hashlib.sha256(pyspark.__version__.encode())
    hashed.update((DATA / "events.parquet").read_bytes())
    hashed.update(str(part.events.count()).encode())
    for id, text in sorted(part.rules.items()):
        hashed.update(f"{id}\0{text}\0".encode())
    return hashed.hexdigest()[:16]
