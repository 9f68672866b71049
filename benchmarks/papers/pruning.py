"""Subscription pruning (Bittner and Hinze 2005): table 2 and its curves, by `benchmarks.pruning`."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from benchmarks.papers.experiment import Claim, Options, Points
from benchmarks.pruning import CLASSES, PAPER, Point, Truth, bend, curve, rows, subscriptions
from benchmarks.verdict import count, price

_BEND = {
    "class 3": "Collectors ask for signed copies; how unevenly these are spread decides where the curve bends, and the "
    "paper's counts of 2005 are lost.",
    "all": "The number of titles decides when titles lose their time limit, and with it the bend.",
}


def points(_: Options) -> list[str]:
    """The classes of subscriptions."""
    return list(CLASSES)


def measure(options: Options, name: str) -> Any:
    """The curve of a class."""
    shares, counted = _rows(options["counted"], options["rows"])
    found, curve_points = curve(subscriptions(name, options["subscriptions"]), shares, [counted], options["points"])
    return {"prunings": found, "curve": [asdict(own) for own in curve_points]}


@lru_cache(maxsize=1)
def _rows(counted: int, union: int) -> tuple[Truth, Truth]:
    return Truth(rows(counted, 0)), Truth(rows(union, 100))


def at_bend(found: Any) -> tuple[Point, Point]:
    """The first point of a curve, and the one where it bends."""
    curve_points = [Point(**own) for own in found["curve"]]
    return curve_points[0], curve_points[bend([(own.prunings, own.union) for own in curve_points])]


def claims(options: Options, points: Points) -> list[Claim]:
    """Table 2, by columns."""
    made = []
    for name, found in points.items():
        before, at = at_bend(found)
        possible, union, prunings, growth, increase, gone = PAPER[name]
        of = "all classes" if name == "all" else name
        per_subscription = found["prunings"] / options["subscriptions"]
        made += [
            Claim("table 2", f"{of}: possible prunings per subscription", count(per_subscription, possible / 10_000)),
            Claim(
                "table 2",
                f"{of}: union before pruning",
                count(before.union, union, shown=".3f", share=True),
                "Our titles are equally frequent, the paper's were those of real auctions.",
            ),
            Claim(
                "table 2",
                f"{of}: the bend, as a share of the prunings",
                count(at.prunings, prunings, shown=".3f", share=True),
                _BEND.get(name, ""),
            ),
            Claim(
                "table 2",
                f"{of}: predicates gone there",
                count(at.gone, gone, neutral=0.0, shown=".3f", share=True),
                "It follows the bend.",
            ),
            Claim(
                "table 2",
                f"{of}: the union is larger there, by rows",
                price(at.union - before.union, increase, shown=".3f"),
            ),
            Claim(
                "table 2", f"{of}: the union is larger there, relatively", price(at.union / before.union - 1, growth)
            ),
        ]
    return made
