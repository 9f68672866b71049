"""How many predicates each schedule evaluates, for many rows at once.

`tests/specification/schedules.py` defines the schedules, one row at a time. They go through the rules in an order that
does not depend on the row, so here a set of rows is an integer, one bit per row, and a step is taken for all rows
together. Each function returns, for each predicate, the rows that evaluate it. A test holds both to the same answer.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from benchmarks.schedules.workload import Workload

Rows = int


def naive(work: Workload) -> list[Rows]:
    """Each rule by itself, until a predicate is false."""
    evaluated = [0] * len(work.true_rows)
    for rule in work.rules:
        alive = _all_rows(work)
        for predicate in rule:
            evaluated[predicate] |= alive
            alive &= work.true_rows[predicate]
    return evaluated


def linked_chains(work: Workload, chains: Sequence[Sequence[int]]) -> list[Rows]:
    """Sub-Order: down each chain, except in rows where a predicate of it is known to be false."""
    evaluated = [0] * len(work.true_rows)
    for chain in chains:
        alive = _not_refuted(work, chain, evaluated)
        for predicate in chain:
            evaluated[predicate] |= alive
            alive &= work.true_rows[predicate]
    return evaluated


def sequential(work: Workload) -> list[Rows]:
    """Algorithm 1: all open predicates of an undecided rule, also when it is false, if another rule needs them."""
    evaluated = [0] * len(work.true_rows)
    users = _users(work)
    for number, rule in enumerate(work.rules):
        taken = alive = _not_refuted(work, rule, evaluated)
        for predicate in rule:
            # In these rows the rule is false by now, but the predicate is still open. All rules before are decided.
            refuted = taken & ~alive & ~evaluated[predicate]
            evaluated[predicate] |= alive
            for other in users[predicate]:
                if not refuted:
                    break
                if other > number:
                    needed = refuted & _not_refuted(work, work.rules[other], evaluated)
                    evaluated[predicate] |= needed
                    refuted &= ~needed
            alive &= work.true_rows[predicate]
    return evaluated


def by_predicate(work: Workload, order: Sequence[int]) -> list[Rows]:
    """Each predicate in the given order, in the rows where an undecided rule needs it."""
    evaluated = [0] * len(work.true_rows)
    users = _users(work)
    for predicate in order:
        needed = 0
        for rule in users[predicate]:
            needed |= _not_refuted(work, work.rules[rule], evaluated)
            if needed == _all_rows(work):
                break
        evaluated[predicate] = needed
    return evaluated


def greedy_cover(work: Workload, row: int) -> set[int]:
    """Few predicates that prove the answer for a row, chosen by an oracle that knows it.

    All predicates of the rules that match, and then again and again the false predicate that refutes the most rules.
    """
    is_true = [bool(own >> row & 1) for own in work.true_rows]
    evaluated: set[int] = set()
    users: dict[int, list[int]] = {}
    for number, rule in enumerate(work.rules):
        if all(is_true[predicate] for predicate in rule):
            evaluated.update(rule)
            continue
        for predicate in rule:
            if not is_true[predicate]:
                users.setdefault(predicate, []).append(number)
    refuted = [False] * len(work.rules)
    queue = [(-len(own), predicate) for predicate, own in users.items()]
    heapq.heapify(queue)
    while queue:
        _, predicate = heapq.heappop(queue)
        users[predicate] = [own for own in users[predicate] if not refuted[own]]
        if queue and -len(users[predicate]) > queue[0][0]:
            heapq.heappush(queue, (-len(users[predicate]), predicate))
        elif users[predicate]:
            evaluated.add(predicate)
            for own in users[predicate]:
                refuted[own] = True
    return evaluated


def disjoint_rules(work: Workload) -> int:
    """A floor for every schedule and row: each of these rules needs an evaluation that none of the others can use.

    Few predicates, and such that few other rules have, come first.
    """
    users = [len(own) for own in _users(work)]
    taken: set[int] = set()
    count = 0
    for rule in sorted(work.rules, key=lambda rule: sum(users[predicate] for predicate in rule)):
        if taken.isdisjoint(rule):
            taken.update(rule)
            count += 1
    return count


def per_row(work: Workload, evaluated: Sequence[Rows]) -> float:
    """The paper's metric: predicates evaluated per row."""
    return sum(own.bit_count() for own in evaluated) / work.rows


def _not_refuted(work: Workload, rule: Sequence[int], evaluated: Sequence[Rows]) -> Rows:
    """The rows in which no predicate of a rule is known to be false."""
    alive = _all_rows(work)
    for predicate in rule:
        alive &= work.true_rows[predicate] | ~evaluated[predicate]
    return alive


def _users(work: Workload) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in work.true_rows]
    for number, rule in enumerate(work.rules):
        for predicate in rule:
            users[predicate].append(number)
    return users


def _all_rows(work: Workload) -> Rows:
    return (1 << work.rows) - 1
