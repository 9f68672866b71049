"""Measures how fast rules of different shapes are compiled and published: python -m benchmarks.shapes --rules 100000

The mixes of the thesis: hardly two rules differ only in constants. Seconds are those of the processor, of one process.
The first 10,000 rules are also parsed with bare sqlglot, which builds no index.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from time import process_time

import sqlglot

from benchmarks.workloads.thesis import MIXES, thesis
from sparkrules import RuleSet
from sparkrules.rules.compile import compile_texts
from sparkrules.sql.template import lift

COMPARED = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=100_000)
    parser.add_argument("--only", nargs="+", choices=[mix.name for mix in MIXES])
    options = parser.parse_args()
    print("| mix | rules | shapes | compiled and published, s | 10,000: sqlglot, s | compiled, s | times faster |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for workload in thesis(options.rules):
        if options.only and workload.variant not in options.only:
            continue
        rules = list(workload.rules())
        texts = [text for _, text in rules[:COMPARED]]
        shapes = len({lift(text)[0] for _, text in rules})
        with tempfile.TemporaryDirectory() as store:
            start = process_time()
            rule_set = RuleSet("shapes", store=store)
            rule_set.subscribe_all(rules)
            rule_set.publish()
            whole = process_time() - start
        start = process_time()
        for text in texts:
            sqlglot.parse_one(text, read="spark")
        bare = process_time() - start
        gc.collect()
        gc.disable()  # as `subscribe_all` does
        start = process_time()
        compile_texts(texts)
        own = process_time() - start
        gc.enable()
        columns = f"{whole:.1f} | {bare:.2f} | {own:.2f} | {bare / own:.1f}"
        print(f"| {workload.variant} | {len(rules):,} | {shapes:,} | {columns} |", flush=True)


if __name__ == "__main__":
    main()
