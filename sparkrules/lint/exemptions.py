"""Exemptions that make no difference, that leave nothing of their rule, or that are over.

| exemption | looks for a row with | finding |
|---|---|---|
| never applies | the rule and the condition true | constant exemption |
| applies wherever the rule is true, until an instant | the rule true and the condition not true | constant exemption |
| all that have no end, together | the rule true and none of the conditions true | contradiction |
| has ended | | expired exemption |

If there certainly is no such row, there is a finding.

>>> from sparkrules.sql import parse_rule
>>> from sparkrules.sql.exemption import exemptions_json
>>> stored = exemptions_json("t > 30", [Exemption("t < 10"), Exemption("host = 'lab-7'")])
>>> rule = Rule("hot", "t > 30", parse_rule("t > 30"), exemptions=stored)
>>> for finding in exemption_findings([Exempted.of(rule)], Regions(Exempted.of(rule).tests())):
...     print(finding)
warning constant exemption: hot
    the exemption where `t < 10` never applies: the rule is not true there
    Remove it with unexempt, or correct it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, quoted
from sparkrules.logic.regions import Regions
from sparkrules.logic.satisfiable import formula, impossible
from sparkrules.sql.exemption import Exemption, exemptions_of
from sparkrules.sql.policy import ANYTHING, AnyFunction
from sparkrules.sql.rule import read_spark_sql
from sparkrules.sql.tree import Predicate, distinct_predicates

_LIMIT = 2_000
_REMOVE = "Remove it with unexempt, or correct it."
_STATUS = "Correct it, or give the rule the status draft."


@dataclass(frozen=True)
class Exempted:
    """A rule without its exemptions, and these; `conditions` are theirs as rules, with the id of the rule."""

    rule: Rule
    exemptions: tuple[Exemption, ...] = ()
    conditions: tuple[Rule, ...] = ()

    @staticmethod
    def of(rule: Rule) -> Exempted:
        """The parts of a rule. Without exemptions, or if these are damaged or exceed the limits, it is the rule."""
        try:
            text, exemptions = exemptions_of(rule.exemptions)
            if text is None:
                return Exempted(rule)
            read = read_spark_sql(text, AnyFunction())
            trees = [read_spark_sql(own.sql or own.where, ANYTHING).tree for own in exemptions]
        except ValueError:
            return Exempted(rule)
        sql = read.sql or (None if text == rule.where else text)
        plain = replace(rule, tree=read.tree, sql=sql, exemptions=None)
        conditions = (Rule(rule.id, own.where, tree, sql=own.sql) for own, tree in zip(exemptions, trees, strict=True))
        return Exempted(plain, exemptions, tuple(conditions))

    def tests(self) -> Iterator[Predicate]:
        """All predicates."""
        for own in (self.rule, *self.conditions):
            yield from distinct_predicates(own.tree)


def exemption_findings(rules: Iterable[Exempted], regions: Regions, at: datetime | None = None) -> Iterator[Finding]:
    """See the module. `at` is the instant by which exemptions have ended, by default now."""
    now = datetime.now(timezone.utc) if at is None else at
    for own in rules:
        rule = formula(own.rule.tree, regions)
        if impossible([rule], regions, _LIMIT):
            continue  # a contradiction of its own
        endless = []
        for exemption, condition in zip(own.exemptions, own.conditions, strict=True):
            where = f"the exemption where {quoted(exemption.where)}"
            if exemption.until is not None and exemption.until <= now:
                message = f"{where} ended at {exemption.until.isoformat()}"
                yield Finding("expired exemption", (own.rule.id,), message, suggestion="Remove it with unexempt.")
            elif impossible([rule, formula(condition.tree, regions)], regions, _LIMIT):
                message = f"{where} never applies: the rule is not true there"
                yield Finding("constant exemption", (own.rule.id,), message, suggestion=_REMOVE)
            elif exemption.until is None:
                endless.append(condition)
            elif impossible([rule, formula(condition.tree, regions, is_true=False)], regions, _LIMIT):
                message = f"{where} leaves nothing of the rule until {exemption.until.isoformat()}"
                yield Finding("constant exemption", (own.rule.id,), message, suggestion=_STATUS)
        yield from _nothing_left(own.rule, endless, regions)


def _nothing_left(rule: Rule, conditions: Sequence[Rule], regions: Regions) -> Iterator[Finding]:
    """Whether some conditions, one alone or all together, are true wherever the rule is."""
    true, others = formula(rule.tree, regions), [formula(own.tree, regions, is_true=False) for own in conditions]
    for own, other in zip(conditions, others, strict=True):
        if impossible([true, other], regions, _LIMIT):
            message = f"never true: the exemption where {quoted(own.where)} leaves nothing of the rule"
            yield Finding("contradiction", (rule.id,), message, suggestion=_STATUS)
            return
    if len(others) > 1 and impossible([true, *others], regions, _LIMIT):
        message = f"never true: its {len(others)} exemptions together leave nothing of the rule"
        yield Finding("contradiction", (rule.id,), message, suggestion=_STATUS)
