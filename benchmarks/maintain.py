"""How fast a published rule set can be changed: python -m benchmarks.maintain --rules 1000000

The rules are made as a segment, without texts being parsed: this measures maintenance, not compilation.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from sparkrules import RuleSet
from sparkrules.index import Csr, Segment
from sparkrules.index.segment import AND, KINDS, PREDICATE
from sparkrules.sql.tree import OPERATORS

PRICES = 1_000

# Each is run in a fresh process, and measured there after the import: the first thing that an operator's script does.
FRESH = """
from time import perf_counter
from sparkrules import RuleSet
start = perf_counter()
rules = RuleSet.load("big", {store!r})
{change}
rules.publish()
print(perf_counter() - start)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=1_000_000)
    count: int = parser.parse_args().rules
    first, second = synthetic("a", count), synthetic("b", count)
    with tempfile.TemporaryDirectory() as directory:
        store = str(Path(directory) / "store")
        rules = RuleSet("big")
        lines: list[tuple[str, float, int]] = []

        def measure(what: str, run: Callable[[], object], changes: int = 1) -> None:
            start = perf_counter()
            run()
            lines.append((what, perf_counter() - start, changes))

        measure("insert a segment", lambda: rules.subscribe_compiled(first), count)
        measure("publish all", lambda: rules.publish(store=store), count)
        measure("insert another segment", lambda: rules.subscribe_compiled(second), count)
        measure("delete it by ids", lambda: rules.unsubscribe_all(second.subscription_id.tolist()), count)
        measure(
            "delete a tenth by ids", lambda: rules.unsubscribe_all(first.subscription_id[::10].tolist()), count // 10
        )
        measure("publish the deletions", rules.publish)
        rules.subscribe("one", "price < 3")
        measure("add one and publish", rules.publish)
        rules.unsubscribe("one")
        measure("remove one and publish", rules.publish)
        measure("diff of first and last version", lambda: rules.diff(1))
        for what, change in {
            "fresh process: load, add one, publish": 'rules.subscribe("new", "price < 3 AND title = \'x\'")',
            "fresh process: load, remove one, publish": 'rules.unsubscribe("a0000001")',
            "fresh process: load, remove and add, publish": 'rules.unsubscribe("a0000002"); rules.subscribe("n", "a")',
            "fresh process: load, read one rule, publish": 'rules.subscriptions["a0000003"]',
        }.items():
            made = subprocess.run(
                [sys.executable, "-c", FRESH.format(store=store, change=change)],
                check=True,
                capture_output=True,
                text=True,
            )
            lines.append((what, float(made.stdout), 1))
    print(f"{count:,} rules\n")
    print(f"| {'step':<46} | seconds |  changes/s |\n|{'-' * 48}|--------:|-----------:|")
    for what, seconds, changes in lines:
        rate = f"{changes / seconds:,.0f}" if changes > 1 else ""
        print(f"| {what:<46} | {seconds:7.3f} | {rate:>10} |")


def synthetic(prefix: str, count: int) -> Segment:
    """A segment of rules `price < p AND title = 't'`, of which ten share a title."""
    titles = -(-count // 10)
    rules = np.arange(count)
    price, title = rules % PRICES, rules // 10
    leaves = PRICES + titles
    uses = np.concatenate([np.bincount(price, minlength=PRICES), np.bincount(title, minlength=titles), np.ones(count)])
    texts = [str(number) for number in range(PRICES)] + [f"t{number}" for number in range(titles)]
    return Segment(
        attributes=_strings(["price", "title"]),
        constant_kind=np.repeat([KINDS.index("integer"), KINDS.index("string")], [PRICES, titles]).astype(np.uint8),
        constant_text=_strings(texts),
        predicate_attribute=np.repeat([0, 1], [PRICES, titles]).astype(np.int32),
        predicate_operator=np.repeat([OPERATORS.index("<"), OPERATORS.index("=")], [PRICES, titles]).astype(np.uint8),
        predicate_constants=Csr.from_lengths(np.ones(leaves, np.int64), np.arange(leaves)),
        node_operator=np.repeat([PREDICATE, AND], [leaves, count]).astype(np.uint8),
        node_predicate=np.concatenate([np.arange(leaves), np.full(count, -1)]).astype(np.int32),
        children=Csr.from_lengths(
            np.repeat([0, 2], [leaves, count]), np.stack([price, PRICES + title], axis=1).reshape(-1)
        ),
        level=np.repeat([1, 2], [leaves, count]).astype(np.int32),
        use_count=uses.astype(np.int32),
        subscription_id=_strings([f"{prefix}{number:07}" for number in range(count)]),
        subscription_node=(leaves + rules).astype(np.int32),
        priority=np.zeros(count, np.int32),
        where=_strings(
            [f"price < {p} AND title = 't{t}'" for p, t in zip(price.tolist(), title.tolist(), strict=True)]
        ),
        metadata=np.full(count, None, object),
        sql=np.full(count, None, object),
        valid_from=np.full(count, "NaT", "datetime64[us]"),
        valid_until=np.full(count, "NaT", "datetime64[us]"),
        ticket=np.full(count, None, object),
    )


def _strings(texts: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


if __name__ == "__main__":
    main()
