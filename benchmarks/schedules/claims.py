"""What section 5.3 says about each figure, and whether a measurement agrees.

A claim with a number is *reproduced* if ours is within a tenth of the paper's, and *trend only* if just the direction
is the same. A claim about a direction is reproduced or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.schedules.figures import Evaluations

Verdict = Literal["reproduced", "trend only", "not reproduced"]
Points = Sequence[Evaluations]
Figures = Mapping[int, Points]


@dataclass(frozen=True)
class Claim:
    """A statement about a figure, the paper's value, and how to find ours."""

    figure: int
    text: str
    paper: str
    check: Callable[[Figures], tuple[str, Verdict]]
    needs: tuple[int, ...] = ()
    """Other figures that it compares with."""


def judged(measured: Figures) -> list[tuple[Claim, str, Verdict]]:
    """Every claim whose figures have been measured, with our value and the verdict."""
    ready = [claim for claim in CLAIMS if {claim.figure, *claim.needs} <= measured.keys()]
    return [(claim, *claim.check(measured)) for claim in ready]


def _number(ours: float, paper: float, *, same_direction: bool) -> Verdict:
    if abs(ours - paper) <= abs(paper) / 10:
        return "reproduced"
    return "trend only" if same_direction else "not reproduced"


def _holds(holds: bool) -> Verdict:
    return "reproduced" if holds else "not reproduced"


def _saving(figure: int, name: str, paper: float) -> Callable[[Figures], tuple[str, Verdict]]:
    def check(measured: Figures) -> tuple[str, Verdict]:
        last = measured[figure][-1]
        ours = 1 - getattr(last, name) / last.naive
        return f"{ours:.0%}", _number(ours, paper, same_direction=ours > 0)

    return check


def _sub_order_is_best(figure: int, paper: float | None = None) -> Callable[[Figures], tuple[str, Verdict]]:
    """`paper`: by how much at the last point, if the text says so."""

    def check(measured: Figures) -> tuple[str, Verdict]:
        gaps = [1 - own.sub_order / own.sequential for own in measured[figure]]
        verdict = _holds(min(gaps) > 0)
        if paper is not None and min(gaps) > 0:
            verdict = _number(gaps[-1], paper, same_direction=True)
        return f"{min(gaps):+.0%} to {max(gaps):+.0%}, {gaps[-1]:+.0%} at the last", verdict

    return check


def _growth(points: Points, name: str) -> float:
    return float(getattr(points[-1], name) / getattr(points[0], name))


def _slower_than_naive(figure: int) -> Callable[[Figures], tuple[str, Verdict]]:
    def check(measured: Figures) -> tuple[str, Verdict]:
        naive, *others = (_growth(measured[figure], name) for name in ("naive", "sequential", "sub_order"))
        return f"x{naive:.1f}, x{others[0]:.1f}, x{others[1]:.1f}", _holds(max(others) < naive)

    return check


def _naive_is_linear(measured: Figures) -> tuple[str, Verdict]:
    growth = _growth(measured[4], "naive")
    return f"x{growth:.1f}", _number(growth, 40, same_direction=False)


def _zipf_is_cheaper(measured: Figures) -> tuple[str, Verdict]:
    pairs = list(zip(measured[5], measured[4], strict=True))
    shares = [
        getattr(zipf, name) / getattr(uniform, name) for zipf, uniform in pairs for name in ("sequential", "sub_order")
    ]
    return f"{min(shares):.2f} to {max(shares):.2f} of uniform", _holds(max(shares) < 1)


def _length_hardly_matters(measured: Figures) -> tuple[str, Verdict]:
    growth = _growth(measured[7], "sequential")
    return f"x{growth:.2f}", _number(growth, 1784 / 1593, same_direction=1 <= growth < 11 / 5)


def _naive_asks_nearly_all(measured: Figures) -> tuple[str, Verdict]:
    shares = [own.naive / own.present for own in measured[7]]
    return f"{min(shares):.0%} to {max(shares):.0%} of those present", _holds(min(shares) >= 0.9)


def _gap_shrinks(measured: Figures) -> tuple[str, Verdict]:
    first, last = (1 - own.sub_order / own.sequential for own in (measured[7][0], measured[7][-1]))
    return f"{first:+.0%} to {last:+.0%}", _holds(0 <= last < first)


def _skew_helps(measured: Figures) -> tuple[str, Verdict]:
    falls = all(
        getattr(later, name) < getattr(earlier, name)
        for earlier, later in zip(measured[8], measured[8][1:], strict=False)
        for name in ("sequential", "sub_order")
    )
    shares = " ".join(f"x{1 / _growth(measured[8], name):.1f}" for name in ("sequential", "sub_order"))
    return f"cheaper by {shares}", _holds(falls)


CLAIMS = (
    Claim(4, "Sequential saves against naive, most rules", "80%", _saving(4, "sequential", 0.8)),
    Claim(4, "Sub-Order saves against naive, most rules", "80%", _saving(4, "sub_order", 0.8)),
    Claim(4, "Sub-Order is below Sequential at every point", "+9% at the last", _sub_order_is_best(4, 1 - 7037 / 7761)),
    Claim(4, "naive grows linearly with the rules", "x40", _naive_is_linear),
    Claim(4, "Sequential and Sub-Order grow more slowly", "naive, Seq., Sub-O.", _slower_than_naive(4)),
    Claim(5, "Sub-Order is below Sequential at every point", "yes", _sub_order_is_best(5)),
    Claim(5, "Sequential and Sub-Order grow more slowly", "naive, Seq., Sub-O.", _slower_than_naive(5)),
    Claim(5, "both are cheaper than with uniform popularity", "yes", _zipf_is_cheaper, needs=(4,)),
    Claim(6, "Sequential saves against naive, most predicates", "80%", _saving(6, "sequential", 1 - 3267 / 16251)),
    Claim(6, "Sub-Order saves against naive, most predicates", "88%", _saving(6, "sub_order", 1 - 1977 / 16251)),
    Claim(
        6, "Sub-Order is below Sequential at every point", "+39% at the last", _sub_order_is_best(6, 1 - 1977 / 3267)
    ),
    Claim(6, "Sequential and Sub-Order grow more slowly", "naive, Seq., Sub-O.", _slower_than_naive(6)),
    Claim(7, "Sequential hardly grows with the length", "x1.12", _length_hardly_matters),
    Claim(7, "naive evaluates nearly all predicates", "close to 5000", _naive_asks_nearly_all),
    Claim(7, "the gap of Sub-Order to Sequential shrinks", "yes", _gap_shrinks),
    Claim(8, "skewed popularity makes both cheaper", "yes", _skew_helps),
)
