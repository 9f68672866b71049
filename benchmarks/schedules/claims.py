"""What section 5.3 says about each figure, and whether a measurement agrees, by the rules of `benchmarks.verdict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.schedules.figures import Evaluations
from benchmarks.verdict import Judged, count, statement

Points = Sequence[Evaluations]
Figures = Mapping[int, Points]
Check = Callable[[Figures], Judged]


@dataclass(frozen=True)
class Claim:
    """A statement about a figure, how to find our value, and why it differs, if we know."""

    figure: int
    text: str
    check: Check
    needs: tuple[int, ...] = ()
    """Other figures that it compares with."""
    why: str = ""


def judged(measured: Figures) -> list[tuple[Claim, Judged]]:
    """Every claim whose figures have been measured, with our value and the verdict."""
    ready = [claim for claim in CLAIMS if {claim.figure, *claim.needs} <= measured.keys()]
    return [(claim, claim.check(measured)) for claim in ready]


def _saving(figure: int, name: str, paper: float) -> Check:
    def check(measured: Figures) -> Judged:
        last = measured[figure][-1]
        return count(1 - getattr(last, name) / last.naive, paper, neutral=0.0, shown=".0%", share=True)

    return check


def _gap_at_last(figure: int, paper: float) -> Check:
    def check(measured: Figures) -> Judged:
        last = measured[figure][-1]
        return count(1 - last.sub_order / last.sequential, paper, neutral=0.0, shown="+.0%", share=True)

    return check


def _sub_order_is_best(figure: int) -> Check:
    def check(measured: Figures) -> Judged:
        gaps = [1 - own.sub_order / own.sequential for own in measured[figure]]
        return statement([gap > 0 for gap in gaps], f"{min(gaps):+.0%} to {max(gaps):+.0%}")

    return check


def _growth(points: Points, name: str) -> float:
    return float(getattr(points[-1], name) / getattr(points[0], name))


def _slower_than_naive(figure: int) -> Check:
    def check(measured: Figures) -> Judged:
        naive, *others = (_growth(measured[figure], name) for name in ("naive", "sequential", "sub_order"))
        ours = f"naive x{naive:.1f}, Sequential x{others[0]:.1f}, Sub-Order x{others[1]:.1f}"
        return statement([own < naive for own in others], ours)

    return check


def _naive_is_linear(measured: Figures) -> Judged:
    return count(_growth(measured[4], "naive"), 40, neutral=40, shown=".1f")


def _zipf_is_cheaper(measured: Figures) -> Judged:
    pairs = list(zip(measured[5], measured[4], strict=True))
    shares = [
        getattr(zipf, name) / getattr(uniform, name) for zipf, uniform in pairs for name in ("sequential", "sub_order")
    ]
    return statement([share < 1 for share in shares], f"{min(shares):.2f} to {max(shares):.2f} of uniform")


def _length_hardly_matters(measured: Figures) -> Judged:
    return count(_growth(measured[7], "sequential"), 1784 / 1593, neutral=1.0)


def _naive_asks_nearly_all(measured: Figures) -> Judged:
    shares = [own.naive / own.present for own in measured[7]]
    return statement(
        [share >= 0.9 for share in shares], f"{min(shares):.0%} to {max(shares):.0%} of those present", "close to 5,000"
    )


def _gap_shrinks(measured: Figures) -> Judged:
    first, last = (1 - own.sub_order / own.sequential for own in (measured[7][0], measured[7][-1]))
    return statement([0 <= last < first], f"{first:+.0%} to {last:+.0%}")


def _skew_helps(measured: Figures) -> Judged:
    falls = [
        getattr(later, name) < getattr(earlier, name)
        for earlier, later in zip(measured[8], measured[8][1:], strict=False)
        for name in ("sequential", "sub_order")
    ]
    shares = " and ".join(f"x{1 / _growth(measured[8], name):.1f}" for name in ("sequential", "sub_order"))
    return statement(falls, f"cheaper by {shares}")


_UNREACHABLE = (
    "The paper's values cannot come from the workload that it describes: with 80,000 rules over 40,000 predicates, "
    "five draws had 7,757 to 7,828 rules of which no two share a predicate, and each needs an evaluation of its own."
)
_NOT_LINEAR = "2,000 rules need at least 1,392 evaluations; 40 times as many would be more than the 40,000 predicates."
_RAREST_FIRST = (
    "Sub-Order asks the rarest predicate of a rule first, popular or not, and under Zipf's law popular ones are worth "
    "more; with the selectivity model `extreme` it is 3 to 10 % below Sequential in figure 6."
)
_TOO_MANY = (
    "The paper's naive evaluates 16,251 predicates, but 20,000 rules over 30,000 have at most 14,589 in five draws: "
    "its naive seems not to stop at the first false one."
)
_LONGER_SHARE = "It becomes cheaper: longer rules share more. That it does not degrade with the length holds."

CLAIMS = (
    Claim(4, "Sequential saves against naive, most rules", _saving(4, "sequential", 0.8), why=_UNREACHABLE),
    Claim(4, "Sub-Order saves against naive, most rules", _saving(4, "sub_order", 0.8), why=_UNREACHABLE),
    Claim(4, "Sub-Order is below Sequential at every point", _sub_order_is_best(4)),
    Claim(4, "Sub-Order is below Sequential, most rules", _gap_at_last(4, 1 - 7037 / 7761)),
    Claim(4, "naive grows linearly, for 40 times the rules by", _naive_is_linear, why=_NOT_LINEAR),
    Claim(4, "Sequential and Sub-Order grow more slowly than naive", _slower_than_naive(4)),
    Claim(5, "Sub-Order is below Sequential at every point", _sub_order_is_best(5), why=_RAREST_FIRST),
    Claim(5, "Sequential and Sub-Order grow more slowly than naive", _slower_than_naive(5)),
    Claim(5, "both are cheaper than with uniform popularity", _zipf_is_cheaper, needs=(4,)),
    Claim(
        6, "Sequential saves against naive, most predicates", _saving(6, "sequential", 1 - 3267 / 16251), why=_TOO_MANY
    ),
    Claim(
        6, "Sub-Order saves against naive, most predicates", _saving(6, "sub_order", 1 - 1977 / 16251), why=_TOO_MANY
    ),
    Claim(6, "Sub-Order is below Sequential at every point", _sub_order_is_best(6), why=_RAREST_FIRST),
    Claim(6, "Sub-Order is below Sequential, most predicates", _gap_at_last(6, 1 - 1977 / 3267), why=_RAREST_FIRST),
    Claim(6, "Sequential and Sub-Order grow more slowly than naive", _slower_than_naive(6)),
    Claim(7, "Sequential grows with the length of rules, by", _length_hardly_matters, why=_LONGER_SHARE),
    Claim(7, "naive evaluates nearly all predicates", _naive_asks_nearly_all, why=_TOO_MANY),
    Claim(7, "the gap of Sub-Order to Sequential shrinks", _gap_shrinks, why=_RAREST_FIRST),
    Claim(8, "the more skewed the popularity, the cheaper are both", _skew_helps),
)
