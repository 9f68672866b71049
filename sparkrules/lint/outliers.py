"""A number far from those in other rules of the same form: `price < 1500` among `price < 15`.

Contract: two rules have the same form if their trees differ only in constants. In a form of at least eight rules, a
number is far if it lies outside the middle half of the others by more than ten times its width, and is ten times the
largest other or a tenth of the smallest. Two such numbers in one place are a second group, not an error.

>>> from sparkrules.sql import parse_rule
>>> texts = [f"title = 'T{i}' AND price < {10 + i}" for i in range(9)] + ["title = 'T9' AND price < 1500"]
>>> rules = [Rule(str(i), text, parse_rule(text)) for i, text in enumerate(texts)]
>>> [(finding.ids, finding.message) for finding in outlier_findings(rules)]
[(('9',), '1500 in `price < 1500` is far from the 9 other rules of this form, which have 10 to 18')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice

import numpy as np

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, quoted
from sparkrules.lint.locate import Locator
from sparkrules.sql.tree import Constant, Node, Predicate, predicates

_FEWEST = 8
_WIDTHS = 10.0
_TIMES = 10.0
_LARGEST_FORM = 200


def outlier_findings(rules: Sequence[Rule]) -> Iterator[Finding]:
    """See the module."""
    forms: dict[tuple[object, ...], list[tuple[Rule, list[Predicate]]]] = {}
    for rule in rules:
        tests = list(islice(predicates(rule.tree), _LARGEST_FORM + 1))
        if len(tests) <= _LARGEST_FORM:
            forms.setdefault(_form(rule.tree), []).append((rule, tests))
    for members in forms.values():
        if len(members) >= _FEWEST:
            yield from _in_form(members)


def _form(tree: Node) -> tuple[object, ...]:
    if isinstance(tree, Predicate):
        return tree.attribute, tree.operator, tuple(constant.kind for constant in tree.constants)
    return tree.operator, tuple(_form(child) for child in tree.children)


def _in_form(members: list[tuple[Rule, list[Predicate]]]) -> Iterator[Finding]:
    found: set[tuple[str, Predicate]] = set()  # a count has its predicates in several places
    for slot, first in enumerate(members[0][1]):
        for at in range(len(first.constants)):
            numbers = [_number(tests[slot].constants[at]) for _, tests in members]
            if None in numbers:
                break
            values = np.array(numbers, float)
            far = _far(values)
            if far is None:
                continue
            rule, tests = members[far]
            if (rule.id, tests[slot]) in found:
                continue
            found.add((rule.id, tests[slot]))
            others = np.delete(values, far)
            message = (
                f"{tests[slot].constants[at]} in {quoted(tests[slot])} is far from the {len(others):,} other rules of "
                f"this form, which have {others.min():g} to {others.max():g}"
            )
            yield Finding(
                "near duplicate", (rule.id,), message, Locator(rule).places(tests[slot]), "Is it a typing error?"
            )


def _far(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int | None:
    """The only value far from all others, if there is one."""
    order = np.argsort(values)
    ends = [(int(order[-1]), values[order[:-1]]), (int(order[0]), values[order[1:]])]
    found = [at for at, others in ends if _is_far(float(values[at]), others)]
    return found[0] if len(found) == 1 else None


def _is_far(value: float, others: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    low, high = np.percentile(others, [25, 75])
    reach = _WIDTHS * max(high - low, 0.05 * abs(high), 1e-12)
    if value > others.max():
        return bool(value > high + reach and others.max() > 0 and value >= _TIMES * others.max())
    return bool(value < low - reach or (0 < value <= others.min() / _TIMES and low - value > _WIDTHS * (high - low)))


def _number(constant: Constant) -> float | None:
    if constant.kind not in ("integer", "decimal", "double"):
        return None
    try:
        return float(Decimal(constant.text))
    except (InvalidOperation, OverflowError):
        return None
