"""Ranks findings by importance: wrong, suspicious, slow, untidy.

Contract: within each tier, the kinds and findings whose rules hit most come first. A kind that is not listed here is
wrong if it is an error, and suspicious otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sparkrules.lint import Finding, Kind, Report

_SLOW = ("costly",)
_UNTIDY = ("duplicate", "equivalent", "redundant", "covered")
_TITLES = (
    "Wrong: correct these first",
    "Suspicious: check these",
    "Slow: change these where time matters",
    "Untidy: clear these up last",
)


class Tier(NamedTuple):
    """Kinds of about the same urgency."""

    title: str
    groups: Sequence[tuple[Kind, Sequence[Finding]]]


def ranked(report: Report, hits: Mapping[str, int] | None) -> list[Tier]:
    """The findings by tier and kind; without `hits`, kinds and findings stay in the order of the report.

    >>> found = [Finding(kind, (id,), "") for kind, id in (("covered", "a"), ("costly", "b"), ("costly", "c"))]
    >>> for title, groups in ranked(Report([*found, Finding("contradiction", ("d",), "")]), {"c": 7, "b": 2}):
    ...     print(title, [(kind, [finding.ids[0] for finding in own]) for kind, own in groups])
    Wrong: correct these first [('contradiction', ['d'])]
    Slow: change these where time matters [('costly', ['c', 'b'])]
    Untidy: clear these up last [('covered', ['a'])]
    """
    tiers: list[list[tuple[Kind, Sequence[Finding]]]] = [[] for _ in _TITLES]
    for kind in report.counts:
        found = sorted(report.of(kind), key=lambda finding: -affected(finding, hits or {}))
        tiers[_tier(found[0])].append((kind, found))
    for groups in tiers:
        groups.sort(key=lambda group: -sum(affected(finding, hits or {}) for finding in group[1]))
    return [Tier(title, groups) for title, groups in zip(_TITLES, tiers, strict=True) if groups]


def affected(finding: Finding, hits: Mapping[str, int]) -> int:
    """The total hits of all rules of a finding."""
    return sum(hits.get(id, 0) for id in finding.ids)


def _tier(finding: Finding) -> int:
    if finding.severity == "error":
        return 0
    return 2 if finding.kind in _SLOW else 3 if finding.kind in _UNTIDY else 1
