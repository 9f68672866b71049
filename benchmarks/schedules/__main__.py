"""The experiments of "Scalable Event Matching for Overlapping Subscriptions" (Liu and others 2007), figures 4 to 8.

Counts the predicates that the schedules evaluate per row; nothing is timed. `present` are the predicates that the rules
have, `by predicate` is not in the paper, `cover` is an oracle that knows all answers, and `floor` counts rules without
a common predicate. To order the rules for Sub-Order takes time that grows with the square of the scale, because of
popular predicates.

    python -m benchmarks.schedules                              a tenth of the paper's sizes, two minutes
    python -m benchmarks.schedules --figures 4 --scale 1        the paper's sizes
"""

from __future__ import annotations

import argparse
from dataclasses import astuple

from benchmarks.schedules.claims import Figures, judged
from benchmarks.schedules.figures import FIGURES, PAPER, Run
from benchmarks.schedules.workload import MODELS


def points_table(measured: Figures, scale: float) -> str:
    """Evaluations per row at every point, beside those that the paper's text gives, as Markdown."""
    heads = "figure, rules, predicates, longest, popularity, present, naive, Sequential, Sub-Order, by predicate, cover"
    columns = [*heads.split(", "), "floor", "paper: naive, Sequential, Sub-Order (full size)"]
    lines = [f"| {' | '.join(columns)} |", "|--:" * len(columns) + "|"]
    for figure, points in measured.items():
        for settings, found in zip(FIGURES[figure][-len(points) :], points, strict=True):
            popularity = "uniform" if settings.zipf is None else f"Zipf {settings.zipf}"
            sizes = f"{settings.rules * scale:,.0f} | {settings.predicates * scale:,.0f} | {settings.longest}"
            given = PAPER.get(figure, {}).get(settings, ())
            paper = ", ".join("-" if own is None else f"{own:,}" for own in given) or "-"
            ours = " | ".join(f"{own:,.0f}" for own in astuple(found))
            lines.append(f"| {figure} | {sizes} | {popularity} | {ours} | {paper} |")
    return "\n".join(lines)


def claims_table(measured: Figures) -> str:
    """The paper's claims with our values and verdicts, as Markdown."""
    lines = ["| figure | claim | paper | ours | verdict |", "|--:|---|---|---|---|"]
    for claim, found in judged(measured):
        lines.append(f"| {claim.figure} | {claim.text} | {found.paper} | {found.ours} | {found.verdict} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.schedules", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--figures", nargs="+", type=int, choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--scale", type=float, default=0.1, help="of the paper's rules and predicates (default: 0.1)")
    parser.add_argument("--rows", type=int, default=1_000, help="per workload (the paper and default: 1000)")
    parser.add_argument("--repeat", type=int, default=3, help="workloads per point (default: 3)")
    parser.add_argument("--model", choices=MODELS, default="uniform", help="of the selectivities (default: uniform)")
    parser.add_argument("--last", action="store_true", help="only the last point of each figure, and no claims")
    options = parser.parse_args()
    run = Run(options.scale, options.rows, options.repeat, options.model)
    if options.last:
        measured = {figure: [run.measure_point(FIGURES[figure][-1])] for figure in options.figures}
    else:
        measured = {figure: run.measure(figure) for figure in options.figures}
    print(f"selectivity model: {options.model}; scale {options.scale}, {options.rows} rows, mean of {options.repeat}\n")
    print(points_table(measured, options.scale))
    if not options.last:
        print()
        print(claims_table(measured))


if __name__ == "__main__":
    main()
