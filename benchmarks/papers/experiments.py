"""All experiments and their sizes. `full` is what the page has; the papers' own sizes can be set here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.papers import (
    advertisement_claims,
    advertisements,
    distribution_claims,
    distributions,
    expensive,
    pruning,
    thesis,
    thesis_claims,
)
from benchmarks.papers.experiment import Experiment, Options, Size

_K, _M = 1_000, 1_000_000


def _race(sizes: dict[int, Sequence[int]], events: int = 300, seconds: float = 0.6, rounds: int = 3) -> Options:
    # Keys of JSON are strings.
    return {
        "sizes": {str(value): list(own) for value, own in sizes.items()},
        "events": events,
        "seconds": seconds,
        "rounds": rounds,
    }


def _sweep(name: str, title: str, full: dict[int, Sequence[int]]) -> Experiment:
    ends = (min(full), max(full))
    options: dict[Size, Options] = {
        "smoke": _race(dict.fromkeys(ends, (60, 200)), events=5, seconds=0.02, rounds=1),
        "quick": _race(dict.fromkeys(full, (3 * _K, 10 * _K)), events=200, seconds=0.3),
        "full": _race(full),
    }
    return Experiment(
        name, title, options, thesis.points, partial(thesis.measure, name), getattr(thesis_claims, _claims_of(name))
    )


def _claims_of(name: str) -> str:
    return f"section_{name.removeprefix('thesis-').replace('.', '_')}"


def _distributions(domain: int, drawn: int) -> Options:
    return {
        "domain": domain,
        "profiles": 10 * domain,
        "events": 4_000,
        "attributes": 3,
        "small domain": max(6, domain // 5),
        "drawn profiles": drawn,
        "TA domain": max(20, domain // 2),
        "TA profiles": max(20, drawn // 50),
    }


_SMALL, _MEDIUM = (10 * _K, 100 * _K), (30 * _K,)
_LARGE = (10 * _K, 30 * _K, 100 * _K, 300 * _K)
_KERNEL: dict[str, Any] = {"rows": 50_000, "warm_up": 2.0, "seconds": 3.0, "memory": "6g", "cache": "build/bench"}

_ALL = (
    _sweep(
        "thesis-5.4",
        "5.4: conjunctions of equalities",
        {6: (*_LARGE, _M, 4 * _M), 10: (*_LARGE, _M), 14: (*_LARGE, _M), **dict.fromkeys((4, 8, 12), (100 * _K,))},
    ),
    _sweep("thesis-5.5", "5.5: AND and OR", dict.fromkeys((6, 10, 14), _SMALL)),
    _sweep("thesis-5.6", "5.6: AND, OR and XOR", dict.fromkeys((6, 10), _SMALL)),
    _sweep("thesis-5.7", "5.7: predicates per subscription", dict.fromkeys((6, 8, 10, 12, 14), _MEDIUM)),
    _sweep("thesis-5.8", "5.8: shared nodes", dict.fromkeys((10, 20, 40, 60, 80), _MEDIUM)),
    _sweep("thesis-5.9", "5.9: matches per event", dict.fromkeys((10, 40, 75), (10 * _K, 30 * _K))),
    Experiment(
        "thesis-kernel",
        "Our kernel at the same points",
        {
            "smoke": _KERNEL | {"points": [], "rows": 100},
            "quick": _KERNEL | {"points": [("thesis-5.4", 6, 10 * _K)], "rows": 10_000},
            "full": _KERNEL
            | {
                "points": [
                    ("thesis-5.4", 6, 10 * _K),
                    ("thesis-5.4", 6, 100 * _K),
                    ("thesis-5.4", 14, 10 * _K),
                    ("thesis-5.5", 10, 10 * _K),
                    ("thesis-5.6", 10, 10 * _K),
                    ("thesis-5.7", 14, 30 * _K),
                ]
            },
        },
        thesis.kernel_points,
        thesis.measure_kernel,
        thesis_claims.kernel,
        needs_spark=True,
    ),
    Experiment(
        "advertisements",
        "Table 3, figures 6 and 7",
        {
            "smoke": {"sizes": [80, 160], "subscriptions": 6},
            "quick": {"sizes": [1 * _K, 5 * _K], "subscriptions": 24},
            "full": {"sizes": [20 * _K, 60 * _K], "subscriptions": 60},
        },
        advertisements.table_3_points,
        advertisements.measure_table_3,
        advertisement_claims.table_3,
    ),
    Experiment(
        "advertisement-pruning",
        "Table 4",
        {
            "smoke": {"registered": 60, "advertisements": 40, "asked": 10},
            "quick": {"registered": 1_500, "advertisements": 500, "asked": 30},
            "full": {"registered": 6_000, "advertisements": 2_000, "asked": 60},
        },
        advertisements.table_4_points,
        advertisements.measure_table_4,
        advertisement_claims.table_4,
    ),
    Experiment(
        "both-prunings",
        "6.5: both prunings together",
        {
            "smoke": {"registered": 60, "advertisements": 40, "asked": 10, "steps": 2},
            "quick": {"registered": 1_500, "advertisements": 500, "asked": 30, "steps": 5},
            "full": {"registered": 6_000, "advertisements": 2_000, "asked": 60, "steps": 10},
        },
        advertisements.both_points,
        advertisements.measure_both,
        advertisement_claims.both,
    ),
    Experiment(
        "subscription-pruning",
        "Table 2, figures 6 to 9",
        {
            "smoke": {"subscriptions": 60, "counted": 3_000, "rows": 3_000, "points": 8},
            "quick": {"subscriptions": 2_000, "counted": 50_000, "rows": 50_000, "points": 20},
            "full": {"subscriptions": 10_000, "counted": 100_000, "rows": 100_000, "points": 40},
        },
        pruning.points,
        pruning.measure,
        pruning.claims,
    ),
    Experiment(
        "expensive-predicates",
        "Figures 4 to 8",
        {
            "smoke": {"scale": 0.005, "rows": 20, "repeat": 1, "model": "uniform"},
            "quick": {"scale": 0.03, "rows": 200, "repeat": 1, "model": "uniform"},
            "full": {"scale": 0.1, "rows": 1_000, "repeat": 3, "model": "uniform"},
        },
        expensive.points,
        expensive.measure,
        expensive.claims,
    ),
    Experiment(
        "distributions",
        "TV1 to TV4, TA1 and TA2",
        {
            "smoke": _distributions(domain=20, drawn=100),
            "quick": _distributions(domain=50, drawn=2_000),
            "full": _distributions(domain=100, drawn=10_000),
        },
        distributions.points,
        distributions.measure,
        distribution_claims.claims,
    ),
)
EXPERIMENTS: dict[str, Experiment] = {own.name: own for own in _ALL}
