"""Expensive predicates (Liu and others 2007): figures 4 to 8, by `benchmarks.schedules`. Counted, not timed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.papers.experiment import Claim, Options, Points
from benchmarks.schedules.claims import judged
from benchmarks.schedules.figures import FIGURES, Evaluations, Run


def points(_: Options) -> list[str]:
    """The figures."""
    return [str(figure) for figure in FIGURES]


def measure(options: Options, figure: str) -> Any:
    """Every point of a figure."""
    run = Run(options["scale"], options["rows"], options["repeat"], options["model"])
    return [asdict(own) for own in run.measure(int(figure))]


def claims(_: Options, points: Points) -> list[Claim]:
    """What section 5.3 says about the figures."""
    measured = {int(figure): [Evaluations(**own) for own in found] for figure, found in points.items()}
    return [Claim(f"figure {claim.figure}", claim.text, found, claim.why) for claim, found in judged(measured)]
