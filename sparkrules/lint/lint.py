"""`lint` reports all findings about some rules; `lint_errors` reports only what is certainly wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import pyarrow as pa

from sparkrules.index.rule import LIVE, Rule
from sparkrules.lint.cost import cost_findings
from sparkrules.lint.exemptions import Exempted, exemption_findings
from sparkrules.lint.finding import KINDS, SEVERITIES, Finding
from sparkrules.lint.impossible import impossible_findings
from sparkrules.lint.logic import logic_findings, never_findings
from sparkrules.lint.outliers import outlier_findings
from sparkrules.lint.patterns import condition_findings, never_true, pattern_findings
from sparkrules.lint.report import Report
from sparkrules.lint.twins import Twins
from sparkrules.lint.types import type_findings
from sparkrules.lint.unknown_columns import unknown_column_findings
from sparkrules.logic.regions import Regions
from sparkrules.patterns import Pattern
from sparkrules.sql.tree import distinct_predicates


def lint(
    rules: Iterable[Rule],
    schema: pa.Schema | None = None,
    patterns: Sequence[Pattern] = (),
    conditions: Iterable[Rule] = (),
) -> Report:
    """Findings about rules, the worst first. The schema of the target table gives more, and more certain, findings.

    Also about patterns, and the `conditions` that these have of their own.

    Spark is not needed. A finding about what rules match is proved for the types of the schema or, without one, for
    types that fit the constants (see `sparkrules.logic.regions`).

    >>> from sparkrules.sql import parse_rule
    >>> texts = {"warm": "t > 20", "hot": "t > 30", "hot too": "30 < t", "odd": "t > 30 AND t < 10"}
    >>> print(lint(Rule(id, text, parse_rule(text)) for id, text in texts.items()))
    error contradiction: odd
        never true: `t > 30` and `t < 10` exclude each other
        at line 1, column 1: t > 30
        at line 1, column 12: t < 10
        Correct one of them, or join them with OR.
    <BLANKLINE>
    warning duplicate: hot, hot too
        2 rules are the same condition
        Keep one of them, unless their priorities, metadata or owners matter.
    <BLANKLINE>
    info covered: hot, warm
        warm matches every row that hot matches
        Remove it, unless its id, priority or metadata matter; or check whether the other is too general.
    <BLANKLINE>
    3 findings in 4 rules: 1 contradiction, 1 duplicate, 1 covered
    """
    listed = sorted(rules, key=lambda rule: rule.id)
    exempted = {rule.id: Exempted.of(rule) for rule in listed if rule.exemptions is not None}
    plain, parts = _parts(listed, exempted)
    regions = _regions(listed, exempted, schema)
    # What is true for every row is no mistake in a rule that has exemptions.
    found = [own for own in logic_findings(plain, regions) if own.kind != "tautology" or own.ids[0] not in exempted]
    found += exemption_findings(exempted.values(), regions)
    skipped = frozenset(finding.ids[0] for finding in found if finding.kind in ("contradiction", "tautology"))
    twins = Twins(listed, regions, skipped)
    found += twins.findings()
    found += impossible_findings(parts, schema)
    if schema is not None:
        found += unknown_column_findings(parts, schema)
    found += type_findings(parts, schema)
    found += cost_findings(parts)
    found += outlier_findings(plain)
    found += _of_patterns(found, listed, schema, patterns, list(conditions))
    return _report(found, listed, twins.notes)


def lint_errors(
    rules: Iterable[Rule],
    schema: pa.Schema | None = None,
    patterns: Sequence[Pattern] = (),
    conditions: Iterable[Rule] = (),
) -> Report:
    """Only the findings of `lint` that are certainly mistakes. It is faster, because rules are not compared.

    >>> from sparkrules.sql import parse_rule
    >>> texts = {"warm": "t > 20", "hot": "t > 30", "odd": "t > 30 AND t < 10"}
    >>> [finding.ids for finding in lint_errors(Rule(id, text, parse_rule(text)) for id, text in texts.items())]
    [('odd',)]
    """
    listed = sorted(rules, key=lambda rule: rule.id)
    exempted = {rule.id: Exempted.of(rule) for rule in listed if rule.exemptions is not None}
    plain, parts = _parts(listed, exempted)
    regions = _regions(listed, exempted, schema)
    found = [*never_findings(plain, regions), *exemption_findings(exempted.values(), regions)]
    found += impossible_findings(parts, schema)
    if schema is not None:
        found += unknown_column_findings(parts, schema)
    found += _of_patterns(found, listed, schema, patterns, list(conditions))
    return _report([finding for finding in found if finding.severity == "error"], listed)


def _parts(rules: list[Rule], exempted: Mapping[str, Exempted]) -> tuple[list[Rule], list[Rule]]:
    """The rules without their exemptions; and with the conditions of these as rules of their own."""
    if not exempted:
        return rules, rules
    plain = [exempted[rule.id].rule if rule.id in exempted else rule for rule in rules]
    return plain, [*plain, *(condition for own in exempted.values() for condition in own.conditions)]


def _regions(rules: Sequence[Rule], exempted: Mapping[str, Exempted], schema: pa.Schema | None) -> Regions:
    tests = (test for rule in rules for test in distinct_predicates(rule.tree))
    return Regions(chain(tests, *(own.tests() for own in exempted.values())), schema)


def _of_patterns(
    found: Sequence[Finding],
    rules: Sequence[Rule],
    schema: pa.Schema | None,
    patterns: Sequence[Pattern],
    conditions: Sequence[Rule],
) -> list[Finding]:
    """Findings about patterns, after those about the rules."""
    if not patterns:
        return []
    never = {finding.ids[0] for finding in found if finding.kind == "contradiction"}
    # A rule may have the id of a condition: one that is never true is not the other.
    hidden = {rule.id for rule in conditions}
    never = (never - hidden) | never_true(conditions, schema)
    ids = {rule.id for rule in rules}
    inactive = {rule.id: rule.status for rule in rules if rule.status != LIVE}
    of_patterns = pattern_findings(patterns, ids, never, schema, inactive)
    return [*condition_findings(patterns, conditions, schema), *of_patterns]


def _report(found: list[Finding], rules: Sequence[Rule], notes: Sequence[str] = ()) -> Report:
    found.sort(key=lambda finding: (SEVERITIES.index(finding.severity), KINDS.index(finding.kind), finding.ids))
    return Report(found, {rule.id: rule.where for rule in rules}, tuple(notes))
