"""Distributions (Hinze and Bittner 2002): the tests TV1 to TV4, TA1 and TA2, with distributions of our own.

The paper shows its 60 distributions in a figure only. These are named, and have the shapes that it describes. All
figures are comparisons; nothing is timed. `tests/specification/profile_tree.py` is the tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.experiment import Options
from tests.specification.profile_tree import (
    ATTRIBUTES,
    TEMPERATURE,
    VALUE_ORDERS,
    Attribute,
    Profile,
    ProfileTree,
    ValueOrder,
    a1,
    a2,
    a3_order,
)
from tests.specification.profile_tree import PROFILES as EXAMPLE_PROFILES

Floats = NDArray[np.float64]
PEAK = 0.95  # the share of the values that lie in a peak
EVENTS = (
    "equal",
    "falling",
    "Gauss",
    "Gauss low",
    "Gauss high",
    "peak 3 %",
    "peak 10 %",
    "peak 30 %",
    "peak 80 %",
    "peak low",
)
PROFILES = ("equal", "Gauss", "peak high", "peak low", "only 10 %", "only 40 %")
TA_EVENTS = ("equal", "Gauss", "Gauss low")
TA_WIDTHS = {"TA1": (40, 10, 80, 25, 60), "TA2": (48, 42, 56, 45, 52)}
ALL_TESTS = ("examples", "TV4", "TV3", "TV2", "TV1", "drift", "TA1", "TA2")


def shape(name: str, size: int) -> Floats:
    """P over the values of a domain.

    >>> shape("falling", 4).tolist()
    [0.4, 0.3, 0.2, 0.1]
    >>> round(float(shape("peak 10 %", 100)[45:55].sum()), 2), shape("only 10 %", 100).nonzero()[0].tolist()[::9]
    (0.95, [45, 54])
    """
    at: Floats = np.arange(size, dtype=np.float64) + 0.5
    if name == "equal":
        weights: Floats = np.ones(size)
    elif name == "falling":
        weights = size + 0.5 - at
    elif name.startswith("Gauss"):
        centre = {"Gauss": 0.5, "Gauss low": 0.15, "Gauss high": 0.85}[name] * size
        weights = np.exp(-(((at - centre) / (size / 8)) ** 2) / 2)
    else:
        kind, _, where = name.partition(" ")
        width = 0.1 if where in ("low", "high") else float(where.removesuffix(" %")) / 100
        centre = {"low": width / 2, "high": 1 - width / 2}.get(where, 0.5) * size
        inside = np.abs(at - centre) <= max(width * size / 2, 0.5)
        outside = 0.0 if kind == "only" else 1 - PEAK
        weights = np.where(inside, (1 - outside) / inside.sum(), outside / max(1, (~inside).sum()))
    found: Floats = weights / weights.sum()
    return found


def profiles_by(shape_of_profiles: Floats, count: int) -> list[Profile]:
    """About `count` profiles of one attribute: a full tree has one for every value that is possible at all."""
    counts = np.where(shape_of_profiles > 0, np.maximum(1, np.rint(shape_of_profiles * count)), 0).astype(int)
    return [{0: (value,)} for value, own in enumerate(counts.tolist()) for _ in range(own)]


def one_attribute(events: str, profiles: str, size: int, count: int, values: ValueOrder) -> dict[str, float]:
    """TV4: the average per event, per profile, and per event and profile, from all possible events (equation 2)."""
    p_events = shape(events, size)
    wanted = profiles_by(shape(profiles, size), count)
    tree = ProfileTree([Attribute(p_events.tolist())], wanted, values)
    costs = np.array([tree.count([value]).comparisons for value in range(size)], float)
    users = np.bincount([next(iter(own[0])) for own in wanted], minlength=size)
    both = p_events * users
    expected = tree.expected()
    assert math.isclose(sum(expected.response), float(p_events @ costs)), "expected and counted comparisons differ"
    return {
        "event": float(p_events @ costs),
        "profile": float(users @ costs / users.sum()),
        "both": float(both @ costs / both.sum()) if both.sum() else 0.0,
        "E(X)": sum(expected.found),
        "named": int((users > 0).sum()),
    }


def until_precise(tree: ProfileTree, shapes: Sequence[Floats], seed: int, at_most: int = 40_000) -> tuple[float, int]:
    """The average comparisons per event, drawn until it is known to within 5 %, and how many events that took."""
    draw = np.random.default_rng(seed)
    counted: list[int] = []
    while len(counted) < at_most:
        columns = [draw.choice(len(own), 500, p=own) for own in shapes]
        counted += [tree.count(event).comparisons for event in zip(*(own.tolist() for own in columns), strict=True)]
        error = 1.96 * float(np.std(counted)) / math.sqrt(len(counted))
        if error <= 0.05 * float(np.mean(counted)):
            break
    return float(np.mean(counted)), len(counted)


def points(_: Options) -> list[str]:
    """The tests."""
    return list(ALL_TESTS)


def measure(options: Options, test: str) -> Any:
    """One of the tests."""
    size, count = options["domain"], options["profiles"]
    if test == "examples":
        return examples()
    if test == "TV4":
        return {
            f"{events} / {profiles}": {
                values: one_attribute(events, profiles, size, count, values) for values in VALUE_ORDERS
            }
            for events in EVENTS
            for profiles in PROFILES
        }
    if test == "TV3":
        return _drawn(options)
    if test in ("TV1", "TV2"):
        return _several_attributes(options, test)
    if test == "drift":
        return _drift(options)
    return _attribute_orders(options, TA_WIDTHS[test])


def _drawn(options: Options) -> dict[str, dict[str, float]]:
    """TV3: 4,000 events drawn, against what is expected."""
    draw = np.random.default_rng(3)
    found: dict[str, dict[str, float]] = {}
    for events in EVENTS:
        p_events = shape(events, options["domain"])
        wanted = profiles_by(shape("equal", options["domain"]), options["profiles"])
        drawn = np.asarray(draw.choice(options["domain"], options["events"], p=p_events)).tolist()
        for values in VALUE_ORDERS:
            tree = ProfileTree([Attribute(p_events.tolist())], wanted, values)
            found[f"{events}, {values}"] = {
                "counted": float(np.mean([tree.count([value]).comparisons for value in drawn])),
                "expected": sum(tree.expected().response),
            }
    return found


def _several_attributes(options: Options, test: str) -> dict[str, dict[str, float]]:
    """TV1: profiles drawn; TV2: one for every combination of values. Events until the average is precise."""
    levels, values_each = options["attributes"], options["small domain"]
    found: dict[str, dict[str, float]] = {}
    for events in ("equal", "falling", "Gauss", "peak 10 %"):
        for profiles in ("equal", "Gauss"):
            shapes = [shape(events, values_each)] * levels
            if test == "TV1":
                draw = np.random.default_rng(1)
                drawn = draw.choice(values_each, (options["drawn profiles"], levels), p=shape(profiles, values_each))
                wanted: list[Profile] = [{at: (value,) for at, value in enumerate(own)} for own in drawn.tolist()]
            else:
                wanted = [{at: (value,) for at, value in enumerate(own)} for own in np.ndindex(*[values_each] * levels)]
                if profiles != "equal":
                    continue  # a full tree has no distribution of profiles
            for values in VALUE_ORDERS:
                tree = ProfileTree([Attribute(own.tolist()) for own in shapes], wanted, values)
                mean, events_needed = until_precise(tree, shapes, seed=4)
                found[f"{events} / {profiles}, {values}"] = {
                    "counted": mean,
                    "expected": sum(tree.expected().response),
                    "events": events_needed,
                }
    return found


def _drift(options: Options) -> dict[str, dict[str, float]]:
    """A tree that was built for one distribution of events, and meets another."""
    size = options["domain"]
    wanted = profiles_by(shape("equal", size), options["profiles"])
    found: dict[str, dict[str, float]] = {}
    for before in EVENTS:
        tree = ProfileTree([Attribute(shape(before, size).tolist())], wanted, "V1")
        binary = ProfileTree([Attribute(shape(before, size).tolist())], wanted, "binary")
        for after in EVENTS:
            if before != after:
                found[f"{before} to {after}"] = {
                    "V1": _mean(tree, shape(after, size)),
                    "V1 for it": sum(
                        ProfileTree([Attribute(shape(after, size).tolist())], wanted, "V1").expected().response
                    ),
                    "binary": _mean(binary, shape(after, size)),
                }
    return found


def _mean(tree: ProfileTree, p_events: Floats) -> float:
    return float(sum(share * tree.count([value]).comparisons for value, share in enumerate(p_events.tolist())))


def _attribute_orders(options: Options, widths: Sequence[int]) -> dict[str, dict[str, Any]]:
    """TA1 and TA2: five attributes whose profiles lie in a window of some width, in the middle of the domain."""
    size = options["TA domain"]
    draw = np.random.default_rng(5)
    columns = [
        np.asarray(draw.choice(size, options["TA profiles"], p=shape(f"only {width} %", size))) for width in widths
    ]
    profiles: list[Profile] = [
        {at: (value,) for at, value in enumerate(own)}
        for own in zip(*(column.tolist() for column in columns), strict=True)
    ]
    found: dict[str, dict[str, Any]] = {}
    for events in TA_EVENTS:
        attributes = [Attribute(shape(events, size).tolist())] * len(widths)
        numbers = range(len(widths))
        by_a1 = sorted(numbers, key=lambda own: -a1(own, attributes, profiles))
        by_a2 = sorted(numbers, key=lambda own: -a2(own, attributes, profiles))
        orders = {
            "natural": list(numbers),
            "A1 descending": by_a1,
            "A2 ascending": by_a2[::-1],
            "A2 descending": by_a2,
            "A3": list(a3_order(attributes, profiles)),
        }
        for name, order in orders.items():
            searches: tuple[ValueOrder, ...] = ("V1", "binary")
            found[f"{events}, {name}"] = {
                search: sum(ProfileTree(attributes, profiles, search, order).expected().response) for search in searches
            } | {"order": [widths[own] for own in order]}
    return found


def examples() -> dict[str, float]:
    """The paper's examples 2 to 5, computed."""
    temperature: list[Profile] = [{0: own[0]} for own in EXAMPLE_PROFILES]
    v1 = ProfileTree([TEMPERATURE], temperature, "V1").expected()
    binary = ProfileTree([TEMPERATURE], temperature, "binary").expected()
    natural = ProfileTree(ATTRIBUTES, EXAMPLE_PROFILES).expected().found
    humidity = ProfileTree(ATTRIBUTES, EXAMPLE_PROFILES, order=(1, 0, 2)).expected().found
    both = ProfileTree(ATTRIBUTES, EXAMPLE_PROFILES, "V1", order=(1, 0, 2)).expected().found
    levels = {
        f"{name} {level}": value
        for name, found in (("natural", natural), ("A1", humidity), ("V1 and A2", both))
        for level, value in enumerate(found, start=1)
    }
    return {
        "E V1": v1.found[0],
        "R V1": v1.response[0],
        "E binary": binary.found[0],
        "R binary": binary.response[0],
        "binary A2 1": ProfileTree(ATTRIBUTES, EXAMPLE_PROFILES, "binary", order=(1, 0, 2)).expected().found[0],
        **levels,
        **{f"A1 a{own + 1}": a1(own, ATTRIBUTES, EXAMPLE_PROFILES) for own in range(3)},
        **{f"A2 a{own + 1}": a2(own, ATTRIBUTES, EXAMPLE_PROFILES) for own in range(3)},
    }
