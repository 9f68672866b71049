"""The examples of "Efficient Distribution-Based Event Filtering" (Hinze, Bittner 2002), section 4.1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sparkrules.local.distribution import Distribution
from tests.specification.search import SEARCHES, choose_search, elementary_ranges

# Example 1: the domains, and the ranges that profiles P1 to P5 name; a3 is "don't care" in P1, P2 and P5.
TEMPERATURE = (-30, 50, [(35, 50), (30, 50), (30, 50), (-30, -20), (30, 50)])
HUMIDITY = (0, 100, [(90, 100), (90, 100), (90, 100), (0, 5), (80, 100)])
RADIATION = (0, 100, [(0, 100), (0, 100), (35, 50), (40, 100), (0, 100)])

# Example 2, and example 3 for humidity, whose first range can only be meant to end at 5, and for radiation.
TEMPERATURES = [0.02, 0.17, 0.01, 0.80]
HUMIDITIES = [0.05, 0.60, 0.25, 0.10]
RADIATIONS = [0.90, 0.05, 0.02, 0.03]


def distribution(domain: tuple[float, float, list[tuple[float, float]]], events: list[float]) -> Distribution:
    bounds, named = elementary_ranges(*domain)
    return Distribution(events, named, np.diff(bounds))


@pytest.fixture
def temperature() -> Distribution:
    return distribution(TEMPERATURE, TEMPERATURES)


@pytest.fixture
def humidity() -> Distribution:
    return distribution(HUMIDITY, HUMIDITIES)


@pytest.fixture
def radiation() -> Distribution:
    return distribution(RADIATION, RADIATIONS)


def test_example_1_elementary_ranges() -> None:
    bounds, named = elementary_ranges(*TEMPERATURE)
    assert bounds.tolist() == [-30, -20, 30, 35, 50]
    assert named.tolist() == [1, 0, 3, 4]
    assert elementary_ranges(*HUMIDITY)[0].tolist() == [0, 5, 80, 90, 100]
    assert elementary_ranges(*RADIATION)[0].tolist() == [0, 35, 40, 50, 100]


def test_at_most_2p_minus_1_ranges_are_named() -> None:
    rand = np.random.default_rng(7)
    for p in range(1, 30):
        profiles = [tuple(sorted(pair)) for pair in rand.integers(0, 1000, (p, 2)).tolist()]
        assert (elementary_ranges(0, 1000, profiles)[1] > 0).sum() <= 2 * p - 1


def test_example_2_order_of_measure_v1(temperature: Distribution) -> None:
    assert temperature.linear_places(temperature.v1).tolist() == [2, 3, 1]
    assert temperature.expectation(temperature.linear_places(temperature.v1)) == pytest.approx(0.87)
    assert temperature.linear(temperature.v1) == pytest.approx(1.21)


def test_example_2_binary_search(temperature: Distribution) -> None:
    assert temperature.expectation(temperature.binary_depths()) == pytest.approx(1.65)
    assert temperature.binary() == pytest.approx(1.99)


def test_example_3_measure_a1(temperature: Distribution, humidity: Distribution, radiation: Distribution) -> None:
    assert [temperature.a1, humidity.a1, radiation.a1] == pytest.approx([0.625, 0.75, 0])


def test_example_3_measure_a2_orders_attributes_as_a1(
    temperature: Distribution, humidity: Distribution, radiation: Distribution
) -> None:
    # The paper's own 0.05 and 0.6 do not follow from its formula; the order, which is what counts, does.
    assert [temperature.a2, humidity.a2, radiation.a2] == pytest.approx([0.625 * 0.17, 0.75 * 0.6, 0])
    assert humidity.a2 > temperature.a2 > radiation.a2


def test_example_3_natural_order(temperature: Distribution, humidity: Distribution) -> None:
    assert temperature.expectation([1, 2, 3]) == pytest.approx(2.44)
    assert humidity.expectation([1, 2, 3]) == pytest.approx(0.85)


def temperature_below(humidity: Distribution, places: dict[str, list[int]]) -> float:
    """E(X1 | X2): each edge of humidity leads to a node with the temperatures of the profiles that are left."""
    low, _, high, highest = humidity.events
    below_low = Distribution([0.02, 0.98], [1, 0]).expectation([1])
    below_high = Distribution([0.19, 0.81], [0, 1]).expectation([1])
    below_highest = Distribution([0.19, 0.01, 0.80], [0, 1, 1]).expectation(places["highest"])
    return float(low * below_low + high * below_high + highest * below_highest)


def test_example_3_temperature_below_humidity(humidity: Distribution) -> None:
    assert temperature_below(humidity, {"highest": [1, 2]}) == pytest.approx(0.364, abs=1e-3)


def test_example_4_the_same_with_measure_v1(humidity: Distribution) -> None:
    node = Distribution([0.19, 0.01, 0.80], [0, 1, 1])
    places = {"highest": node.linear_places(node.v1).tolist()}
    assert temperature_below(humidity, places) == pytest.approx(0.285, abs=1e-3)


def test_example_4_binary_search_in_the_reordered_tree(humidity: Distribution) -> None:
    # 1.616 in all: the paper's figures of example 3 for the two lower levels, and this.
    assert humidity.expectation(humidity.binary_depths()) == pytest.approx(1.616 - 0.364 - 0.702)


def test_v2_and_v3_put_what_profiles_want_first() -> None:
    peak = Distribution([0.6, 0.3, 0.1], [1, 4, 5])
    assert peak.linear_places(peak.v1).tolist() == [1, 2, 3]
    assert peak.linear_places(peak.v2).tolist() == [3, 2, 1]
    assert peak.linear_places(peak.v3).tolist() == [2, 1, 3]
    assert peak.linear(peak.v1) <= min(peak.linear(peak.v2), peak.linear(peak.v3))


def test_the_event_order_beats_binary_search_only_while_few_comparisons_are_expected() -> None:
    ranges = 127
    peak = np.full(ranges, 0.001)
    peak[40] = 1 - 0.001 * (ranges - 1)
    for events in (peak, np.ones(ranges)):
        found = Distribution(events, np.ones(ranges))
        is_faster = found.linear(found.v1) < math.log2(ranges)
        assert (choose_search(found, ["most probable first", "binary"]) == "most probable first") == is_faster


def test_a_binary_search_costs_what_one_does() -> None:
    rand = np.random.default_rng(3)
    for count in (1, 2, 3, 10, 100):
        depths = Distribution(np.ones(count), np.ones(count)).binary_depths()
        wanted = int(rand.integers(count))
        low, high, comparisons = 0, count, 0
        while True:
            comparisons += 1
            middle = (low + high) // 2
            if middle == wanted:
                break
            low, high = (middle + 1, high) if middle < wanted else (low, middle)
        assert depths[wanted] == comparisons


def test_hash_is_chosen_for_many_single_values() -> None:
    points = Distribution(np.ones(1000), np.ones(1000), points=np.ones(1000, bool))
    assert choose_search(points) == "hash"
    assert choose_search(Distribution(np.ones(1000), np.ones(1000))) == "interpolation"


def test_an_attribute_without_rows_or_rules_has_costs_too() -> None:
    for empty in (Distribution([], []), Distribution([0, 0], [1, 1]), Distribution([1, 1], [0, 0])):
        assert set(empty.costs()) == set(SEARCHES)
        assert all(math.isfinite(cost) for cost in empty.costs().values())
        assert choose_search(empty) in SEARCHES
