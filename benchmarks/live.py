"""Measures a rule set that changes while it is used: python -m benchmarks.live --rules 1000000

How long it takes until the next query sees an added or removed rule, and what matching costs with a version of several
segments, compared with the same rules in one. Auctions, Parquet, two cores; all in one run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from time import perf_counter

from pyspark.sql import DataFrame

import sparkrules
from benchmarks.session import bench_session
from sparkrules import RuleSet
from sparkrules.demo.auctions import AuctionRule, auction_rows, auction_rules, write_auctions

ROWS = 200_000
SMALL, SMALLS = 500, 10
RUNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=1_000_000)
    count: int = parser.parse_args().rules
    with tempfile.TemporaryDirectory() as directory, bench_session(Path(directory), "8g") as spark:
        store = str(Path(directory) / "store")
        write_auctions(auction_rows(ROWS, seed=1), Path(directory) / "rows", files=4)
        rows = spark.read.parquet(str(Path(directory) / "rows"))
        middle, small = count // 20, SMALL * SMALLS
        divisions = {
            "in one segment": [count],
            f"{SMALLS} segments of {SMALL} beside": [count - small, *[SMALL] * SMALLS],
            f"and one of {middle:,} beside": [count - small - middle, middle, *[SMALL] * SMALLS],
        }
        for number, sizes in enumerate(divisions.values()):
            _publish(f"rules{number}", auction_rules(count), sizes, store)
        spark.conf.set("spark.sparkrules.store", store)
        print(f"{count:,} rules, {ROWS:,} rows\n\n| | seconds | x one segment | matches per row |\n|---|--:|--:|--:|")
        first = [_timed(lambda n=number: _matches(rows.limit(1), f"rules{n}"))[0] for number in range(len(divisions))]  # type: ignore[misc]
        runs: list[list[float]] = [[] for _ in divisions]
        for _ in range(RUNS + 2):  # alternating, so that other load on the machine affects all alike
            for number in range(len(divisions)):
                seconds, found = _timed(lambda n=number: _matches(rows, f"rules{n}"))  # type: ignore[misc]
                runs[number].append(seconds)
        best = [min(own[2:]) for own in runs]
        for name, seconds in zip(divisions, best, strict=True):
            print(f"| match, {name} | {seconds:.3f} | {seconds / best[0]:.2f} | {found / ROWS:.1f} |")
        for name, seconds in zip(divisions, first, strict=True):
            print(f"| bind and compile, {name} | {seconds:.2f} | | |")
        _changes(rows.limit(1_000).cache(), store)


def _publish(name: str, texts: Iterable[AuctionRule], sizes: list[int], store: str) -> None:
    rules = RuleSet(name, store=store)
    remaining = iter(texts)
    for size in sizes:
        rules.subscribe_all(islice(remaining, size))
        rules.publish(merge="none")


def _changes(rows: DataFrame, store: str) -> None:
    def query() -> int:
        return _matches(rows, "rules0")

    query()
    unchanged = min(_timed(query)[0] for _ in range(RUNS))
    print(f"| a query of 1,000 rows, nothing changed | {unchanged:.3f} | | |")
    before = query()
    changes: list[tuple[str, Callable[[RuleSet, int], None], int]] = [
        ("added", _add, 1_000),
        ("removed", _remove, -1_000),
    ]
    for step, change, expected in changes:
        taken = []
        for number in range(RUNS):
            start = perf_counter()
            rules = RuleSet.load("rules0", store)
            change(rules, number)
            rules.publish()
            found = query()
            taken.append(perf_counter() - start)
            if found != before + expected:
                raise AssertionError(f"{step}: {found - before} more matches, not {expected}")
            before = found
        print(f"| a rule {step}: load, publish, query of 1,000 rows | {min(taken):.3f} to {max(taken):.3f} | | |")


def _add(rules: RuleSet, number: int) -> None:
    rules.subscribe(f"new-{number}", f"price >= 0 OR price < {number} OR price IS NULL")


def _remove(rules: RuleSet, number: int) -> None:
    rules.unsubscribe(f"new-{number}")


def _matches(rows: DataFrame, name: str) -> int:
    matched = sparkrules.match(rows, name).selectExpr("sum(size(matches.ids))")
    return int(matched.collect()[0][0] or 0)


def _timed(run: Callable[[], int]) -> tuple[float, int]:
    start = perf_counter()
    found = run()
    return perf_counter() - start, found


if __name__ == "__main__":
    main()
