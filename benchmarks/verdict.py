"""When a claim of a paper counts as reproduced: one rule for each kind of claim.

`RULES` has them in words; the functions below apply them. None looks at which claim it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["reproduced", "trend only", "not reproduced"]
Kind = Literal["calculation", "count", "effect", "speed", "price", "bound", "statement"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "trend only", "not reproduced")

# By kind: what the paper says, when that is reproduced, and when only its trend is.
RULES: dict[Kind, tuple[str, str, str]] = {
    "calculation": ("a value that follows from the paper's own input", "the printed digits, rounded or cut off", "-"),
    "count": ("a counted share or factor", "within a tenth of it, or .03 if it is a share", "within a factor of two"),
    "effect": ("a counted gain or loss", "within a tenth of it, or .03 if it is a share", "in the same direction"),
    "speed": ("a factor between two times", "within a quarter of it", "in the same direction"),
    "price": ("what something costs, as a share", "no more than that, but for .01", "at most twice that"),
    "bound": ("a figure of the paper's machine that is reached", "reached", "-"),
    "statement": ("a direction, without a figure", "at every point measured", "at more than half of the points"),
}


@dataclass(frozen=True)
class Judged:
    """Our figure, its ratio to the paper's where both are numbers, and the verdict."""

    kind: Kind
    paper: str
    ours: str
    ratio: float | None
    verdict: Verdict


def calculation(ours: float, printed: str) -> Judged:
    """A value that the paper prints with some digits.

    >>> calculation(0.3645, ".364").verdict, calculation(0.3655, ".568").verdict
    ('reproduced', 'not reproduced')
    """
    digits = len(printed.partition(".")[2])
    unit = 10.0**-digits
    # Papers round or cut off; either way the difference is less than a unit of the last digit.
    is_same = abs(ours - float(printed)) < unit * 0.9999
    return Judged("calculation", printed, f"{ours:.{digits + 1}f}", _ratio(ours, float(printed)), _either(is_same))


def count(
    ours: float, paper: float, *, neutral: float | None = None, shown: str = ".2f", share: bool = False
) -> Judged:
    """A counted share or factor. If it is an effect, `neutral` is what it would be without it.

    >>> count(0.52, 0.49, share=True).verdict, count(1.2, 3, neutral=1).verdict, count(0.8, 3, neutral=1).verdict
    ('reproduced', 'trend only', 'not reproduced')
    >>> count(0.30, 0.49).verdict, count(0.20, 0.49).verdict
    ('trend only', 'not reproduced')
    """
    is_close = abs(ours - paper) <= max(abs(paper) / 10, 0.03 if share else 0.0)
    if neutral is None:
        is_near = paper != 0 and 0.5 <= ours / paper <= 2
        verdict: Verdict = "reproduced" if is_close else "trend only" if is_near else "not reproduced"
        return Judged("count", f"{paper:{shown}}", f"{ours:{shown}}", _ratio(ours, paper), verdict)
    return _number("effect", ours, paper, is_close, neutral, shown)


def speed(ours: float, paper: float, *, shown: str = ".1f") -> Judged:
    """How many times faster one is than the other.

    >>> speed(1.2, 1.3).verdict, speed(1.1, 3).verdict, speed(0.6, 3).verdict
    ('reproduced', 'trend only', 'not reproduced')
    """
    return _number("speed", ours, paper, 0.8 <= ours / paper <= 1.25, 1.0, shown)


def price(ours: float, paper: float, *, shown: str = ".2f") -> Judged:
    """What is paid, where less is better.

    >>> price(0.02, 0.05).verdict, price(0.08, 0.05).verdict, price(0.2, 0.05).verdict
    ('reproduced', 'trend only', 'not reproduced')
    """
    verdict: Verdict = "reproduced" if ours <= paper + 0.01 else "trend only" if ours <= 2 * paper else "not reproduced"
    return Judged("price", f"{paper:{shown}}", f"{ours:{shown}}", _ratio(ours, paper), verdict)


def bound(ours: float, paper: float, *, at_most: bool = False, shown: str = ",.0f", unit: str = "") -> Judged:
    """A figure that is to be reached, or not to be exceeded.

    >>> bound(50_000, 5_000).ours, bound(700, 400, at_most=True).verdict
    ('50,000', 'not reproduced')
    """
    is_reached = ours <= paper if at_most else ours >= paper
    word = "at most" if at_most else "at least"
    return Judged(
        "bound", f"{word} {paper:{shown}}{unit}", f"{ours:{shown}}{unit}", _ratio(ours, paper), _either(is_reached)
    )


def statement(holds: Sequence[bool], ours: str, paper: str = "yes") -> Judged:
    """A direction, and whether it holds at each point.

    >>> statement([True, True, False], "").verdict, statement([True, False], "").verdict
    ('trend only', 'not reproduced')
    """
    if not holds:
        raise ValueError("a statement needs a point at which it was measured")
    held = sum(holds)
    verdict: Verdict = (
        "reproduced" if held == len(holds) else "trend only" if held > len(holds) / 2 else "not reproduced"
    )
    points = f"{held} of {len(holds)} points" if len(holds) > 1 else "" if ours else "yes" if held else "no"
    return Judged("statement", paper, "; ".join(part for part in (ours, points) if part), None, verdict)


def _number(kind: Kind, ours: float, paper: float, is_close: bool, neutral: float, shown: str) -> Judged:
    is_same_way = (ours - neutral) * (paper - neutral) > 0
    verdict: Verdict = "reproduced" if is_close else "trend only" if is_same_way else "not reproduced"
    return Judged(kind, f"{paper:{shown}}", f"{ours:{shown}}", _ratio(ours, paper), verdict)


def _ratio(ours: float, paper: float) -> float | None:
    return ours / paper if paper else None


def _either(holds: bool) -> Verdict:
    return "reproduced" if holds else "not reproduced"
