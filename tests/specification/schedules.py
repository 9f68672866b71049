"""The three schedules of "Scalable Event Matching for Overlapping Subscriptions" (Liu and others 2007).

Predicates are expensive to evaluate, and rules share them. A schedule decides which predicate a row is asked next, and
stops when every rule is decided. All schedules give the same answer; they differ in what they ask:

| schedule | asks | guarantee |
|---|---|---|
| `naive` | rule by rule, until one predicate is false; remembers answers | none |
| `sequential` | all open predicates of an undecided rule that some undecided rule needs | at most d times the optimum |
| `linked_chains` over `sub_order` | rule by rule, unless a known answer decides the rule; best order first | none |
| `by_predicate` over `refuting_order` | first what refutes most rules for its cost; not in the paper | none |

d is the number of predicates of the longest rule, and the optimum knows all answers. If costs differ, the guarantee is
d * Cmax / Cmin. Sub-Order needs the selectivity p of each predicate (the probability that it is true) and treats
predicates as independent. So does `refuting_order`, which needs no pairs of rules, and asks less in all of the paper's
experiments (`python -m benchmarks.schedules`).

As in the paper, a rule is a conjunction, and a predicate is true or not true. `conjunctions` takes the rules out of a
forest, and rejects a rule that has an OR.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from sparkrules.index import PREDICATE, Segment
from sparkrules.index.forest import AND

Rules = Mapping[str, Sequence[int]]
"""The predicates of each rule, as numbers, each at most once."""
Ask = Callable[[int], bool]
"""Evaluates a predicate for the current row."""
Real = float | Fraction


def conjunctions(segment: Segment) -> dict[str, tuple[int, ...]]:
    """The predicates of each rule of a segment, which may have no OR.

    >>> from sparkrules.index import Rule, build_segment
    >>> from sparkrules.sql import parse_rule
    >>> conjunctions(build_segment(Rule(text, text, parse_rule(text)) for text in ("a = 1", "b = 2 AND a = 1")))
    {'a = 1': (0,), 'b = 2 AND a = 1': (0, 1)}
    """
    nodes = segment.forest.nodes
    found: dict[str, tuple[int, ...]] = {}
    for id, root in zip(segment.rules.id.tolist(), segment.forest.roots.tolist(), strict=True):
        chain = [root] if nodes.operator[root] == PREDICATE else nodes.children.row(root).tolist()
        if nodes.operator[root] not in (PREDICATE, AND) or any(nodes.operator[node] != PREDICATE for node in chain):
            raise ValueError(f"rule {id!r} has an OR; the schedules take conjunctions only")
        found[id] = tuple(nodes.predicate[chain].tolist())
    return found


@dataclass
class Outcome:
    """What a schedule found out about a row."""

    matched: set[str] = field(default_factory=set)
    asked: list[int] = field(default_factory=list)


class Undecided:
    """The paper's two hash tables (5.1): each undecided rule with its open predicates, and the reverse.

    Every link is in both tables, so that an answer costs constant time for each rule and predicate that it closes.
    """

    def __init__(self, rules: Rules) -> None:
        self.open_predicates: dict[str, dict[int, None]] = {}
        self.open_rules: dict[int, dict[str, None]] = {}
        self.outcome = Outcome()
        for rule, predicates in rules.items():
            if not predicates:
                self.outcome.matched.add(rule)
                continue
            self.open_predicates[rule] = dict.fromkeys(predicates)
            for predicate in predicates:
                self.open_rules.setdefault(predicate, {})[rule] = None

    def evaluate(self, predicate: int, ask: Ask) -> None:
        """Ask for a predicate that an undecided rule needs, and close whatever the answer decides."""
        self.outcome.asked.append(predicate)
        is_true = ask(predicate)
        for rule in self.open_rules.pop(predicate):
            del self.open_predicates[rule][predicate]
            if is_true and self.open_predicates[rule]:
                continue
            if is_true:
                self.outcome.matched.add(rule)
            for other in self.open_predicates.pop(rule):
                del self.open_rules[other][rule]
                if not self.open_rules[other]:
                    del self.open_rules[other]


def naive(rules: Rules, ask: Ask) -> Outcome:
    """The baseline (5.2): each rule by itself, until a predicate is false. Answers are remembered.

    >>> naive({"r": [0, 1], "s": [2, 1]}, lambda predicate: predicate != 1).asked
    [0, 1, 2]
    """
    outcome = Outcome()
    known: dict[int, bool] = {}
    for rule, predicates in rules.items():
        for predicate in predicates:
            if predicate not in known:
                outcome.asked.append(predicate)
                known[predicate] = ask(predicate)
            if not known[predicate]:
                break
        else:
            outcome.matched.add(rule)
    return outcome


def sequential(rules: Rules, ask: Ask) -> Outcome:
    """Algorithm 1: take any undecided rule, and ask for each of its open predicates that an undecided rule needs.

    It goes on after the rule itself is decided: that is what the guarantee rests on. The predicates that were open when
    a rule was taken are disjoint from those of the next one taken, and every schedule must evaluate one of each.

    >>> sequential({"r": [0, 1], "s": [2, 1]}, lambda predicate: predicate != 1).asked
    [0, 1]
    """
    undecided = Undecided(rules)
    while undecided.open_predicates:
        rule = next(iter(undecided.open_predicates))
        for predicate in list(undecided.open_predicates[rule]):
            if predicate in undecided.open_rules:
                undecided.evaluate(predicate, ask)
    return undecided.outcome


def linked_chains(chains: Rules, ask: Ask) -> Outcome:
    """The matching of Sub-Order (4.2): rule by rule, and down the chain of each, as far as it is undecided.

    An answer is passed on to all rules that have the predicate. If it is false, they are done.

    >>> linked_chains({"s": [1, 2], "r": [1, 0]}, lambda predicate: predicate != 1).asked
    [1]
    """
    undecided = Undecided(chains)
    for rule, chain in chains.items():
        for predicate in chain:
            if predicate in undecided.open_predicates.get(rule, ()):
                undecided.evaluate(predicate, ask)
    return undecided.outcome


@dataclass(frozen=True)
class Estimates:
    """The selectivity of each predicate, and its cost (1 if they are equal)."""

    selectivity: Sequence[Real]
    costs: Sequence[Real] | None = None

    def cost(self, predicate: int) -> Real:
        """The cost of one evaluation."""
        return 1 if self.costs is None else self.costs[predicate]

    def sorted_chain(self, predicates: Iterable[int]) -> tuple[int, ...]:
        """Ascending by c / (1 - p), the cost per row that is rejected: the cheapest order of one conjunction.

        With equal costs that is by p. Equal ranks are ordered by number, so that two chains never have predicates in
        opposite orders.

        >>> Estimates([0.9, 0.5, 0.1]).sorted_chain([0, 1, 2])
        (2, 1, 0)
        >>> Estimates([0.9, 0.5, 0.1], [1, 1, 12]).sorted_chain([0, 1, 2])
        (1, 0, 2)
        """
        return tuple(sorted(predicates, key=lambda predicate: (self._rank(predicate), predicate)))

    def _rank(self, predicate: int) -> Real:
        false = 1 - self.selectivity[predicate]
        return self.cost(predicate) / false if false else math.inf


def chain_cost(chain: Sequence[int], estimates: Estimates) -> Real:
    """The expected cost of one chain (4.2.3): c1 + p1 c2 + p1 p2 c3 + ...

    >>> chain_cost([0, 1, 2], Estimates([0.5, 0.5, 0.9]))
    1.75
    """
    expected: Real = 0
    reached: Real = 1
    for predicate in chain:
        expected += reached * estimates.cost(predicate)
        reached *= estimates.selectivity[predicate]
    return expected


class Above(NamedTuple):
    """What lies above a shared predicate in a chain."""

    reached: Real
    """P: the probability that everything above is true."""
    unshared_cost: Real
    """C': the expected cost of what is above and not shared, as a chain of its own; 0 if there is nothing."""


def cost_difference(first: Sequence[int], second: Sequence[int], estimates: Estimates) -> Real:
    """The expected cost of two chains with `first` before `second`, minus that of the reverse order (4.2.4).

        C1 - C2 = sum over the shared predicates of (1 - p) (P2 C1' - P1 C2')

    The orders differ in rows where a shared predicate is the first false one of a chain, because that spares the other
    chain. Costs enter only C': the shared predicate itself is paid for once in either order.

    The paper prints C' as 1 + ..., so it would be 1 where nothing is above. It must be 0.

    >>> cost_difference([0, 1], [1], Estimates([0.5, 0.5]))
    0.5
    """
    shared = set(first) & set(second)
    of_first, of_second = (_above_shared(chain, shared, estimates) for chain in (first, second))
    difference: Real = 0
    for predicate in first:
        if predicate in shared:
            one, two = of_first[predicate], of_second[predicate]
            saved = two.reached * one.unshared_cost - one.reached * two.unshared_cost
            difference += (1 - estimates.selectivity[predicate]) * saved
    return difference


def _above_shared(chain: Sequence[int], shared: set[int], estimates: Estimates) -> dict[int, Above]:
    found: dict[int, Above] = {}
    reached: Real = 1
    unshared_reached: Real = 1
    unshared_cost: Real = 0
    for predicate in chain:
        if predicate in shared:
            found[predicate] = Above(reached, unshared_cost)
        else:
            unshared_cost += unshared_reached * estimates.cost(predicate)
            unshared_reached *= estimates.selectivity[predicate]
        reached *= estimates.selectivity[predicate]
    return found


class Paths:
    """Rules joined to paths by edges "directly before", as Kruskal's algorithm would take them (4.2.5).

    An edge is taken if its rules have no other edge on that side, and if it closes no cycle.
    """

    def __init__(self, count: int) -> None:
        self._next = [-1] * count
        self._is_first = [True] * count
        # Correct at the ends of paths only, which is where edges can be added.
        self._first_of = list(range(count))
        self._last_of = list(range(count))

    def join(self, before: int, after: int) -> bool:
        """Take the edge if it can be taken."""
        if self._next[before] >= 0 or not self._is_first[after] or self._first_of[before] == after:
            return False
        self._next[before], self._is_first[after] = after, False
        first, last = self._first_of[before], self._last_of[after]
        self._last_of[first], self._first_of[last] = last, first
        return True

    def order(self) -> list[int]:
        """All rules, path by path; the paths are in the order of the first rule of each."""
        order: list[int] = []
        for rule in range(len(self._next)):
            at = rule if self._is_first[rule] else -1
            while at >= 0:
                order.append(at)
                at = self._next[at]
        return order


def sub_order(rules: Rules, estimates: Estimates) -> dict[str, tuple[int, ...]]:
    """The chains of the rules in the order of Sub-Order (4.2.5), for `linked_chains`.

    The weight of an edge is the cost difference of its two rules. Edges are taken by ascending weight. Only pairs that
    share predicates have one, and only in the direction that saves something: in the paper's complete graph, the edges
    of weight 0 between other rules come before those that lose.

    >>> sub_order({"both": [0, 1], "one": [1]}, Estimates([0.5, 0.6]))
    {'one': (1,), 'both': (0, 1)}
    """
    ids = list(rules)
    chains = [estimates.sorted_chain(rules[id]) for id in ids]
    users: dict[int, list[int]] = {}
    for number, chain in enumerate(chains):
        for predicate in chain:
            users.setdefault(predicate, []).append(number)
    edges: list[tuple[Real, int, int]] = []
    for one, other in {pair for own in users.values() for pair in combinations(own, 2)}:
        difference = cost_difference(chains[one], chains[other], estimates)
        if difference:
            edges.append((difference, one, other) if difference < 0 else (-difference, other, one))
    paths = Paths(len(ids))
    for _, before, after in sorted(edges):
        paths.join(before, after)
    return {ids[number]: chains[number] for number in paths.order()}


def refuting_order(rules: Rules, estimates: Estimates) -> list[int]:
    """The predicates, descending by the number of rules that an evaluation is expected to refute: users (1 - p) / c.

    >>> refuting_order({"r": [0, 1], "s": [2, 1]}, Estimates([0.1, 0.5, 0.2]))
    [1, 0, 2]
    """
    users: dict[int, int] = {}
    for predicates in rules.values():
        for predicate in predicates:
            users[predicate] = users.get(predicate, 0) + 1

    def refuted(predicate: int) -> Real:
        return users[predicate] * (1 - estimates.selectivity[predicate]) / estimates.cost(predicate)

    return sorted(users, key=lambda predicate: (-refuted(predicate), predicate))


def by_predicate(rules: Rules, order: Iterable[int], ask: Ask) -> Outcome:
    """Each predicate in the given order, if an undecided rule needs it.

    >>> by_predicate({"r": [0, 1], "s": [2, 1]}, [1, 0, 2], lambda predicate: predicate != 1).asked
    [1]
    """
    undecided = Undecided(rules)
    for predicate in order:
        if predicate in undecided.open_rules:
            undecided.evaluate(predicate, ask)
    return undecided.outcome
