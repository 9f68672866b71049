"""Findings about patterns: rules and columns that do not exist, and patterns that never find anything.

>>> pattern = Pattern("odd", "count", ((Term("hto"),),), by=("user",), within=5, at_least=2, distinct="User")
>>> for finding in pattern_findings([pattern], {"hot"}, set()):
...     print(finding)
error unknown rule: odd
    step 1 names the rule `hto`, which does not exist
    Did you mean `hot`?
error impossible pattern: odd
    rows with the same user have one value of User, and 2 are counted
    Leave the column out of `by`, or count another one.
error impossible pattern: odd
    no row can fulfil step 1: there is no rule `hto`
    Correct the step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

import pyarrow as pa

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, quoted
from sparkrules.lint.impossible import impossible_findings
from sparkrules.lint.logic import never_findings
from sparkrules.lint.types import type_findings
from sparkrules.lint.unknown_columns import Columns, unknown_column_findings
from sparkrules.logic.columns import column_attribute
from sparkrules.logic.regions import Regions
from sparkrules.patterns import Pattern, Step, Term
from sparkrules.sql.tree import distinct_predicates

_CORRECT = "Correct the step."


def condition_findings(
    patterns: Sequence[Pattern], conditions: Sequence[Rule], schema: pa.Schema | None
) -> Iterator[Finding]:
    """Findings about the conditions that patterns have of their own. The negations of rules are left to those."""
    named = {
        condition: f"{own.id}, step {number}"
        for own in patterns
        if not own.belongs_to_rule
        for number, step in enumerate(own.steps, start=1)
        for term in step
        if (condition := term.condition) is not None
    }
    own = [replace(rule, id=named[rule.id]) for rule in conditions if rule.id in named]
    regions = Regions((test for rule in own for test in distinct_predicates(rule.tree)), schema)
    yield from never_findings(own, regions)
    yield from impossible_findings(own, schema)
    yield from type_findings(own, schema)
    if schema is not None:
        yield from unknown_column_findings(own, schema)


def never_true(conditions: Sequence[Rule], schema: pa.Schema | None) -> set[str]:
    """The ids of conditions, or rules, that are never true, as far as can be proved."""
    regions = Regions((test for rule in conditions for test in distinct_predicates(rule.tree)), schema)
    return {finding.ids[0] for finding in never_findings(conditions, regions) if finding.kind == "contradiction"}


def pattern_findings(
    patterns: Sequence[Pattern],
    rules: Collection[str],
    never: Collection[str],
    schema: pa.Schema | None = None,
    inactive: Mapping[str, str] | None = None,
) -> Iterator[Finding]:
    """Findings about patterns. `rules` are the ids that there are; `never` those of rules and conditions that are never
    true; `inactive` has the status of rules that are not live."""
    columns = None if schema is None else Columns(schema)
    for own in patterns:
        yield from _unknown_rules(own, rules)
        yield from _inactive_rules(own, inactive or {})
        if columns is not None:
            yield from _unknown_columns(own, columns)
        yield from _impossible(own, rules, never)
        yield from _same_steps(own)


def _unknown_rules(pattern: Pattern, rules: Collection[str]) -> Iterator[Finding]:
    for number, step in enumerate(pattern.steps, start=1):
        for term in step:
            if term.rule is not None and term.rule not in rules:
                near = get_close_matches(term.rule, rules, 1)
                remedy = f"Did you mean {quoted(near[0])}?" if near else "Subscribe the rule, or correct the step."
                message = f"step {number} names the rule {quoted(term.rule)}, which does not exist"
                yield Finding("unknown rule", (pattern.id,), message, (), remedy)


def _inactive_rules(pattern: Pattern, inactive: Mapping[str, str]) -> Iterator[Finding]:
    if pattern.belongs_to_rule:
        return  # the rule says itself what it is
    for number, step in enumerate(pattern.steps, start=1):
        for term in step:
            if term.rule is not None and term.rule in inactive:
                status = inactive[term.rule]
                message = (
                    f"step {number} names the rule {quoted(term.rule)}, which is a {status} rule: no row fulfils it"
                )
                remedy = "Make the rule live with `set_status`, or name another one."
                yield Finding("inactive rule", (pattern.id, term.rule), message, (), remedy)


def _unknown_columns(pattern: Pattern, columns: Columns) -> Iterator[Finding]:
    used = {**dict.fromkeys(pattern.by, "by"), **({} if pattern.distinct is None else {pattern.distinct: "distinct"})}
    for name, field in used.items():
        if columns.missing(column_attribute(name)):
            remedy = columns.remedy(name, may_be_text=False)
            message = f"`{field}` names the column {quoted(name)}, which does not exist"
            yield Finding("unknown column", (pattern.id,), message, (), remedy)


def _impossible(pattern: Pattern, rules: Collection[str], never: Collection[str]) -> Iterator[Finding]:
    distinct = pattern.distinct
    if distinct is not None and (pattern.at_least or 0) > 1:
        same = [name for name in pattern.by if name.lower() == distinct.lower()]
        if same:
            message = f"rows with the same {same[0]} have one value of {distinct}, and {pattern.at_least:,} are counted"
            remedy = "Leave the column out of `by`, or count another one."
            yield Finding("impossible pattern", (pattern.id,), message, (), remedy)
    for number, step in enumerate(pattern.steps, start=1):
        reason = _unfulfilled(step, rules, never)
        if reason is None:
            continue
        if pattern.kind in ("absence", "change") and number == 2:
            if pattern.kind == "absence":
                message = f"no row can fulfil step 2, so it is always absent: {reason}"
                yield Finding("constant pattern", (pattern.id,), message, (), _CORRECT)
            continue
        yield Finding("impossible pattern", (pattern.id,), f"no row can fulfil step {number}: {reason}", (), _CORRECT)


def _unfulfilled(step: Step, rules: Collection[str], never: Collection[str]) -> str | None:
    """Why no row can fulfil a step; None if one may."""
    reasons = []
    for term in step:
        if term.rule is not None and term.rule not in rules:
            reasons.append(f"there is no rule {quoted(term.rule)}")
        elif (term.condition if term.rule is None else term.rule) in never:
            reasons.append(f"{quoted(_text(term))} is never true")
    return " and ".join(reasons) if len(reasons) == len(step) else None


def _text(term: Term) -> str:
    return (term.where if term.rule is None else term.rule) or ""


def _same_steps(pattern: Pattern) -> Iterator[Finding]:
    """Steps of which one row fulfils all. In a sequence it needs two rows, and that is a way to count."""
    if pattern.kind != "together":
        return
    for number, step in enumerate(pattern.steps, start=1):
        first = pattern.steps.index(step) + 1
        if first < number:
            message = f"steps {first} and {number} are the same, and so one row fulfils both"
            remedy = "Remove one of them; count(..., at_least=2) looks for two rows."
            yield Finding("constant pattern", (pattern.id,), message, (), remedy)
