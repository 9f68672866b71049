"""Measures how fast rules are compiled, published and changed: python -m benchmarks.maintain --rules 1000000

First, auction rules from text to a published version, in a separate process to measure its memory. Then rules of 10,000
shapes, compared with bare sqlglot. Then changes of the published set, in this process and in fresh ones. One core.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import perf_counter

import sqlglot

from benchmarks.workloads.thesis import thesis
from sparkrules import RuleSet
from sparkrules.demo.auctions import auction_rules
from sparkrules.rules.compile import compile_texts
from sparkrules.sql.template import lift

SHAPES = 10_000

COMPILE = """
import resource
from time import perf_counter
from sparkrules import RuleSet
from sparkrules.demo.auctions import auction_rules
texts = list(auction_rules({count}))
start = perf_counter()
rules = RuleSet("big", store={store!r})
rules.subscribe_all(texts)
compiled = perf_counter()
rules.publish()
print(compiled - start, perf_counter() - compiled, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""

# Runs in a fresh process and measures after the import: this is the first thing that an operator's script does.
FRESH = """
from time import perf_counter
from sparkrules import RuleSet
start = perf_counter()
rules = RuleSet.load("big", {store!r})
{change}
rules.publish()
print(perf_counter() - start)
"""


class Table:
    """The measurements: a step, its seconds, and its number of rules."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, step: str, seconds: float, rules: int = 1, note: str = "") -> None:
        rate = f"{rules / seconds:,.0f}" if rules > 1 else ""
        self.lines.append(f"| {step:<52} | {seconds:8.3f} | {rate:>10} | {note} |")
        print(self.lines[-1], file=sys.stderr, flush=True)

    def measure(self, step: str, run: Callable[[], object], rules: int = 1, note: str = "") -> float:
        start = perf_counter()
        run()
        seconds = perf_counter() - start
        self.add(step, seconds, rules, note)
        return seconds

    def __str__(self) -> str:
        head = f"| {'step':<52} |  seconds |    rules/s | |\n|{'-' * 54}|---------:|-----------:|---|"
        return "\n".join([head, *self.lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=1_000_000)
    count: int = parser.parse_args().rules
    table = Table()
    with tempfile.TemporaryDirectory() as directory:
        for size in sorted({count // 10, count}):
            store = str(Path(directory) / f"store-{size}")
            compiled, published, memory = (float(word) for word in _fresh(COMPILE, count=size, store=store).split())
            note = f"peak of the process {memory:,.0f} MB, the texts and their generator included"
            table.add(f"{size:,} auction rules, from texts to an index", compiled, size)
            table.add(f"{size:,} auction rules, published", published, size)
            table.add(f"{size:,} auction rules, in all", compiled + published, size, note)
        _shapes(table)
        _sharing(table, count)
        _changes(table, count, store)
    print(table)


def _shapes(table: Table) -> None:
    (workload,) = (one for one in thesis(SHAPES) if one.variant == "or10")
    texts = [text for _, text in workload.rules()]
    shapes = len({lift(text)[0] for text in texts})
    bare = table.measure(
        f"{len(texts):,} rules of {shapes:,} shapes, bare sqlglot",
        lambda: [sqlglot.parse_one(text, read="spark") for text in texts],
        len(texts),
    )
    start = perf_counter()
    compile_texts(texts)
    seconds = perf_counter() - start
    table.add("the same, compiled", seconds, len(texts), f"{bare / seconds:.2f} of sqlglot's speed")


def _sharing(table: Table, count: int) -> None:
    rules = RuleSet("shared")
    rules.subscribe_all(islice(auction_rules(count), 100_000))
    start = perf_counter()
    found = rules.sharing(top=0)
    note = (
        f"SNPS {found.snps:.1%}, factored {found.snps_factored:.1%}; {found.nodes:,} and {found.nodes_factored:,} nodes"
    )
    table.add(f"{len(rules):,} auction rules, common parts found", perf_counter() - start, len(rules), note)


def _changes(table: Table, count: int, store: str) -> None:
    rules = RuleSet.load("big", store)
    others = [(f"other-{number}", rule.where) for number, rule in enumerate(auction_rules(count // 10, seed=7))]
    tenth = [id for number, id in enumerate(rules.subscriptions) if number % 10 == 0]
    table.measure("insert a tenth", lambda: rules.subscribe_all(others), len(others))
    table.measure("publish these", rules.publish)
    table.measure("delete a tenth by ids", lambda: rules.unsubscribe_all(tenth), len(tenth))
    table.measure("publish the deletions", rules.publish)
    rules.subscribe("one", "price < 3")
    table.measure("add one and publish", rules.publish)
    rules.unsubscribe("one")
    table.measure("remove one and publish", rules.publish)
    table.measure("what the first and the last version differ in", lambda: rules.diff(1))
    table.measure("merge all into one segment, and publish", lambda: rules.publish(merge="all"), len(rules))
    for step, change in {
        "add one": 'rules.subscribe("new", "price < 3 AND title = \'x\'")',
        "remove one": 'rules.unsubscribe("auction-11")',
        "read one": 'rules.subscriptions["auction-12"]',
    }.items():
        seconds = float(_fresh(FRESH, store=store, change=change))
        table.add(f"fresh process: load, {step}, publish", seconds)


def _fresh(script: str, **words: object) -> str:
    command = [sys.executable, "-c", script.format(**words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
