"""The three schedules decide alike, keep their guarantees, and have the costs that their formulas say.

The oracles are brute force: every rule evaluated in full, every row of a small world, every set of predicates, and
every strategy that may look at the answers so far. Selectivities are fractions, so that expected costs are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain as joined
from itertools import combinations, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.index import Rule, build_segment
from sparkrules.sql import parse_rule
from sparkrules.sql.tree import Constant
from tests.specification.schedules import (
    Estimates,
    Outcome,
    Paths,
    Real,
    Rules,
    by_predicate,
    chain_cost,
    conjunctions,
    cost_difference,
    linked_chains,
    naive,
    refuting_order,
    sequential,
    sub_order,
)
from tests.specification.unification import Call, Variable, renamed

PREDICATES = 6
Row = tuple[bool, ...]
Schedule = Callable[[Rules, Callable[[int], bool]], Outcome]

conjunction = st.lists(st.integers(0, PREDICATES - 1), min_size=1, max_size=4, unique=True)
rule_sets = st.lists(conjunction, min_size=1, max_size=6).map(lambda made: {f"r{n}": own for n, own in enumerate(made)})
rows = st.tuples(*[st.booleans()] * PREDICATES)
probabilities = st.integers(0, 8).map(lambda eighths: Fraction(eighths, 8))
costs = st.lists(st.integers(1, 9), min_size=PREDICATES, max_size=PREDICATES)
estimates_with_costs = st.builds(
    Estimates, st.lists(probabilities, min_size=PREDICATES, max_size=PREDICATES), st.none() | costs
)


def matched(rules: Rules, row: Row) -> set[str]:
    return {id for id, predicates in rules.items() if all(row[own] for own in predicates)}


def paid(asked: Sequence[int], estimates: Estimates) -> Real:
    return sum(estimates.cost(own) for own in asked)


def worlds(estimates: Estimates) -> Iterator[tuple[Row, Real]]:
    """Every row, with its probability."""
    for row in product([False, True], repeat=len(estimates.selectivity)):
        yield row, math.prod(p if true else 1 - p for true, p in zip(row, estimates.selectivity, strict=True))


def expected_cost(schedule: Schedule, rules: Rules, estimates: Estimates) -> Real:
    return sum(
        probability * paid(schedule(rules, row.__getitem__).asked, estimates)
        for row, probability in worlds(estimates)
        if probability
    )


def cheapest_proof(rules: Rules, row: Row, estimates: Estimates) -> Real:
    """The optimum for a row: all predicates of the rules that match, and a false one of each other rule."""
    needed = set(joined.from_iterable(rules[id] for id in matched(rules, row)))
    refuted = [{own for own in rules[id] if not row[own]} for id in rules.keys() - matched(rules, row)]
    false = [own for own, true in enumerate(row) if not true]
    covers = joined.from_iterable(combinations(false, size) for size in range(len(false) + 1))
    return paid(list(needed), estimates) + min(
        paid(cover, estimates) for cover in covers if all(own & set(cover) for own in refuted)
    )


def best_strategy(rules: Rules, estimates: Estimates) -> Real:
    """The expected cost of the best strategy that does not know answers in advance."""

    @cache
    def best(known: tuple[bool | None, ...]) -> Real:
        undecided = [own for own in rules.values() if all(known[p] is not False for p in own)]
        needed = {p for own in undecided for p in own if known[p] is None}
        if not needed:
            return 0
        return min(
            estimates.cost(p)
            + estimates.selectivity[p] * best((*known[:p], True, *known[p + 1 :]))
            + (1 - estimates.selectivity[p]) * best((*known[:p], False, *known[p + 1 :]))
            for p in needed
        )

    return best((None,) * len(estimates.selectivity))


@given(rule_sets, rows, estimates_with_costs)
def test_every_schedule_decides_as_brute_force_and_asks_nothing_twice_or_in_vain(
    rules: Rules, row: Row, estimates: Estimates
) -> None:
    outcomes = {
        "naive": naive(rules, row.__getitem__),
        "Sequential": sequential(rules, row.__getitem__),
        "Sub-Order": linked_chains(sub_order(rules, estimates), row.__getitem__),
        "by predicate": by_predicate(rules, refuting_order(rules, estimates), row.__getitem__),
    }
    for name, outcome in outcomes.items():
        assert outcome.matched == matched(rules, row), name
        assert len(set(outcome.asked)) == len(outcome.asked), name
        known: dict[int, bool] = {}
        for asked in outcome.asked:
            needed = [own for own in rules.values() if asked in own and all(known.get(p, True) for p in own)]
            assert needed or name == "naive", f"{name}: no undecided rule needs {asked}"
            known[asked] = row[asked]


@given(rule_sets, rows, estimates_with_costs)
def test_sequential_costs_at_most_d_times_the_optimum_of_every_row(
    rules: Rules, row: Row, estimates: Estimates
) -> None:
    longest = max(map(len, rules.values()))
    in_use = [estimates.cost(own) for own in set(joined.from_iterable(rules.values()))]
    bound = longest * Fraction(max(in_use), min(in_use)) * cheapest_proof(rules, row, estimates)
    assert paid(sequential(rules, row.__getitem__).asked, estimates) <= bound


def test_sequential_can_reach_its_bound_and_the_others_exceed_it() -> None:
    row = (False, False, True, True, True)
    two = {"r": [0, 1], "s": [1, 2]}
    assert (len(sequential(two, row.__getitem__).asked), cheapest_proof(two, row, Estimates([0.5] * 5))) == (2, 1)
    # One false predicate decides all rules. Naive asks the first of each; so does Sub-Order if it expects those to be
    # false, and they are.
    star = {f"r{first}": [first, 4] for first in range(4)}
    only_last = (True, True, True, True, False)
    assert len(naive(star, only_last.__getitem__).asked) == 5
    assert len(sequential(star, only_last.__getitem__).asked) == 2
    assert cheapest_proof(star, only_last, Estimates([0.5] * 5)) == 1
    chains = sub_order(star, Estimates([0.1, 0.1, 0.1, 0.1, 0.9]))
    none = (False,) * 5
    assert len(linked_chains(chains, none.__getitem__).asked) == 4
    assert len(sequential(star, none.__getitem__).asked) == 2
    assert cheapest_proof(star, none, Estimates([0.5] * 5)) == 1


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True), min_size=1, max_size=5),
    st.lists(probabilities, min_size=5, max_size=5),
    st.none() | st.lists(st.integers(1, 9), min_size=5, max_size=5),
)
def test_no_schedule_beats_the_best_strategy_and_that_does_not_beat_knowing_the_answers(
    made: list[list[int]], selectivity: list[Fraction], own_costs: list[int] | None
) -> None:
    rules = {f"r{n}": own for n, own in enumerate(made)}
    estimates = Estimates(selectivity, own_costs)
    best = best_strategy(rules, estimates)
    knowing = sum(
        probability * cheapest_proof(rules, row, estimates) for row, probability in worlds(estimates) if probability
    )
    assert knowing <= best
    assert best <= expected_cost(naive, rules, estimates)
    assert best <= expected_cost(sequential, rules, estimates)
    assert best <= expected_cost(linked_chains, sub_order(rules, estimates), estimates)
    order = refuting_order(rules, estimates)
    assert best <= expected_cost(lambda own, ask: by_predicate(own, order, ask), rules, estimates)


@given(conjunction, estimates_with_costs)
def test_a_single_chain_has_the_cost_of_the_formula_and_no_order_of_it_is_cheaper(
    predicates: list[int], estimates: Estimates
) -> None:
    best = estimates.sorted_chain(predicates)
    assert chain_cost(best, estimates) == expected_cost(linked_chains, {"r": best}, estimates)
    assert chain_cost(best, estimates) == min(chain_cost(own, estimates) for own in permutations(predicates))


def by_enumeration(first: Sequence[int], second: Sequence[int], estimates: Estimates) -> Real:
    one, other = ("first", first), ("second", second)
    return expected_cost(linked_chains, dict([one, other]), estimates) - expected_cost(
        linked_chains, dict([other, one]), estimates
    )


@settings(deadline=None)
@given(conjunction, conjunction, estimates_with_costs)
def test_the_corrected_cost_difference_is_exact(first: list[int], second: list[int], estimates: Estimates) -> None:
    pair = [estimates.sorted_chain(own) for own in (first, second)]
    assert cost_difference(*pair, estimates) == by_enumeration(*pair, estimates)


def printed_difference(first: Sequence[int], second: Sequence[int], estimates: Estimates) -> Real:
    """The formula of 4.2.4 for one shared predicate and equal costs, as printed: 1 + ... if nothing is above."""
    (shared,) = set(first) & set(second)
    above = [own[: own.index(shared)] for own in (first, second)]
    reached = [math.prod(estimates.selectivity[p] for p in own) for own in above]
    cost = [chain_cost(own, estimates) if own else 1 for own in above]
    return (1 - estimates.selectivity[shared]) * (reached[1] * cost[0] - reached[0] * cost[1])


def test_the_printed_cost_difference_is_wrong_exactly_where_one_chain_has_nothing_above() -> None:
    estimates = Estimates([Fraction(own, 10) for own in (1, 2, 3, 5, 7)])
    wrong = right = 0
    chains = [own for size in (1, 2, 3) for own in combinations(range(5), size)]
    for first, second in permutations(chains, 2):
        if len(shared := set(first) & set(second)) != 1:
            continue
        nothing_above = [own[0] in shared for own in (first, second)]
        is_right = printed_difference(first, second, estimates) == by_enumeration(first, second, estimates)
        assert is_right == (nothing_above[0] == nothing_above[1]), (first, second)
        right, wrong = right + is_right, wrong + (not is_right)
    assert wrong > 50
    assert right > 50


def test_the_chain_with_the_higher_ratio_of_p_to_c_goes_first() -> None:
    # 4.2.4: the shared predicate should be reached with high probability and at low cost.
    estimates = Estimates([0.1, 0.4, 0.5])
    seldom, often = (0, 2), (1, 2)
    assert cost_difference(seldom, often, estimates) == pytest.approx(0.5 * (0.4 - 0.1))
    assert list(sub_order({"seldom": seldom, "often": often}, estimates)) == ["often", "seldom"]


@settings(deadline=None)
@given(rule_sets, estimates_with_costs)
def test_two_rules_are_in_the_cheaper_order(rules: Rules, estimates: Estimates) -> None:
    two = dict(list(rules.items())[:2])
    ordered = sub_order(two, estimates)
    backwards = dict(reversed(ordered.items()))
    assert expected_cost(linked_chains, ordered, estimates) <= expected_cost(linked_chains, backwards, estimates)
    assert sub_order(rules, estimates).keys() == rules.keys()


def test_paths_have_neither_branches_nor_cycles() -> None:
    paths = Paths(5)
    assert paths.join(3, 1)
    assert paths.join(1, 4)
    assert not paths.join(3, 0), "two after one"
    assert not paths.join(0, 4), "two before one"
    assert not paths.join(4, 3), "a cycle"
    assert paths.join(0, 3)
    assert not paths.join(4, 0), "a cycle over two joined paths"
    assert paths.order() == [0, 3, 1, 4, 2]


def test_rules_are_taken_from_the_index_and_an_or_is_rejected() -> None:
    texts = {"r": "a = 1 AND b = 2 AND a = 1", "s": "b = 2", "always": "true"}
    segment = build_segment(Rule(id, text, parse_rule(text)) for id, text in texts.items())
    rules = conjunctions(segment)
    named = {id: {str(segment.forest.predicate(own)) for own in predicates} for id, predicates in rules.items()}
    assert named == {"r": {"a = 1", "b = 2"}, "s": {"b = 2"}, "always": set()}
    for schedule in (naive, sequential, linked_chains):
        assert schedule(rules, lambda predicate: False).matched == {"always"}
    for text in ("a = 1 OR b = 2", "a = 1 AND (b = 2 OR c = 3)"):
        with pytest.raises(ValueError, match="rule 'or' has an OR"):
            conjunctions(build_segment([Rule("or", text, parse_rule(text))]))


def call(operator: str, *arguments: str) -> Call:
    """`call("p", "Bronx", "?x")`: an argument with a question mark is a variable."""
    return Call(
        operator, tuple(Variable(own[1:]) if own.startswith("?") else Constant("string", own) for own in arguments)
    )


def test_calls_are_the_same_predicate_if_they_unify() -> None:
    assert renamed(call("p", "?x1", "?y1")) == renamed(call("p", "?x3", "?y4"))
    assert renamed(call("p", "?x1", "?y1")) != renamed(call("p", "?x7", "?x7"))
    assert renamed(call("p", "?x", "Bronx", "?x")) == renamed(call("p", "?y", "Bronx", "?y"))
    assert renamed(call("p", "?x", "Bronx")) != renamed(call("p", "?x", "Queens"))
    assert renamed(call("p", "?x")) != renamed(call("q", "?x"))
    assert renamed(call("p", "?0")) != renamed(Call("p", (Constant("string", "0"),)))
    assert renamed(call("p", "?1", "?0")) == renamed(call("p", "?0", "?1"))


# 2.1, without the value constraints, which cost nothing.
CALLS = {
    "S1": [call("locIn", "Bronx"), call("chasePattern", "policeCar", "anyCar")],
    "S2": [call("locIn", "Bronx"), call("mobPattern", "?people")],
    "S3": [
        call("locWithin", "TimesSquare", "5000m"),
        call("trafficPattern", "congestion"),
        call("pedestrianCount", "?ped"),
    ],
    "S4": [
        call("locIn", "Bronx"),
        call("trafficPattern", "congestion"),
        call("trafficPattern", "accident"),
        call("policeCarCount", "?pol"),
    ],
    "S5": [
        call("distanceFrom", "StatueOfLiberty", "?x"),
        call("tourBoatCount", "?y"),
        call("coastGuardBoatCount", "?z"),
    ],
}


def test_the_paper_s_five_rules_share_two_predicates() -> None:
    calls = list(dict.fromkeys(renamed(own) for listed in CALLS.values() for own in listed))
    rules = {id: [calls.index(renamed(own)) for own in listed] for id, listed in CALLS.items()}
    assert len(calls) == sum(map(len, CALLS.values())) - 3
    # Far from the Bronx, with no traffic, at sea: one call refutes three rules, and each of the others takes one.
    estimates = Estimates([0.1 if own.operator == "locIn" else 0.5 for own in calls])
    outcome = linked_chains(sub_order(rules, estimates), lambda predicate: calls[predicate].operator == "tourBoatCount")
    assert outcome.matched == set()
    assert [calls[own].operator for own in outcome.asked].count("locIn") == 1
    assert len(outcome.asked) == 3
