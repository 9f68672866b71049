"""Advertisements (Bittner and Hinze 2006): tables 3 and 4 and section 6.5, by the benchmarks that are there."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from benchmarks.advertisement_pruning import (
    CLASSES,
    advertisements_of,
    both_pruned,
    curve,
    segment_of,
    subscription_prunings,
    subscriptions_of,
)
from benchmarks.advertisements import measure, rare_prices
from benchmarks.papers.experiment import Options
from sparkrules.logic.advertisements import OverlapIndex
from sparkrules.logic.pruning import Prunings
from sparkrules.sql.tree import Node


def table_3_points(options: Options) -> list[str]:
    """The numbers of advertisements."""
    return [str(size) for size in options["sizes"]]


def measure_table_3(options: Options, size: str) -> Any:
    """All subscription classes against so many advertisements."""
    with rare_prices():
        return {name: asdict(own) for name, own in measure(int(size), options["subscriptions"]).items()}


def table_4_points(_: Options) -> list[str]:
    """The classes of advertisements."""
    return list(CLASSES)


def measure_table_4(options: Options, name: str) -> Any:
    """A class, pruned step by step."""
    with rare_prices():
        trees = advertisements_of(name, options["advertisements"])
        return [asdict(own) for own in curve(_registered(options["registered"]), trees, options["asked"])]


def both_points(options: Options) -> list[str]:
    """Shares of the prunings of subscriptions."""
    return [f"{step / options['steps']:.2f}" for step in range(options["steps"] + 1)]


def measure_both(options: Options, share: str) -> Any:
    """Subscriptions pruned so far, then no and all prunings of advertisements."""
    with rare_prices():
        subscribed, found = _prunings(options["registered"])
        trees = advertisements_of("all", options["advertisements"])
        return [asdict(own) for own in both_pruned(subscribed, found, trees, float(share), options["asked"])]


@lru_cache(maxsize=1)
def _registered(count: int) -> OverlapIndex:
    return OverlapIndex(segment_of(subscriptions_of(count)))


@lru_cache(maxsize=1)
def _prunings(count: int) -> tuple[list[Node], Prunings]:
    subscribed = subscriptions_of(count)
    return subscribed, subscription_prunings(subscribed)
