"""What "Arbitrary Boolean Advertisements" says about its tables 3 and 4 and in 6.5."""

from __future__ import annotations

import itertools

from benchmarks.advertisement_pruning import PAPER as TABLE_4
from benchmarks.advertisement_pruning import Point, cut_off
from benchmarks.advertisements import PAPER as TABLE_3
from benchmarks.advertisements import PAPER_FIRST, SUBSCRIPTION_CLASSES
from benchmarks.papers.experiment import Claim, Options, Points
from benchmarks.verdict import count, price, speed, statement

_COUNTING = (
    "Probably because counting violations is a pass over arrays here, and a conjunction without violations needs no "
    "evaluation; the paper explains the growth of its conjunctive times by cache misses."
)
_CANDIDATES = (
    "Candidates are counted once for each violating set, so a subscription with two or four sets can meet an "
    "advertisement more than once: hence more than 1.0."
)
_PRICES = "The paper does not say which prices it drew; ours were chosen so that few of class 1 overlap."


def table_3(_options: Options, points: Points) -> list[Claim]:
    """Table 3, figures 6 and 7, at the largest size."""
    sizes = sorted(map(int, points))
    largest, smallest = points[str(sizes[-1])], points[str(sizes[0])]
    claims = []
    for name in SUBSCRIPTION_CLASSES:
        own = largest[name]
        (*_, first), (*_, every), candidates, overlapping, sets = TABLE_3[name]
        boolean, conjunctive = own["first"]["Boolean"], own["first"]["conjunctive"]
        ratio = own["all"]["Boolean"] / boolean
        claims.append(Claim("table 3", f"{name}: First is faster than All by this factor", speed(ratio, every / first)))
        if PAPER_FIRST[name] != "-":
            claims.append(
                Claim(
                    "6.3, figures 6 and 7",
                    f"{name}: Boolean First is faster than conjunctive First by this factor",
                    speed(conjunctive / boolean, float(PAPER_FIRST[name])),
                    _COUNTING,
                )
            )
        claims += [
            Claim(
                "table 3", f"{name}: candidates per advertisement", count(own["candidates"], candidates), _CANDIDATES
            ),
            Claim(
                "table 3", f"{name}: share of overlapping", count(own["overlappings"], overlapping, share=True), _PRICES
            ),
            Claim("table 3", f"{name}: violating sets per subscription", count(own["sets"], sets)),
        ]
    growth = sizes[-1] / sizes[0]
    slower = {name: largest[name]["all"]["Boolean"] / smallest[name]["all"]["Boolean"] for name in SUBSCRIPTION_CLASSES}
    claims.append(
        Claim(
            "6.2",
            "All takes time that is linear in the number of advertisements",
            statement(
                [0.5 * growth <= own <= 1.5 * growth for own in slower.values()],
                f"x{min(slower.values()):.1f} to x{max(slower.values()):.1f} for x{growth:.0f}",
            ),
            "A part of the time does not depend on how many there are, probably that of the arrays' operations.",
        )
    )
    return claims


def table_4(_: Options, points: Points) -> list[Claim]:
    """Table 4, by columns."""
    claims = []
    for name, found in points.items():
        curve = [Point(**own) for own in found]
        at, before = cut_off(curve), curve[0]
        cut, memory, faster, more = TABLE_4[name]
        of = "all classes" if name == "all" else name
        claims += [
            Claim(
                "table 4", f"{of}: the cut-off, as a share of the prunings", count(at.prunings, cut, share=True), _CUT
            ),
            Claim("table 4", f"{of}: memory removed there", count(at.memory, memory, neutral=0.0, share=True), _MEMORY),
            Claim(
                "table 4",
                f"{of}: First is faster there by this factor",
                speed(before.first / at.first, 1 / (1 - faster), shown=".2f"),
                _FIRST,
            ),
            Claim("table 4", f"{of}: overlaps more there", price(at.overlaps - before.overlaps, more)),
        ]
    return claims


_CUT = (
    "Where few subscriptions overlap to begin with, pruning all the way adds too few overlaps for a cut-off; where it "
    "is depends on the prices, which the paper does not give."
)
_MEMORY = "It follows the cut-off: more prunings remove more."
_FIRST = (
    "Ours skips subscriptions without a violation by counting alone, so how much pruning spares it differs; and "
    "these are times of a few milliseconds."
)


def both(_: Options, points: Points) -> list[Claim]:
    """Section 6.5."""
    steps = [(float(share), Point(**before), Point(**after)) for share, (before, after) in points.items()]
    first, last = steps[0], steps[-1]
    by_subscriptions = last[1].overlaps - first[1].overlaps
    by_advertisements = first[2].overlaps - first[1].overlaps
    gains = [after.overlaps - before.overlaps for _, before, after in steps]
    stable = next(
        (
            share
            for at, (share, before, _) in enumerate(steps)
            if all(abs(other.overlaps - before.overlaps) <= 0.01 for _, other, _ in steps[at:])
        ),
        1.0,
    )
    return [
        Claim(
            "6.5", "share of overlapping subscriptions, no pruning", count(first[1].overlaps, 0.46, share=True), _PRICES
        ),
        Claim("6.5", "the same after all prunings of subscriptions", count(last[1].overlaps, 0.75, share=True)),
        Claim(
            "6.5",
            "subscription pruning adds more overlaps than advertisement pruning",
            statement([by_subscriptions > by_advertisements], f"+{by_subscriptions:.2f} and +{by_advertisements:.2f}"),
        ),
        Claim(
            "6.5",
            "the more subscriptions are pruned, the less does pruning advertisements add",
            statement([later <= earlier + 0.005 for earlier, later in itertools.pairwise(gains)], ""),
        ),
        Claim(
            "6.5",
            "share of subscription prunings after which overlaps are stable",
            price(stable, 0.3),
            "Here the prunings of titles, which decide overlaps, come last, probably.",
        ),
        Claim(
            "6.5",
            "All gets faster by this factor after all prunings of subscriptions",
            speed(first[1].all / last[1].all, 108 / 38),
        ),
        Claim(
            "6.5",
            "largest memory cut without subscription pruning",
            count(first[2].memory, 0.72, neutral=0.0, share=True),
        ),
        Claim(
            "6.5",
            "largest memory cut after all subscription prunings",
            count(last[2].memory, 0.53, neutral=first[2].memory, share=True),
            "Probably because more parts of advertisements have rank 0 then, and of equals the larger goes first.",
        ),
    ]
