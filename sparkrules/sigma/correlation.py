"""Sigma's correlations as patterns: counts, counts of distinct values, rules together or in order.

| correlation | pattern |
|---|---|
| `event_count`, `gte: 10` | `count`, `at_least=10` |
| `value_count` of a field | `count`, `distinct` |
| `temporal` | `together` |
| `temporal_ordered` | `sequence` |
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from sigma.correlations import SigmaCorrelationCondition, SigmaCorrelationRule
from sigma.exceptions import SigmaError
from sigma.rule import SigmaRuleBase


class NotAPattern(SigmaError):
    """A correlation that is none of the patterns, and what to do about it."""


def rule_id(rule: SigmaRuleBase) -> str:
    """The id in the rule set: the rule's own, else its name, else its title."""
    return str(rule.id or rule.name or rule.title)


def pattern_fields(rule: SigmaCorrelationRule) -> dict[str, Any]:
    """The fields of a pattern, as `subscribe_all` reads them."""
    if rule.aliases.aliases:
        raise NotAPattern(
            "the rules have different fields as the key. Give them the same name in a processing pipeline"
        )
    kind = rule.type.name.lower()
    steps = [_step(reference.rule) for reference in rule.referenced_rules]
    fields: dict[str, Any] = {"by": list(rule.group_by or []), "within": f"{rule.timespan.seconds} seconds"}
    if not isinstance(rule.condition, SigmaCorrelationCondition):
        raise NotAPattern("a condition with and, or, not over rules is no pattern. List the rules, without a condition")
    if kind in ("temporal", "temporal_ordered"):
        if (rule.condition.op.name, rule.condition.count) != ("GTE", len(steps)):
            raise NotAPattern("only all of the rules together are a pattern. Leave the condition out")
        return {"together" if kind == "temporal" else "sequence": steps, **fields}
    if kind not in ("event_count", "value_count"):
        raise NotAPattern(f"{kind} is no pattern. Compute it as a column, or write an event_count")
    fields["at_least"] = _at_least(rule.condition)
    if kind == "value_count":
        names = rule.condition.fieldref
        if not isinstance(names, str):
            raise NotAPattern("values of several fields are counted. Count those of one field")
        fields["distinct"] = names
    return {"count": steps, **fields}


def _at_least(condition: SigmaCorrelationCondition) -> int:
    if condition.op.name not in ("GTE", "GT"):
        raise NotAPattern(f"a pattern counts at least so many, not {condition.op.name.lower()}. Write gte or gt")
    return ceil(condition.count) if condition.op.name == "GTE" else floor(condition.count) + 1


def _step(rule: SigmaRuleBase) -> dict[str, str]:
    """A rule as a step: by its id, or by its text if it is not to match by itself."""
    if isinstance(rule, SigmaCorrelationRule):
        raise NotAPattern(f"it refers to {rule_id(rule)!r}, a correlation too. Refer to rules")
    try:
        texts = rule.get_conversion_result()
    except SigmaError:
        raise NotAPattern(f"it refers to {rule_id(rule)!r}, which was rejected. Correct that rule") from None
    return {"rule": rule_id(rule)} if rule._output else {"where": any_of(texts)}


def any_of(texts: list[str]) -> str:
    """One text for the conditions of a rule.

    >>> any_of(["a = 1"]), any_of(["a = 1 AND b = 1", "c = 1"])
    ('a = 1', '(a = 1 AND b = 1) OR (c = 1)')
    """
    return texts[0] if len(texts) == 1 else " OR ".join(f"({text})" for text in texts)
