"""The experiments of "Arbitrary Boolean Advertisements" (Bittner and Hinze 2006), sections 6.1 to 6.3.

Advertisements of eight classes are registered. For subscriptions of three classes, we ask which advertisements overlap
them (All), and whether any does (First). We compare the Boolean algorithm with the conjunctive one, which converts both
sides to disjunctive normal form and registers, or asks, every conjunction separately.

    python -m benchmarks.advertisements                                    two small sizes, a minute
    python -m benchmarks.advertisements --advertisements 20000 300000      the paper's

The paper measured C++ at 1.8 GHz, so we compare only ratios. Times are of the processor: the machine may be busy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product

import numpy as np

from sparkrules.demo.auctions import AUTHORS, CATEGORIES, TITLES
from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.logic.advertisements import Mask, OverlapIndex
from sparkrules.sql.tree import Constant, Junction, Node, Predicate

Draw = np.random.Generator
Class = Callable[[Draw], Node]
SUBSCRIPTION_CLASSES = ("S1", "S2", "S3", "S1-S3")
# Table 3: milliseconds at 20,000 and 300,000 advertisements, and the proportions.
PAPER = {
    "S1": ((9.8, 134.8), (22.2, 320.9), 1.29, 0.04, 2.0),
    "S2": ((4.2, 41.5), (35.7, 510.4), 1.85, 0.35, 4.0),
    "S3": ((0.2, 5.4), (16.3, 253.4), 1.36, 1.0, 4.0),
    "S1-S3": ((4.9, 62.9), (25.6, 374.4), 1.5, 0.46, 10 / 3),
}
# Figures 6 and 7: how many times faster Boolean First is than conjunctive First, at 300,000 advertisements.
PAPER_FIRST = {"S1": "3", "S2": "14", "S3": "13", "S1-S3": "-"}

# Two sets of ranges for the maximum (<) and minimum (>) price. The paper uses "reasonable values". With the rare ones,
# 7 to 9 % of the advertisements overlap a subscription of the first class; in the paper 4 %.
_PRICES = {"<": (1, 100), ">": (1, 100)}
_RARE_PRICES = {"<": (1, 30), ">": (15, 100)}


@contextmanager
def rare_prices() -> Iterator[None]:
    """Prices that seldom overlap, as in the paper."""
    usual = dict(_PRICES)
    _PRICES.update(_RARE_PRICES)
    try:
        yield
    finally:
        _PRICES.update(usual)


def _test(attribute: str, operator: str, value: object) -> Predicate:
    kind = "string" if isinstance(value, str) else "integer" if isinstance(value, int) else "decimal"
    return Predicate(attribute, operator, (Constant(kind, str(value)),))  # type: ignore[arg-type]


def _all(*parts: Node) -> Node:
    return Junction("and", parts)


def _any(*parts: Node) -> Node:
    return Junction("or", parts)


def _price(draw: Draw, operator: str) -> Predicate:
    low, high = _PRICES[operator]
    return _test("price", operator, float(draw.integers(low, high)) / 2)


def _named(attribute: str, count: int) -> Class:
    return lambda draw: _test(attribute, "=", f"{attribute} {draw.integers(count):04}")


def _category(draw: Draw) -> Node:
    return _test("category", "=", CATEGORIES[draw.integers(len(CATEGORIES))])


def _title_contains(draw: Draw) -> Node:
    return _test("title", "contains", f"{draw.integers(TITLES):04}")


BUY_IT_NOW, SIGNED = Predicate("buy_it_now", "is true"), Predicate("signed", "is true")
NEW, USED = _test("condition", "=", "new"), _test("condition", "=", "used")
HARD, SOFT = _test("format", "=", "Hardcover"), _test("format", "=", "Softcover")


def _either(a: Predicate, b: Predicate, operator: str) -> Class:
    return lambda draw: _any(_all(a, _price(draw, operator)), _all(b, _price(draw, operator)))


def _four(operator: str) -> Class:
    def four(draw: Draw) -> Node:
        covers = _either(HARD, SOFT, operator)
        return _any(_all(NEW, covers(draw)), _all(USED, covers(draw)))

    return four


def _with(first: Class, rest: Class) -> Class:
    return lambda draw: _all(first(draw), rest(draw))


ADVERTISEMENTS: tuple[Class, ...] = (
    _with(_category, _either(BUY_IT_NOW, SIGNED, ">")),
    _with(_named("author", AUTHORS), _either(BUY_IT_NOW, SIGNED, ">")),
    _with(_named("title", TITLES), _either(NEW, USED, ">")),
    _with(_named("title", TITLES), _either(HARD, SOFT, ">")),
    _with(_named("title", TITLES), _four(">")),
    _either(NEW, USED, ">"),
    _either(HARD, SOFT, ">"),
    _four(">"),
)


def _ending(draw: Draw) -> Node:
    return _test("ending", "<", int(draw.integers(1, 25)))


def _collector(draw: Draw) -> Node:
    interest = _any(_named("author", AUTHORS)(draw), _category(draw))
    soon = _all(_ending(draw), _any(SIGNED, _test("bids", "=", 0)))
    return _all(interest, _any(_all(SIGNED, BUY_IT_NOW), soon))


SUBSCRIPTIONS: tuple[Class, ...] = (
    lambda draw: _all(_title_contains(draw), _ending(draw), _either(NEW, USED, "<")(draw)),
    lambda draw: _all(_title_contains(draw), _ending(draw), _four("<")(draw)),
    _collector,
)


def conjunctions(tree: Node) -> list[tuple[Predicate, ...]]:
    """The disjunctive normal form.

    >>> [len(c) for c in conjunctions(_four(">")(np.random.default_rng(1)))]
    [3, 3, 3, 3]
    """
    if isinstance(tree, Predicate):
        return [(tree,)]
    parts = [conjunctions(child) for child in tree.children]
    if tree.operator == "or":
        return [conjunction for part in parts for conjunction in part]
    return [tuple(dict.fromkeys(p for part in chosen for p in part)) for chosen in product(*parts)]


class Boolean:
    """The paper's algorithm. Counts what it examines."""

    name = "Boolean"

    def __init__(self, trees: Sequence[Node]) -> None:
        self.index = OverlapIndex(build_segment(Rule(f"{at:07}", "", tree) for at, tree in enumerate(trees)))
        self.index.all(trees[0])  # the tables are built on first use

    def first(self, tree: Node) -> bool:
        return self.index.first(tree) is not None

    def all(self, tree: Node) -> int:
        return len(self.index.all(tree))

    def looked_at(self, tree: Node) -> tuple[int, int]:
        """The number of candidates over all violating sets, and the number of sets."""
        sets = self.index.violating_sets(tree).sets
        return sum(len(self.index.candidates(violating)) for violating in sets), len(sets)


class Conjunctive:
    """Conjunctions only: one overlaps if it has no violating predicate. Evaluates no tree."""

    name = "conjunctive"

    def __init__(self, trees: Sequence[Node]) -> None:
        rules = [
            Rule(f"{at:07}-{part}", "", _all(*conjunction))
            for at, tree in enumerate(trees)
            for part, conjunction in enumerate(conjunctions(tree))
        ]
        self.index = OverlapIndex(build_segment(rules))
        ids = self.index.segment.rules.id
        self.owner = np.array([int(id.split("-")[0]) for id in ids])
        self.all(trees[0])

    def _without_violation(self, tree: Node) -> Iterator[Mask]:
        for conjunction in conjunctions(tree):
            for violating in self.index.violating_sets(_all(*conjunction)).sets:
                yield self.index.violation_count(violating) == 0

    def first(self, tree: Node) -> bool:
        return any(overlapping.any() for overlapping in self._without_violation(tree))

    def all(self, tree: Node) -> int:
        found = [self.owner[overlapping] for overlapping in self._without_violation(tree)]
        return len(np.unique(np.concatenate(found)))


@dataclass(frozen=True)
class Result:
    """Milliseconds per subscription, and what the Boolean algorithm examined, per advertisement."""

    first: dict[str, float]
    all: dict[str, float]
    candidates: float
    overlappings: float
    sets: float


def measure(advertisements: int, subscriptions: int, seed: int = 1) -> dict[str, Result]:
    """Measure every subscription class against `advertisements` advertisements of all classes."""
    draw = np.random.default_rng(seed)
    registered = [ADVERTISEMENTS[at % len(ADVERTISEMENTS)](draw) for at in range(advertisements)]
    boolean, conjunctive = Boolean(registered), Conjunctive(registered)
    results: dict[str, Result] = {}
    for number, name in enumerate(SUBSCRIPTION_CLASSES):
        classes = SUBSCRIPTIONS[number : number + 1] or SUBSCRIPTIONS
        asked = [classes[at % len(classes)](draw) for at in range(subscriptions)]
        first: dict[str, float] = {}
        every: dict[str, float] = {}
        counted: dict[str, list[int]] = {}
        for algorithm in (boolean, conjunctive):
            start = time.process_time()
            exists = [algorithm.first(tree) for tree in asked]
            middle = time.process_time()
            counted[algorithm.name] = [algorithm.all(tree) for tree in asked]
            end = time.process_time()
            first[algorithm.name] = 1000 * (middle - start) / len(asked)
            every[algorithm.name] = 1000 * (end - middle) / len(asked)
            assert exists == [count > 0 for count in counted[algorithm.name]], "First and All disagree"
        assert counted[boolean.name] == counted[conjunctive.name], "the algorithms disagree"
        looked = np.array([boolean.looked_at(tree) for tree in asked], float)
        share = sum(counted[boolean.name]) / len(asked) / advertisements
        results[name] = Result(first, every, looked[:, 0].mean() / advertisements, share, looked[:, 1].mean())
    return results


def table(sizes: Sequence[int], results: Sequence[dict[str, Result]]) -> str:
    """Our ratios next to the paper's, as Markdown."""
    heads = "class, advertisements, First (ms), All (ms), All : First, conj. : Boolean First, conj. : Boolean All"
    columns = [*heads.split(", "), "candidates", "overlappings", "sets"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name in SUBSCRIPTION_CLASSES:
        for size, measured in zip(sizes, results, strict=True):
            found = measured[name]
            first, every = found.first["Boolean"], found.all["Boolean"]
            lines.append(
                f"| {name} | {size:,} | {first:.2f} | {every:.2f} | {every / first:.1f} "
                f"| {found.first['conjunctive'] / first:.1f} | {found.all['conjunctive'] / every:.1f} "
                f"| {found.candidates:.2f} | {found.overlappings:.2f} | {found.sets:.1f} |"
            )
        (first_low, first_high), (all_low, all_high), candidates, overlappings, sets = PAPER[name]
        for size, first, every, times in (
            (20_000, first_low, all_low, "-"),
            (300_000, first_high, all_high, PAPER_FIRST[name]),
        ):
            lines.append(
                f"| {name}, paper | {size:,} | {first} | {every} | {every / first:.1f} | {times} | - "
                f"| {candidates} | {overlappings} | {sets:.1f} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advertisements", description=__doc__)
    parser.add_argument("--advertisements", nargs="+", type=int, default=[2_000, 20_000])
    parser.add_argument("--subscriptions", type=int, default=60, help="per class (the paper: 25000)")
    parser.add_argument("--rare", action="store_true", help="prices that seldom overlap, as in the paper")
    options = parser.parse_args()
    with rare_prices() if options.rare else nullcontext():
        results = [measure(size, options.subscriptions) for size in options.advertisements]
    print(table(options.advertisements, results))


if __name__ == "__main__":
    main()
