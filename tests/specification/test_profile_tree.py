"""The profile tree: the examples of the paper, brute force, and expected against counted comparisons."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.specification.profile_tree import (
    ATTRIBUTES,
    PROFILES,
    TEMPERATURE,
    VALUE_ORDERS,
    Attribute,
    ProfileTree,
    a1,
    a2,
    a3_order,
    early_stop,
    zero_subdomain,
)


def test_example_1_the_event_matches_p2_and_p5():
    for values in VALUE_ORDERS:
        assert ProfileTree(ATTRIBUTES, PROFILES, values).count([2, 3, 0]).matched == (1, 4)


def test_example_2_value_order_v1_and_binary():
    temperature = [{0: own[0]} for own in PROFILES]
    by_probability = ProfileTree([TEMPERATURE], temperature, "V1").expected()
    assert by_probability.found == pytest.approx([0.87])
    assert by_probability.response == pytest.approx([1.21])
    binary = ProfileTree([TEMPERATURE], temperature, "binary").expected()
    assert binary.found == pytest.approx([1.65])
    assert binary.response == pytest.approx([1.99])


def test_example_3_attribute_measures():
    # The paper prints A2 as .05 and .6, which do not follow from its formula.
    assert [a1(own, ATTRIBUTES, PROFILES) for own in range(3)] == pytest.approx([0.625, 0.75, 0])
    assert [a2(own, ATTRIBUTES, PROFILES) for own in range(3)] == pytest.approx([0.10625, 0.45, 0])
    assert a3_order(ATTRIBUTES, PROFILES)[0] == 1


def test_example_3_natural_order_of_attributes():
    # The paper prints .568 and .363. Levels 1 and 2 are certain; 3 has the probability .07 for 35 to 50.
    assert ProfileTree(ATTRIBUTES, PROFILES).expected().found == pytest.approx([2.44, 0.3655, 0.35888])


def test_example_3_humidity_first():
    # .364 and .702 in the paper, but the last level does not depend on the order of those above.
    found = ProfileTree(ATTRIBUTES, PROFILES, order=(1, 0, 2)).expected().found
    assert found == pytest.approx([0.85, 0.3645, 0.35888])


def test_example_4_both_orders():
    # .50, .285 and .300 in the paper; the first is .25 * 1 + .10 * 2 + .05 * 3.
    found = ProfileTree(ATTRIBUTES, PROFILES, "V1", order=(1, 0, 2)).expected().found
    assert found == pytest.approx([0.60, 0.2855, 0.28922])


def test_example_4_binary_search_in_the_first_level():
    found = ProfileTree(ATTRIBUTES, PROFILES, "binary", order=(1, 0, 2)).expected().found
    assert found[0] == pytest.approx(0.55)


def test_example_5_early_stop():
    assert early_stop("fcabed", "fcbed", "a") == (False, 3)
    assert early_stop("fcabed", "fcbed", "e") == (True, 4)
    assert early_stop("fcabed", "fcb", "d") == (False, 3)


def test_example_5_in_a_tree():
    # Domain a to f; P_e gives the order f, c, a, b, e, d; nobody names a.
    letters = {"a": 0.2, "b": 0.15, "c": 0.22, "d": 0.05, "e": 0.1, "f": 0.28}
    tree = ProfileTree([Attribute(list(letters.values()))], [{0: {value}} for value in range(1, 6)], "V1")
    assert [tree.count([value]).comparisons for value in (5, 2, 0)] == [1, 2, 3]


def test_a3_takes_few_attributes():
    with pytest.raises(ValueError, match="8 are more than 7"):
        a3_order([TEMPERATURE] * 8, [])


@st.composite
def trees(draw):
    count = draw(st.integers(1, 3))
    attributes = []
    for _ in range(count):
        weights = draw(st.lists(st.integers(0, 5), min_size=2, max_size=5).filter(any))
        attributes.append(Attribute([weight / sum(weights) for weight in weights]))
    profile = st.fixed_dictionaries(
        {},
        optional={own: st.sets(st.integers(0, len(attributes[own].events) - 1), min_size=1) for own in range(count)},
    )
    return attributes, draw(st.lists(profile, max_size=6)), draw(st.permutations(range(count)))


@settings(deadline=None)
@given(trees(), st.sampled_from(VALUE_ORDERS))
def test_every_order_gives_the_answer_of_brute_force_and_costs_what_is_expected(drawn, values):
    attributes, profiles, order = drawn
    tree = ProfileTree(attributes, profiles, values, order)
    mean = 0.0
    for event in product(*(range(len(own.events)) for own in attributes)):
        found = tree.count(event)
        wanted = [n for n, own in enumerate(profiles) if all(event[a] in named for a, named in own.items())]
        assert list(found.matched) == wanted
        mean += found.comparisons * prod(own.events[value] for own, value in zip(attributes, event, strict=True))
    assert sum(tree.expected().response) == pytest.approx(mean)


@settings(deadline=None)
@given(trees())
def test_what_is_rejected_does_not_depend_on_the_order_but_a3_rejects_earliest(drawn):
    attributes, profiles, order = drawn
    own = ProfileTree(attributes, profiles, order=order).rejected_by_level()
    best = ProfileTree(attributes, profiles, order=a3_order(attributes, profiles)).rejected_by_level()
    assert sum(own) == pytest.approx(sum(best))
    assert sum(sum(best[: n + 1]) - sum(own[: n + 1]) for n in range(len(own))) >= -1e-9
    for attribute in range(len(attributes)):
        alone = sum(attributes[attribute].events[value] for value in zero_subdomain(attribute, attributes, profiles))
        assert alone <= sum(own) + 1e-9
