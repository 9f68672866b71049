"""How often each function is called, by schedules that know the truth of all predicates. Nothing is timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.udfs.workload import UdfRule, Workload

Open = Sequence[dict[int, bool]]
"""Per rule whose cheap predicates are true for a row: whether those of its calls are."""
Schedule = Callable[[Open, Sequence[float]], set[int]]
"""The functions that are called for a row."""


def counted(work: Workload, schedule: Schedule) -> list[int]:
    """How often a schedule calls each function, over all rows."""
    calls = [0] * len(work.milliseconds)
    for own in open_rules(work):
        for number in schedule(own, work.milliseconds) if own else ():
            calls[number] += 1
    return calls


def open_rules(work: Workload) -> Iterable[Open]:
    """Per row, the rules that are decided by calls."""
    by_product: dict[int, list[UdfRule]] = {}
    for rule in work.rules:
        by_product.setdefault(rule.product, []).append(rule)
    for product, amount, row in zip(work.products.tolist(), work.amounts.tolist(), work.arguments.T, strict=True):
        yield [
            {number: bool(row[number] > threshold) for number, threshold in rule.thresholds.items()}
            for rule in by_product.get(product, ())
            if rule.limit is None or amount > rule.limit
        ]


def matches(work: Workload) -> int:
    """The number of pairs of a row and a rule that matches it."""
    return sum(all(rule.values()) for own in open_rules(work) for rule in own)


def naive(rules: Open, _costs: Sequence[float]) -> set[int]:
    """The paper's baseline: rule by rule as they are written, until a predicate is false. Results are remembered.

    >>> sorted(naive([{0: True, 1: False}, {2: False, 1: False}], [1, 1, 1]))
    [0, 1, 2]
    """
    called: set[int] = set()
    for rule in rules:
        for number, is_true in rule.items():
            called.add(number)
            if not is_true:
                break
    return called


def oracle(rules: Open, costs: Sequence[float]) -> set[int]:
    """The cheapest calls that prove the answer: all of each rule that matches, and a false one of each that does not.

    >>> sorted(oracle([{0: True, 1: False}, {2: False, 1: False}], [1, 1, 1]))
    [1]
    >>> sorted(oracle([{0: False, 1: False}, {2: False, 1: False}], [1, 9, 1]))
    [0, 2]
    """
    needed = {number for rule in rules if all(rule.values()) for number in rule}
    refuting = [frozenset(number for number, is_true in rule.items() if not is_true) for rule in rules]
    return needed | _cheapest_cover([own for own in refuting if own and not own & needed], costs)


def _cheapest_cover(sets: Iterable[frozenset[int]], costs: Sequence[float]) -> set[int]:
    """The cheapest numbers of which each set has one, by branch and bound."""
    smallest: list[frozenset[int]] = []
    for own in sorted(set(sets), key=len):
        if not any(known <= own for known in smallest):
            smallest.append(own)
    best, best_cost = set[int](), float("inf")

    def search(open_sets: list[frozenset[int]], taken: set[int], cost: float) -> None:
        nonlocal best, best_cost
        if cost + _bound(open_sets, costs) >= best_cost:
            return
        if not open_sets:
            best, best_cost = taken, cost
            return
        # One of the first set has to be taken. Those that were tried before are left out: they lead to known covers.
        tried: set[int] = set()
        for number in sorted(open_sets[0], key=costs.__getitem__):
            left = [own - tried for own in open_sets if number not in own]
            if all(left):
                search(sorted(left, key=len), taken | {number}, cost + costs[number])
            tried.add(number)

    search(smallest, set(), 0.0)
    return best


def _bound(sets: Iterable[frozenset[int]], costs: Sequence[float]) -> float:
    """What sets without a common number cost at least."""
    seen: set[int] = set()
    total = 0.0
    for own in sets:
        if not own & seen:
            seen |= own
            total += min(map(costs.__getitem__, own))
    return total
