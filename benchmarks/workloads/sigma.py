"""Real detection rules and real Windows events: the Sigma corpus, if present. It is not part of the project."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workloads.workload import RuleText, Workload
from tests.spark.sigma import DATA as USUAL_PLACE
from tests.spark.sigma import without_slow_searches

DATA = Path(os.environ.get("SPARKRULES_SIGMA") or USUAL_PLACE)
_MISSING_IN_SPARK = "ip_cidr_contains"


def sigma() -> list[Workload]:
    """All rules that Spark accepts, or nothing if there is no corpus."""
    rules, events = DATA / "rules.jsonl", DATA / "events.parquet"
    if not (rules.exists() and events.exists()):
        print(f"sigma: left out, there is no corpus in {DATA}")
        return []
    made = Workload(
        family="sigma",
        variant="",
        size=sum(1 for _ in _rules()),
        rules=_rules,
        rows=_events,
        generators=(str(rules), str(events), __file__),
        rows_name="sigma",
        traits={"left out": f"rules with {_MISSING_IN_SPARK}, which Spark lacks"},
        peer_rows=2_000,
        for_plain_spark=without_slow_searches,
    )
    return [made]


def _rules() -> Iterator[RuleText]:
    with (DATA / "rules.jsonl").open(encoding="utf-8") as lines:
        for rule in map(json.loads, lines):
            if _MISSING_IN_SPARK not in rule["where"]:
                yield rule["id"], rule["where"]


def _events(count: int) -> pa.Table:
    """Events in random order: the file groups them by attack, but the first ones must be a sample."""
    events = pq.read_table(DATA / "events.parquet")
    return events.take(np.random.default_rng(0).permutation(events.num_rows)[:count])
