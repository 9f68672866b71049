"""Errors in rules, found before they are published: refused by a strict publish, otherwise logged."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import pyarrow as pa

from sparkrules.errors import RuleSetError, and_more
from sparkrules.index import Rule
from sparkrules.lint import Report, lint_errors
from sparkrules.rules.as_written import as_written
from sparkrules.sql import Policy
from sparkrules.sql.rejected import Rejected
from sparkrules.store import StoredPatterns

_log = logging.getLogger("sparkrules.lint")
_SHOWN = 20


class StrictPublishError(RuleSetError):
    """A strict publish found errors: the findings in `report`, and the rules in `rejected`."""

    def __init__(self, rule_set: str, report: Report, rejected: Sequence[Rejected]) -> None:
        shown = [str(finding) for finding in report.findings[:_SHOWN]]
        shown += [f"error rejected: {own.id}\n    {own.reason}" for own in rejected[: _SHOWN - len(shown)]]
        rest = and_more(len(report) + len(rejected) - len(shown))
        shown += [f"{rest}: see `report` and `rejected` of this error"] if rest else []
        super().__init__("\n".join([f"rule set {rule_set!r} is not published, because it has errors:", *shown]))
        self.report = report
        self.rejected = tuple(rejected)


def check_rules(
    rule_set: str,
    rules: Iterable[Rule],
    rejected: Sequence[Rejected],
    schema: pa.Schema | None,
    policy: Policy,
    *,
    strict: bool,
    patterns: StoredPatterns | None = None,
) -> None:
    """Look for rules that can never match, and for patterns that find nothing.

    If `strict`, raise `StrictPublishError`; otherwise log each of them.
    """
    known = patterns or StoredPatterns()
    conditions = as_written(known.conditions, policy)
    report = lint_errors(as_written(rules, policy), schema, known.patterns, conditions)
    if strict and (report or rejected):
        raise StrictPublishError(rule_set, report, rejected)
    for finding in report:
        _log.warning("rule set %r: %s", rule_set, finding)
