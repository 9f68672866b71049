"""The experiments of "Arbitrary Boolean Advertisements" (Bittner and Hinze 2006), sections 6.4 and 6.5.

Advertisements of each class, and of all, are pruned step by step, against subscriptions of all three classes. At each
step we ask for the subscriptions that overlap advertisements: whether there is any (First) and all of them (All). The
*memory* is the number of predicate associations. `python -m benchmarks.pruning` runs it.

Times are of the processor, since the machine may be busy. Where the number of overlaps hardly grows in the end, there
is no cut-off point: all prunings pay. Otherwise it is the bend of the curve.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.advertisements import ADVERTISEMENTS, SUBSCRIPTIONS, rare_prices
from sparkrules.demo.auctions import CATEGORIES
from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.logic.overlapping_rank import advertisement_prunings
from sparkrules.logic.pruning import Prunings, Triples
from sparkrules.logic.selectivity_measure import SelectivityMeasure
from sparkrules.sql.tree import Node, Predicate

COUNTED = 100_000  # rows that the shares of predicates stand for
# Of all books. The subscriptions and advertisements name the best known of them.
TITLES = 10_000
AUTHORS = TITLES // 5
CLASSES = (*(f"A{at}" for at in range(1, 9)), "all")
STEPS = 10
# Table 4: the cut-off, memory removed, First faster by, overlaps more (in points).
PAPER = {
    "A1": (1.0, 0.65, 0.18, 0.05),
    "A2": (0.73, 0.48, 0.08, 0.03),
    "A3": (1.0, 0.80, 0.55, 0.01),
    "A4": (1.0, 0.80, 0.61, 0.01),
    "A5": (1.0, 0.91, 0.65, 0.01),
    "A6": (0.70, 0.35, 0.13, 0.24),
    "A7": (1.0, 0.50, 0.08, 0.05),
    "A8": (0.73, 0.44, 0.25, 0.21),
    "all": (0.77, 0.49, 0.24, 0.05),
}


def share(predicate: Predicate) -> float:
    """The share of auctions for which a predicate of a subscription is true."""
    value = predicate.constants[0].text if predicate.constants else ""
    if predicate.attribute == "price":
        return 0.5 * (1 + math.erf((math.log(max(float(value), 0.01)) - 2.2) / (0.9 * math.sqrt(2))))
    if predicate.attribute == "ending":
        return float(value) / 240
    known = {"title": 1 / TITLES, "author": 1 / AUTHORS, "category": 1 / len(CATEGORIES), "bids": 0.35}
    known |= {"signed": 0.015, "buy_it_now": 0.4}
    named = {"new": 0.3, "used": 0.7, "Hardcover": 0.35, "Softcover": 0.55}
    return known.get(predicate.attribute, named.get(value, 0.1))


def shares(segment: Segment) -> NDArray[np.float64]:
    return np.array([share(own) for own in segment.forest.all_predicates()])


@dataclass(frozen=True)
class Point:
    """Advertisements after some prunings."""

    prunings: float
    memory: float
    overlaps: float
    first: float
    all: float


def segment_of(trees: Sequence[Node]) -> Segment:
    return build_segment(Rule(f"{at:07}", "", tree) for at, tree in enumerate(trees))


def advertisements_of(name: str, count: int, seed: int = 2) -> list[Node]:
    draw = np.random.default_rng(seed)
    classes = ADVERTISEMENTS if name == "all" else [ADVERTISEMENTS[CLASSES.index(name)]]
    return [classes[at % len(classes)](draw) for at in range(count)]


def subscriptions_of(count: int, seed: int = 1) -> list[Node]:
    draw = np.random.default_rng(seed)
    return [SUBSCRIPTIONS[at % len(SUBSCRIPTIONS)](draw) for at in range(count)]


def curve(index: OverlapIndex, trees: Sequence[Node], asked: int, steps: int = STEPS) -> list[Point]:
    """What pruning the advertisements does to the overlaps with the registered subscriptions."""
    segment = segment_of(trees)
    found = advertisement_prunings(segment.forest, index, shares(index.segment) * COUNTED)
    chosen = np.linspace(0, len(trees) - 1, asked).astype(int).tolist()
    index.all(trees[0])  # the tables are built on first use
    points = []
    for step in range(steps + 1):
        count = round(len(found) * step / steps)
        now = dict(enumerate(trees)) | dict(found.trees(count))
        asked_trees = [now[number] for number in chosen]
        start = time.process_time()
        exists = [index.first(tree) is not None for tree in asked_trees]
        middle = time.process_time()
        overlapping = [len(index.numbers(tree)) for tree in asked_trees]
        end = time.process_time()
        assert exists == [number > 0 for number in overlapping], "First and All disagree"
        points.append(
            Point(
                step / steps,
                float(found.predicates[:count].sum()) / found.total,
                sum(overlapping) / asked / len(index.segment.rules),
                1000 * (middle - start) / asked,
                1000 * (end - middle) / asked,
            )
        )
    return points


def cut_off(points: Sequence[Point]) -> Point:
    """The bend of the overlaps; the end if they hardly grow."""
    first, last = points[0], points[-1]
    if last.overlaps - first.overlaps <= 0.1:
        return last
    rise = last.overlaps - first.overlaps
    return max(points, key=lambda own: first.overlaps + rise * own.prunings - own.overlaps)


def advertisement_tables(registered: int, advertisements: int, asked: int) -> Iterator[str]:
    """Table 4 and section 6.5 beside ours."""
    with rare_prices():
        yield from _tables(registered, advertisements, asked)


def _tables(registered: int, advertisements: int, asked: int) -> Iterator[str]:
    subscribed = subscriptions_of(registered)
    index = OverlapIndex(segment_of(subscribed))
    heads = "advertisements, cut-off, memory removed, First faster by, All faster by, overlaps before, more, verdict"
    lines = [f"| {' | '.join(heads.split(', '))} |", "|---" * 8 + "|"]
    for name in CLASSES:
        points = curve(index, advertisements_of(name, advertisements), asked)
        at, before = cut_off(points), points[0]
        more = at.overlaps - before.overlaps
        cells = (
            f"{at.prunings:.2f} | {at.memory:.2f} | {1 - at.first / before.first:.2f} | {1 - at.all / before.all:.2f}"
        )
        lines.append(f"| {name} | {cells} | {before.overlaps:.2f} | {more:.2f} | {verdict(name, at, before)} |")
        cut, memory, faster, paper_more = PAPER[name]
        lines.append(f"| {name}, paper | {cut:.2f} | {memory:.2f} | {faster:.2f} | | | {paper_more:.2f} | |")
    yield "\n".join(lines)
    yield both_prunings(subscribed, advertisements, asked)


def verdict(name: str, at: Point, before: Point) -> str:
    """Whether the cut-off is where the paper has it, as much memory goes for as few overlaps, and First is faster."""
    cut, memory, faster, paper_more = PAPER[name]
    more = at.overlaps - before.overlaps
    is_there = abs(at.prunings - cut) <= 0.1 and abs(at.memory - memory) <= 0.1
    if is_there and more <= paper_more and 1 - at.first / before.first >= faster / 2:
        return "reproduced"
    return "trend only" if at.memory >= 0.3 and more <= 0.3 else "not"


def both_prunings(subscribed: Sequence[Node], advertisements: int, asked: int) -> str:
    """Section 6.5: subscriptions pruned in steps, then the advertisements against them."""
    found = subscription_prunings(subscribed)
    trees = advertisements_of("all", advertisements)
    heads = "subscriptions pruned, overlaps, with advertisements pruned, largest memory cut, First (ms), First then"
    columns = [*heads.split(", "), "All (ms)", "All then"]
    lines = [f"| {' | '.join(columns)} |", "|---" * 8 + "|"]
    for step in range(STEPS + 1):
        before, after = both_pruned(subscribed, found, trees, step / STEPS, asked)
        lines.append(
            f"| {step / STEPS:.0%} | {before.overlaps:.2f} | {after.overlaps:.2f} | {after.memory:.2f} "
            f"| {before.first:.2f} | {after.first:.2f} | {before.all:.2f} | {after.all:.2f} |"
        )
    return "\n".join(lines)


def subscription_prunings(subscribed: Sequence[Node]) -> Prunings:
    """All prunings of the subscriptions, in the order of the queue."""
    segment = segment_of(subscribed)
    leaves = shares(segment)
    return Prunings.of(segment.forest, Triples(leaves, leaves, leaves), SelectivityMeasure())


def both_pruned(
    subscribed: Sequence[Node], found: Prunings, trees: Sequence[Node], share: float, asked: int
) -> tuple[Point, Point]:
    """After a share of the prunings of subscriptions: none of the prunings of advertisements, and all of them."""
    now = dict(enumerate(subscribed)) | dict(found.trees(round(len(found) * share)))
    index = OverlapIndex(segment_of([now[number] for number in range(len(now))]))
    before, after = curve(index, trees, asked, steps=1)
    return before, after
