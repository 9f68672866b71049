"""The plots of the page, from the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from benchmarks.advertisement_pruning import PAPER as TABLE_4
from benchmarks.advertisement_pruning import Point, cut_off
from benchmarks.papers.chart import PALETTE, Panel, Series, bar_chart, dot_chart, line_chart
from benchmarks.papers.experiment import Result
from benchmarks.papers.thesis import figures, sizes_of
from benchmarks.schedules.figures import FIGURES
from benchmarks.verdict import VERDICTS, Verdict

Results = Mapping[str, Result]
ALGORITHMS = (
    "general",
    "zero suppression",
    "true value path",
    "brute force",
    "counting",
    "matching tree",
    "our kernel",
)
_ALGORITHM_COLOURS = dict(zip(ALGORITHMS, (*PALETTE[:6], PALETTE[6]), strict=True))
VERDICT_COLOURS: dict[str, str] = dict(zip(VERDICTS, ("#2da44e", "#d29922", "#e5534b"), strict=True))


def verdicts(counts: Mapping[str, Mapping[Verdict, int]]) -> str:
    """Verdicts by paper."""
    rows = {name: {str(verdict): own[verdict] for verdict in VERDICTS} for name, own in counts.items()}
    return bar_chart("Verdicts by paper", rows, VERDICT_COLOURS)


def _by_size(results: Results, name: str, value: int, metric: str, factor: float = 1.0) -> Series:
    """A line for each algorithm over the number of subscriptions."""
    own = results[name]
    lines: dict[str, list[tuple[float, float]]] = {}
    for size in sizes_of(own.options, value):
        for algorithm, found in (figures(own.points, value, size) or {}).items():
            lines.setdefault(algorithm, []).append((size, found[metric] * factor))
    kernel = results.get("thesis-kernel")
    if kernel is not None and metric == "events":
        for point, found in kernel.points.items():
            sweep, at, size_of = point.split()
            if (sweep, int(at)) == (name, value):
                lines.setdefault("our kernel", []).append((float(size_of), found["events"]))
    return {algorithm: sorted(points) for algorithm, points in lines.items()}


def _by_value(results: Results, name: str, metric: str) -> tuple[int, Series]:
    """A line for each algorithm over what is swept, at the largest size that all values have."""
    own = results[name]
    values = sorted(map(int, own.options["sizes"]))
    size = max(set.intersection(*(set(sizes_of(own.options, value)) for value in values)))
    lines: dict[str, list[tuple[float, float]]] = {}
    for value in values:
        for algorithm, found in (figures(own.points, value, size) or {}).items():
            lines.setdefault(algorithm, []).append((value, found[metric]))
    return size, lines


def _sizes_panel(results: Results, name: str, value: int, metric: str, label: str, factor: float = 1.0) -> Panel:
    title = f"{name.removeprefix('thesis-')}, L = {value}"
    return Panel(title, "subscriptions", label, _by_size(results, name, value, metric, factor), True, True)


def _lengths(results: Results, name: str) -> list[int]:
    own = results[name].options
    return [value for value in sorted(map(int, own["sizes"])) if len(sizes_of(own, value)) > 1]


def _used(panels: Sequence[Panel]) -> dict[str, str]:
    names = {name for panel in panels for name in panel.series}
    return {name: colour for name, colour in _ALGORITHM_COLOURS.items() if name in names}


def thesis_events(results: Results) -> str:
    """5.4: events per second."""
    panels = [
        _sizes_panel(results, "thesis-5.4", value, "events", "events per second")
        for value in _lengths(results, "thesis-5.4")
    ]
    return line_chart("Events per second against the number of subscriptions", panels, _used(panels))


def thesis_maintenance(results: Results) -> str:
    """5.4: insertions, deletions and memory."""
    longest = _lengths(results, "thesis-5.4")[-1]
    panels = []
    for metric, label, factor in (
        ("insertions", "insertions per second", 1.0),
        ("deletions", "deletions per second", 1.0),
        ("bytes", "megabytes", 1e-6),
    ):
        own = _sizes_panel(results, "thesis-5.4", longest, metric, label, factor)
        # The filters have one forest: a line for all of them, but for what each needs besides.
        others = ("zero suppression", "true value path") if metric != "bytes" else ("zero suppression",)
        left_out = (*others, "brute force") if metric == "insertions" else others
        panels.append(replace(own, series={name: line for name, line in own.series.items() if name not in left_out}))
    return line_chart("Insertions, deletions and memory against the number of subscriptions", panels, _used(panels))


def thesis_filters(results: Results) -> str:
    """5.5 and 5.6: events per second."""
    panels = [
        _sizes_panel(results, name, value, "events", "events per second")
        for name in ("thesis-5.5", "thesis-5.6")
        for value in _lengths(results, name)
    ]
    return line_chart("Events per second with AND and OR, and with XOR", panels, _used(panels))


def thesis_sweeps(results: Results) -> str:
    """5.7 to 5.9: events per second."""
    labels = {"thesis-5.7": "predicates (L)", "thesis-5.8": "shared nodes (SNPS), %", "thesis-5.9": "matches (SMPE), %"}
    panels = []
    for name, label in labels.items():
        size, lines = _by_value(results, name, "events")
        title = f"{name.removeprefix('thesis-')}, {size:,} subscriptions"
        panels.append(Panel(title, label, "events per second", lines, y_log=True))
    return line_chart("Events per second in the other sweeps", panels, _used(panels))


def advertisement_table_4(results: Results) -> str:
    """Table 4: memory removed at the cut-off."""
    rows = {}
    for name, found in results["advertisement-pruning"].points.items():
        at = cut_off([Point(**own) for own in found])
        rows[name] = {"paper": TABLE_4[name][1], "ours": at.memory}
    return dot_chart(
        "Memory removed at the cut-off, by class of advertisements",
        rows,
        {"paper": PALETTE[3], "ours": PALETTE[0]},
        "share of predicate associations removed",
        label_width=90,
    )


def subscription_curves(results: Results) -> str:
    """Figures 6 to 9: the union against prunings."""
    points = results["subscription-pruning"].points
    panels = [
        Panel(
            name,
            "share of all prunings",
            "share of the rows, of the predicates",
            {
                "union": [(own["prunings"], own["union"]) for own in found["curve"]],
                "predicates gone": [(own["prunings"], own["gone"]) for own in found["curve"]],
            },
        )
        for name, found in points.items()
    ]
    return line_chart(
        "Union of the matched rows against prunings",
        panels,
        {"union": PALETTE[0], "predicates gone": PALETTE[7]},
        columns=2,
    )


def expensive_figures(results: Results) -> str:
    """Figures 4 to 8: evaluations per row."""
    names = {
        "naive": "naive",
        "sequential": "Sequential",
        "sub_order": "Sub-Order",
        "by_predicate": "by predicate",
        "cover": "an oracle's cover",
    }
    own = results["expensive-predicates"]
    scale = own.options["scale"]
    panels = []
    for figure, found in own.points.items():
        settings = FIGURES[int(figure)]
        label, ticks = "rules", {}
        if figure == "6":
            label, xs = "predicates", [at.predicates * scale for at in settings]
        elif figure == "7":
            label, xs = "predicates per rule, at most", [float(at.longest) for at in settings]
        elif figure == "8":
            label, xs = "exponent of Zipf's law", [at.zipf or 0.6 for at in settings]
            ticks = {0.6: "uniform", 0.8: "0.8", 1.0: "1.0", 1.2: "1.2"}
        else:
            xs = [at.rules * scale for at in settings]
        lines = {shown: [(x, point[name]) for x, point in zip(xs, found, strict=True)] for name, shown in names.items()}
        panels.append(Panel(f"figure {figure}", label, "evaluations per row", lines, x_ticks=ticks))
    colours = dict(zip(names.values(), (PALETTE[1], PALETTE[3], PALETTE[0], PALETTE[2], PALETTE[7]), strict=True))
    return line_chart("Evaluated predicates per row", panels, colours)


_ORDERS = {"natural": PALETTE[7], "V1": PALETTE[0], "V2": PALETTE[3], "V3": PALETTE[2], "binary": PALETTE[1]}


def distribution_values(results: Results) -> str:
    """TV4: comparisons per event for some pairs of distributions."""
    shown = (
        "equal / equal",
        "equal / peak high",
        "falling / equal",
        "Gauss / equal",
        "Gauss high / peak low",
        "peak 10 % / equal",
        "peak 10 % / peak high",
        "peak 80 % / Gauss",
        "equal / only 10 %",
        "Gauss low / only 10 %",
        "Gauss high / only 40 %",
    )
    found = results["distributions"].points["TV4"]
    rows = {pair: {order: found[pair][order]["event"] for order in _ORDERS} for pair in shown}
    return dot_chart("Comparisons per event by order of values", rows, _ORDERS, "comparisons per event", log=True)


def distribution_attributes(results: Results) -> str:
    """TA1 and TA2: comparisons per event by order of attributes."""
    rows = {
        f"{test}, {name}": {"V1": own["V1"], "binary": own["binary"]}
        for test in ("TA1", "TA2")
        for name, own in results["distributions"].points[test].items()
    }
    colours = {name: _ORDERS[name] for name in ("V1", "binary")}
    return dot_chart("Comparisons per event by order of attributes", rows, colours, "comparisons per event", log=True)


PLOTS: dict[str, tuple[tuple[str, ...], Callable[[Results], str]]] = {
    "thesis-events": (("thesis-5.4",), thesis_events),
    "thesis-maintenance": (("thesis-5.4",), thesis_maintenance),
    "thesis-filters": (("thesis-5.5", "thesis-5.6"), thesis_filters),
    "thesis-sweeps": (("thesis-5.7", "thesis-5.8", "thesis-5.9"), thesis_sweeps),
    "advertisement-pruning": (("advertisement-pruning",), advertisement_table_4),
    "subscription-pruning": (("subscription-pruning",), subscription_curves),
    "expensive-predicates": (("expensive-predicates",), expensive_figures),
    "distribution-values": (("distributions",), distribution_values),
    "distribution-attributes": (("distributions",), distribution_attributes),
}
"""Name of the file: the experiments that it needs, and how it is drawn."""
