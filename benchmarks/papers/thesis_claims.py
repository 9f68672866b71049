"""What chapter 5 of the thesis says, section by section. Its figures are lost but for what the text and tables say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from benchmarks.papers.experiment import Claim, Options, Points
from benchmarks.papers.thesis import Figures, figures, sizes_of
from benchmarks.verdict import Judged, bound, count, speed, statement

GENERAL, ZERO, PATH = "general", "zero suppression", "true value path"
BRUTE, COUNTING, TREE = "brute force", "counting", "matching tree"
_MACHINE = "A bound of a machine of 900 MHz: easily reached."
_SCAN = (
    "Counting has to look at every subscription's counter for every event; the A-Tree's arrays look only at nodes "
    "above a true predicate. That is probably why they are ahead at every size."
)


def _points(options: Options, points: Points) -> Iterator[tuple[int, int, Figures]]:
    """Value, size and figures of all points that were measured."""
    for value in map(int, options["sizes"]):
        for size in sizes_of(options, value):
            found = figures(points, value, size)
            if found is not None:
                yield value, size, found


def _faster(found: Iterable[Figures], one: str, other: str) -> Judged:
    """Whether one filter is faster than another at every point."""
    ratios = [own[one]["events"] / own[other]["events"] for own in found if one in own and other in own]
    return statement([ratio > 1 for ratio in ratios], f"{_span(ratios)} times as fast")


def _fewer(found: Sequence[Figures], one: str, other: str, metric: str) -> Judged:
    ratios = [own[one][metric] / own[other][metric] for own in found]
    return statement([ratio < 1 for ratio in ratios], f"{_span(ratios)} of it")


def _sweep_falls(
    options: Options, points: Points, name: str, metric: str, *, rises: bool = False
) -> tuple[list[bool], list[float]]:
    """Whether a metric falls (or rises) between the values of a sweep, at each size; and by how much in all."""
    holds: list[bool] = []
    factors: list[float] = []
    values = sorted(map(int, options["sizes"]))
    for size in sorted({size for value in values for size in sizes_of(options, value)}):
        own = [found[name][metric] for value in values if (found := figures(points, value, size)) and name in found]
        if len(own) > 1:
            holds += [(later > earlier) == rises for earlier, later in pairwise(own)]
            factors.append(own[-1] / own[0])
    return holds, factors


def section_5_4(options: Options, points: Points) -> list[Claim]:
    """Conjunctions of equalities: all algorithms."""
    measured = list(_points(options, points))
    every = [found for _, _, found in measured]
    at = {(value, size): found for value, size, found in measured}
    longest = max(value for value, _, _ in measured)
    lengths = [value for value in map(int, options["sizes"]) if len(sizes_of(options, value)) > 1]
    shortest = 6 if 6 in lengths else min(lengths)
    sizes = [size for value, size, _ in measured if value == longest]
    near = min(sizes, key=lambda size: abs(size - 100_000))
    largest_value, largest, found_largest = max(measured, key=lambda own: own[1])
    claims = [
        Claim(
            "5.4.1",
            "insertions per second at 100,000, L = 14",
            bound(at[longest, near][GENERAL]["insertions"], 5_000),
            f"{_MACHINE} Measured at {near:,}.",
        ),
        Claim(
            "5.4.1",
            "insertions per second at the largest size",
            bound(min(own[GENERAL]["insertions"] for own in every), 1_000),
            f"{_MACHINE} The lowest rate at any size up to {largest:,}.",
        ),
        Claim(
            "5.4.1",
            "the matching tree inserts faster than the A-Tree",
            statement(
                [own[TREE]["insertions"] > own[GENERAL]["insertions"] for own in every],
                _range(own[TREE]["insertions"] / own[GENERAL]["insertions"] for own in every),
            ),
        ),
        Claim(
            "5.4.1",
            "the matching tree inserts faster than counting",
            statement(
                [own[TREE]["insertions"] > own[COUNTING]["insertions"] for own in every],
                _range(own[TREE]["insertions"] / own[COUNTING]["insertions"] for own in every),
            ),
            "To insert, our counting appends to a list per predicate; the thesis' version fills a row of a matrix.",
        ),
        Claim(
            "5.4.1",
            "deletions per second at 1,000,000",
            bound(found_largest[GENERAL]["deletions"], 20_000),
            f"{_MACHINE} Measured at {largest:,}, L = {largest_value}.",
        ),
        Claim(
            "5.4.1",
            "deletion is faster than insertion",
            statement(
                [own[GENERAL]["deletions"] > own[GENERAL]["insertions"] for own in every],
                _range(own[GENERAL]["deletions"] / own[GENERAL]["insertions"] for own in every),
            ),
        ),
        Claim(
            "5.4.1",
            "counting: events per second at 100,000",
            bound(at[shortest, near][COUNTING]["events"], 350),
            _MACHINE,
        ),
    ]
    small = [found for _, size, found in measured if size <= 400_000]
    claims.append(
        Claim(
            "5.4.1",
            "up to 400,000 counting is the fastest of all",
            statement(
                [own[COUNTING]["events"] == max(other["events"] for other in own.values()) for own in small],
                _range(own[COUNTING]["events"] / own[PATH]["events"] for own in small) + " true value path",
            ),
            _SCAN,
        )
    )
    large = [found for _, size, found in measured if size >= 500_000] or [found_largest]
    claims += [
        Claim("5.4.1", "from 500,000 the matching tree is faster than counting", _faster(large, TREE, COUNTING)),
        Claim(
            "5.4.1",
            "the filters do not reach both counting and the matching tree",
            statement(
                [own[PATH]["events"] < max(own[COUNTING]["events"], own[TREE]["events"]) for own in every],
                _range(own[PATH]["events"] / max(own[COUNTING]["events"], own[TREE]["events"]) for own in every),
            ),
            "Probably because the thesis calls a function for each node; on arrays, a node costs a few instructions.",
        ),
        Claim(
            "5.4.1",
            "over 1,000,000 the general filter is about as fast as counting (factor)",
            speed(found_largest[GENERAL]["events"] / found_largest[COUNTING]["events"], 1.0),
            f"It is ahead long before. Measured at {largest:,}.",
        ),
        _less_affected_by_size(options, points),
        Claim("5.4.1", "the true value path filter is the fastest of the three", _fastest_filter(every)),
        Claim(
            "3.5.1",
            "zero suppression is faster than the general filter",
            _faster(every, ZERO, GENERAL),
            "At the exceptions both took about the same time.",
        ),
        *_brute_force(at, shortest, longest, near),
        *_memory(measured, at, longest),
        _length_of_equalities(options, points, near),
    ]
    return claims


def _range(ratios: Iterable[float]) -> str:
    return f"{_span(list(ratios), '.2g')} times"


def _span(values: Sequence[float], shown: str = ".2f") -> str:
    """From the least to the most, or what both are.

    >>> _span([0.5, 0.25]), _span([0.921, 0.919])
    ('0.25 to 0.50', '0.92')
    """
    low, high = f"{min(values):{shown}}", f"{max(values):{shown}}"
    return low if low == high else f"{low} to {high}"


def _fastest_filter(found: Sequence[Figures]) -> Judged:
    ratios = [own[PATH]["events"] / max(own[GENERAL]["events"], own[ZERO]["events"]) for own in found if PATH in own]
    return statement([ratio > 1 for ratio in ratios], f"{_span(ratios)} times the next")


def _less_affected_by_size(options: Options, points: Points) -> Claim:
    slower: dict[str, list[float]] = {}
    for value in map(int, options["sizes"]):
        sizes = sizes_of(options, value)
        first, last = figures(points, value, min(sizes)), figures(points, value, max(sizes))
        if len(sizes) > 1 and first and last:
            for name in (GENERAL, PATH, TREE, COUNTING):
                slower.setdefault(name, []).append(first[name]["events"] / last[name]["events"])
    holds = [
        own < counting
        for name in (GENERAL, PATH, TREE)
        for own, counting in zip(slower[name], slower[COUNTING], strict=True)
    ]
    shown = ", ".join(f"{name} x{max(own):.0f}" for name, own in slower.items())
    return Claim(
        "5.4.1",
        "more subscriptions slow the A-Tree and the matching tree less than counting",
        statement(holds, f"slower by up to {shown}"),
        "SMPE is a share, so ten times the subscriptions are ten times the matches; for counting, which looks at every "
        "subscription anyway, these make the least difference.",
    )


def _brute_force(at: dict[tuple[int, int], Figures], shortest: int, longest: int, near: int) -> list[Claim]:
    sizes = sorted(size for value, size in at if value == longest)
    first, last = near, sizes[-1] if sizes[-1] > near else sizes[0]
    growth = last / first
    slower = at[longest, first][BRUTE]["events"] / at[longest, last][BRUTE]["events"]
    claims = [
        Claim(
            "table 5.3",
            f"brute force, L = 14: slower by this factor for x{growth:.2g} the subscriptions",
            speed(slower, growth * 0.5838 / 0.1957 / 3),
        ),
        Claim(
            "table 5.4",
            f"brute force: memory for x{growth:.2g} the subscriptions, L = 14",
            count(
                at[longest, last][BRUTE]["bytes"] / at[longest, first][BRUTE]["bytes"],
                growth * 461 / 153 / 3,
                neutral=1,
            ),
            "Ours has a table of distinct predicates, and where there are more subscriptions, more of them have values "
            "of their own.",
        ),
    ]
    if (shortest, near) in at:
        lengths = at[shortest, near][BRUTE]["events"] / at[longest, near][BRUTE]["events"]
        claims += [
            Claim(
                "table 5.3",
                f"brute force: events per second at 100,000, L = {shortest}",
                bound(at[shortest, near][BRUTE]["events"], 2.5615, shown=".1f"),
                _MACHINE,
            ),
            Claim(
                "table 5.3",
                f"brute force at 100,000: L = 14 is slower than L = {shortest} by this factor",
                speed(lengths, 2.5615 / 0.5838),
            ),
        ]
    return claims


def _memory(
    measured: Sequence[tuple[int, int, Figures]], at: dict[tuple[int, int], Figures], longest: int
) -> list[Claim]:
    every = [found for _, _, found in measured]
    largest = max(size for value, size in at if value == longest)
    per_subscription = at[longest, largest][PATH]["bytes"] / largest
    return [
        Claim(
            "5.4.1",
            "the true value path filter takes less memory than the general",
            _fewer(every, PATH, GENERAL, "bytes"),
        ),
        Claim(
            "5.4.1",
            "general and zero suppression take the same memory",
            statement([own[GENERAL]["bytes"] == own[ZERO]["bytes"] for own in every], ""),
        ),
        Claim(
            "5.4.1",
            "counting takes the least memory",
            statement(
                [
                    all(own[COUNTING]["bytes"] <= own[other]["bytes"] for other in (GENERAL, PATH, TREE))
                    for own in every
                ],
                _range(own[COUNTING]["bytes"] / own[TREE]["bytes"] for own in every) + " the matching tree",
            ),
        ),
        Claim("5.4.1", "the matching tree takes less memory than the A-Tree", _fewer(every, TREE, PATH, "bytes")),
        Claim(
            "5.4.1",
            "bytes per subscription, L = 14 (1.6 GB for 4,000,000)",
            bound(per_subscription, 1.6e9 / 4e6, at_most=True),
            "Our nodes have 60 bytes, with both directions of every edge and a hash table; and those of pool B are "
            f"hardly shared. At {largest:,}.",
        ),
    ]


def _length_of_equalities(options: Options, points: Points, near: int) -> Claim:
    lengths = [value for value in sorted(map(int, options["sizes"])) if near in sizes_of(options, value) and value >= 6]
    slower = {}
    for name in (GENERAL, PATH, COUNTING, TREE):
        own = [found[name]["events"] for value in lengths if (found := figures(points, value, near))]
        slower[name] = own[0] / own[-1]
    return Claim(
        "5.7, figure 5.25",
        f"L = {lengths[0]} to {lengths[-1]}: only the matching tree is largely affected",
        statement(
            [slower[TREE] > own for name, own in slower.items() if name != TREE],
            ", ".join(f"{name} x{own:.1f}" for name, own in slower.items()) + " slower",
        ),
        "Probably because ours skips attributes that a subscription does not care about, so its paths are as long as "
        "L; the filters compute all near misses, and longer conjunctions have more of them.",
    )


def section_5_5(options: Options, points: Points) -> list[Claim]:
    """AND and OR."""
    every = [found for _, _, found in _points(options, points)]
    return [
        Claim("5.5", "the true value path filter outperforms the other two", _fastest_filter(every)),
        Claim("3.5.1", "zero suppression is faster than the general filter", _faster(every, ZERO, GENERAL)),
        Claim(
            "5.5", "true value path takes less memory than the general filter", _fewer(every, PATH, GENERAL, "bytes")
        ),
        Claim(
            "3.5", "true value path computes fewer nodes than zero suppression", _fewer(every, PATH, ZERO, "computed")
        ),
        Claim(
            "3.5",
            "zero suppression computes fewer nodes than the general filter",
            _fewer(every, ZERO, GENERAL, "computed"),
        ),
    ]


def section_5_6(options: Options, points: Points) -> list[Claim]:
    """AND, OR and XOR, which the true value path filter cannot take."""
    every = [found for _, _, found in _points(options, points)]
    return [
        Claim("3.5.1", "zero suppression is faster than the general filter", _faster(every, ZERO, GENERAL)),
    ]


def section_5_7(options: Options, points: Points) -> list[Claim]:
    """Predicates per subscription."""
    claims = []
    for name in (GENERAL, PATH):
        holds, factors = _sweep_falls(options, points, name, "events")
        claims.append(
            Claim(
                "5.7, figures 5.23 and 5.24",
                f"more predicates per subscription make the {name} filter slower",
                statement(holds, f"with the most predicates {_span(factors)} of the rate with the fewest"),
            )
        )
    every = [found for _, _, found in _points(options, points)]
    claims.append(Claim("5.7", "the true value path filter is faster than the general", _faster(every, PATH, GENERAL)))
    return claims


def section_5_8(options: Options, points: Points) -> list[Claim]:
    """Shared nodes."""
    texts = (
        ("figure 5.26", "more events per second", "events", True),
        ("figure 5.27", "more insertions per second", "insertions", True),
        ("figure 5.28", "less memory", "bytes", False),
        ("figure 5.29", "fewer nodes", "nodes", False),
    )
    claims = []
    for where, text, metric, rises in texts:
        holds, factors = _sweep_falls(options, points, PATH, metric, rises=rises)
        claims.append(
            Claim(
                f"5.8, {where}",
                f"more shared nodes: {text}",
                statement(holds, f"with the most shared nodes {_span(factors)} times that with the fewest"),
            )
        )
    return claims


def section_5_9(options: Options, points: Points) -> list[Claim]:
    """Matches per event."""
    claims = []
    for name, where in ((PATH, "figure 5.30"), (COUNTING, "figure 5.31")):
        holds, factors = _sweep_falls(options, points, name, "events")
        claims.append(
            Claim(
                f"5.9, {where}",
                f"fewer matches per event make {name} faster",
                statement(holds, f"with the most matches {_span(factors)} of the rate with the fewest"),
            )
        )
    return claims


def kernel(_: Options, __: Points) -> list[Claim]:
    """Our kernel is not in the thesis."""
    return []
