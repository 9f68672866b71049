"""The experiments of "Pruning Subscriptions" (Bittner and Hinze 2005), section 6, and of advertisement pruning.

    python -m benchmarks.pruning                          both papers, some minutes
    python -m benchmarks.pruning --rows 1000000           the paper's rows for the union
    python -m benchmarks.pruning --only subscriptions     or advertisements

10,000 subscriptions of each of three classes, and of all of them, are pruned step by step. The shares of predicates
come from 100,000 rows; the *union*, the share of rows that at least one subscription matches, from others. The *bend*
of a curve is the point that lies farthest below the straight line between its ends.

The paper counted books on eBay, which nobody has kept. The rows here have its attributes with made-up distributions:
titles and prices independent of each other, signed copies unevenly distributed among the categories. For
advertisements see `benchmarks.advertisement_pruning`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.advertisement_pruning import advertisement_tables
from sparkrules.demo.auctions import CATEGORIES, DAY, HOUR
from sparkrules.index.builder import build_segment
from sparkrules.index.forest import Forest
from sparkrules.index.rule import Rule
from sparkrules.logic.pruning import Prunings, Triples
from sparkrules.logic.selectivity_measure import SelectivityMeasure
from sparkrules.sql.tree import Constant, Junction, Node, Predicate

Bits = NDArray[np.uint8]
Draw = np.random.Generator
Rows = dict[str, NDArray[np.float64]]
CLASSES = ("class 1", "class 2", "class 3", "all")
# Items / 100, for the paper's million auctions.
TITLES = 10_000
AUTHORS = TITLES // 5
# Table 2: possible prunings, union before, share of prunings at the bend, growth of the union there, relative and in
# points, and the share of predicates gone.
PAPER = {
    "class 1": (40_000, 0.065, 0.75, 0.143, 0.009, 0.667),
    "class 2": (80_000, 0.089, 0.875, 0.133, 0.012, 0.833),
    "class 3": (30_000, 0.006, 0.525, 2.589, 0.016, 0.368),
    "all": (50_117, 0.089, 0.771, 0.29, 0.026, 0.663),
}


def rows(count: int, seed: int) -> Rows:
    """Auctions. Names are numbers."""
    draw = np.random.default_rng(seed)
    title = draw.integers(0, TITLES, count)
    category = title % len(CATEGORIES)
    return {
        "title": title.astype(float),
        "author": (title % AUTHORS).astype(float),
        "category": category.astype(float),
        "format": draw.choice(4, count, p=(0.55, 0.35, 0.05, 0.05)).astype(float),
        "condition": (draw.random(count) < 0.7).astype(float),
        # Signed copies are rare, and unevenly distributed: the paper's steps in figure 8.
        "signed": (draw.random(count) < 0.002 * (1 + category % 14)).astype(float),
        "buy_it_now": (draw.random(count) < 0.4).astype(float),
        "ending_within": draw.uniform(60, 10 * DAY, count),
        "price": np.exp(draw.normal(2.2, 0.9, count)),
        "bids": (draw.geometric(0.35, count) - 1).astype(float),
    }


def _is(attribute: str, value: float) -> Predicate:
    return Predicate(attribute, "=", (Constant("integer", str(int(value))),))


def _below(attribute: str, value: float) -> Predicate:
    return Predicate(attribute, "<", (Constant("decimal", f"{value:.1f}"),))


def _all(*parts: Node) -> Node:
    return Junction("and", parts)


def _any(*parts: Node) -> Node:
    return Junction("or", parts)


def _limit(draw: Draw) -> Predicate:
    return _below("price", float(draw.integers(20, 100)) / 2)


def _title_soon(draw: Draw) -> tuple[Node, Node]:
    return _is("title", int(draw.integers(TITLES))), _below("ending_within", DAY)


def _class_1(draw: Draw) -> Node:
    """A title, a day before the end, with a limit for new and one for used copies."""
    kinds = [_all(_is("condition", condition), _limit(draw)) for condition in (0, 1)]
    return _all(*_title_soon(draw), _any(*kinds))


def _class_2(draw: Draw) -> Node:
    """As class 1, with limits for hardcovers and softcovers."""

    def covers() -> Node:
        return _any(*(_all(_is("format", book), _limit(draw)) for book in (0, 1)))

    kinds = [_all(_is("condition", condition), covers()) for condition in (0, 1)]
    return _all(*_title_soon(draw), _any(*kinds))


def _class_3(draw: Draw) -> Node:
    """A collector of a category or an author: signed copies to buy at once; or signed or without bids, within an hour.

    Only this tree, of the paper on advertisements, has three prunings that free .368 of the predicates at .525.
    """
    interest = _any(_is("category", int(draw.integers(len(CATEGORIES)))), _is("author", int(draw.integers(AUTHORS))))
    soon = _all(_below("ending_within", HOUR), _any(_is("signed", 1), _is("bids", 0)))
    return _all(interest, _any(_all(_is("signed", 1), _is("buy_it_now", 1)), soon))


MAKERS: tuple[Callable[[Draw], Node], ...] = (_class_1, _class_2, _class_3)


def subscriptions(name: str, count: int, seed: int = 1) -> list[Node]:
    """Subscriptions of a class, or of all of them at random."""
    draw = np.random.default_rng(seed)
    if name == "all":
        return [MAKERS[draw.integers(3)](draw) for _ in range(count)]
    return [MAKERS[CLASSES.index(name)](draw) for _ in range(count)]


class Truth:
    """For which rows predicates are true, as bits, each computed once."""

    def __init__(self, counted: Rows) -> None:
        self.rows = counted
        self.count = len(counted["title"])
        self._known: dict[Predicate, Bits] = {}

    def of(self, predicate: Predicate) -> Bits:
        known = self._known.get(predicate)
        if known is None:
            values, constant = self.rows[predicate.attribute], float(predicate.constants[0].text)
            true = values == constant if predicate.operator == "=" else values < constant
            known = self._known[predicate] = np.packbits(true)
        return known

    def share(self, predicate: Predicate) -> float:
        return int(np.bitwise_count(self.of(predicate)).sum()) / self.count

    def tree(self, tree: Node) -> Bits:
        if isinstance(tree, Predicate):
            return self.of(tree)
        join = np.bitwise_and if tree.operator == "and" else np.bitwise_or
        parts = [self.tree(child) for child in tree.children]
        found = join(parts[0], parts[1])
        for part in parts[2:]:
            join(found, part, out=found)
        return found

    def union(self, trees: Sequence[Node]) -> int:
        """How many rows at least one tree is true for."""
        found = np.zeros((self.count + 7) // 8, np.uint8)
        for tree in set(trees):
            np.bitwise_or(found, self.tree(tree), out=found)
        return int(np.bitwise_count(found).sum())


@dataclass(frozen=True)
class Point:
    """The subscriptions after some prunings: shares of all prunings and of predicates gone, and the union."""

    prunings: float
    gone: float
    union: float


def curve(trees: Sequence[Node], shares: Truth, chunks: Sequence[Truth], points: int) -> tuple[int, list[Point]]:
    """The number of possible prunings, and the curve of figures 6 to 9."""
    forest, found = pruned(trees, shares)
    original = [forest.tree(int(root)) for root in forest.roots]
    rows_in_all = sum(own.count for own in chunks)
    curve_points = []
    for at in range(points + 1):
        count = round(len(found) * at / points)
        now = list(original)
        for number, tree in found.trees(count):
            now[number] = tree
        union = sum(own.union(now) for own in chunks) / rows_in_all
        curve_points.append(Point(at / points, float(found.predicates[:count].sum()) / found.total, union))
    return len(found), curve_points


def pruned(trees: Sequence[Node], shares: Truth) -> tuple[Forest, Prunings]:
    """The prunings of some trees, by the shares of counted rows."""
    forest = build_segment(Rule(f"{at:06}", "", tree) for at, tree in enumerate(trees)).forest
    leaves = np.array([shares.share(own) for own in forest.all_predicates()])
    return forest, Prunings.of(forest, Triples(leaves, leaves, leaves), SelectivityMeasure())


def bend(points: Sequence[tuple[float, float]]) -> int:
    """The number of the point that lies farthest below the line between the ends.

    >>> bend([(0, 0), (0.5, 0.1), (0.75, 0.2), (1, 1)])
    2
    """
    (left, low), (right, high) = points[0], points[-1]
    slope = (high - low) / (right - left)
    return max(range(len(points)), key=lambda at: low + slope * (points[at][0] - left) - points[at][1])


def subscription_tables(count: int, counted: int, union_rows: int, points: int) -> Iterator[str]:
    """Table 2 beside ours, and the curves."""
    shares = Truth(rows(counted, 0))
    chunk = min(union_rows, 100_000)
    chunks = [Truth(rows(chunk, 100 + at)) for at in range(max(union_rows // chunk, 1))]
    curves: dict[str, list[Point]] = {}
    heads = (
        "subscriptions, prunings, union before, prunings at the bend, union grows by, points, predicates gone, verdict"
    )
    lines = [f"| {' | '.join(heads.split(', '))} |", "|---" * 8 + "|"]
    for name in CLASSES:
        start = time.perf_counter()
        possible, found = curve(subscriptions(name, count), shares, chunks, points)
        curves[name] = found
        at = found[bend([(own.prunings, own.union) for own in found])]
        before = found[0].union
        ours = (possible, before, at.prunings, at.union / before - 1, at.union - before, at.gone)
        lines.append(f"| {name} | {_cells(ours)} | {verdict(ours, PAPER[name])} |")
        lines.append(f"| {name}, paper | {_cells(PAPER[name])} | |")
        yield f"{name}: {time.perf_counter() - start:.0f} s"
    yield "\n".join(lines)
    done = [f"{at / 10:.0%}" for at in range(11)]
    lines = [f"| union after | {' | '.join(done)} |", "|---" * (len(done) + 1) + "|"]
    for name, found in curves.items():
        cells = [found[round(at * points / 10)].union for at in range(11)]
        lines.append(f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    yield "\n".join(lines)


def _cells(values: tuple[float, ...]) -> str:
    possible, before, prunings, growth, increase, gone = values
    return f"{possible:,.0f} | {before:.3f} | {prunings:.3f} | {growth:.1%} | {increase:.3f} | {gone:.3f}"


def verdict(ours: tuple[float, ...], paper: tuple[float, ...]) -> str:
    """Whether the bend is where the paper has it, and the union there has grown no more than in the paper."""
    is_there = abs(ours[2] - paper[2]) <= 0.05 and abs(ours[5] - paper[5]) <= 0.05
    if is_there and ours[3] <= paper[3]:
        return "reproduced"
    return "trend only" if ours[5] >= 0.25 and ours[4] <= 0.1 else "not"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pruning", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("subscriptions", "advertisements"))
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--counted", type=int, default=100_000, help="rows for the shares of predicates")
    parser.add_argument("--rows", type=int, default=200_000, help="rows for the union (the paper: 1000000)")
    parser.add_argument("--points", type=int, default=40, help="of each curve")
    parser.add_argument("--registered", type=int, default=10_000, help="subscriptions that advertisements meet")
    parser.add_argument("--advertisements", type=int, default=2_000)
    parser.add_argument("--asked", type=int, default=60, help="advertisements that are asked at each point")
    options = parser.parse_args()
    if options.only != "advertisements":
        for part in subscription_tables(options.subscriptions, options.counted, options.rows, options.points):
            print(part, end="\n\n", flush=True)
    if options.only != "subscriptions":
        for part in advertisement_tables(options.registered, options.advertisements, options.asked):
            print(part, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
