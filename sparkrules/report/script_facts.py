"""The data for the page's script: JSON of bounded size, whatever the number of rules."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from sparkrules.lint import Finding
from sparkrules.report.facts import Facts
from sparkrules.report.pattern_section import MOST_CHOSEN
from sparkrules.report.time_buckets import label

SHOWN_OVER_TIME = 6
_FINDINGS_PER_RULE = 5
_RULES_WITH_FINDINGS = 5_000
_HISTOGRAM = (0, 1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def script_facts(facts: Facts) -> dict[str, Any]:
    """The data for the page's script."""
    return {
        "rows": 0 if facts.hits is None else facts.hits.rows,
        "histogram": _histogram(facts),
        "time": _time(facts),
        "detections": _detections(facts),
        "matrix": {"ofRows": facts.matrix.of_rows, "rules": facts.matrix.rules, "pairs": facts.matrix.pairs},
        "levels": facts.levels,
        "attributes": [
            {
                "name": own.name,
                "tests": own.tests,
                "nullShare": own.null_share,
                "search": own.search,
                "bins": [{"label": bin.label, "share": bin.share, "tests": bin.tests} for bin in own.bins],
                "spans": [
                    {"text": span.text, "rules": span.rules, "first": span.first, "last": span.last}
                    for span in own.spans
                ],
            }
            for own in facts.distributions
        ],
        "findings": _findings(facts),
        "shown": _most_telling(facts),
    }


def _histogram(facts: Facts) -> list[dict[str, Any]]:
    """How many rules hit how many rows, by powers of ten."""
    if facts.hits is None:
        return []
    counts = [facts.never or 0, *([0] * (len(_HISTOGRAM) - 1))]
    for hits in facts.hits.by_rule.values():
        counts[max(i for i, least in enumerate(_HISTOGRAM) if hits >= least)] += 1
    labels = ["never", "once"]
    labels += [f"{a:,} – {b - 1:,}" for a, b in pairwise(_HISTOGRAM[2:])]
    labels.append(f"{_HISTOGRAM[-1]:,} or more")
    last = max((i for i, count in enumerate(counts) if count), default=0)
    return [{"hits": labels[i], "rules": counts[i]} for i in range(last + 1)]


def _time(facts: Facts) -> dict[str, Any] | None:
    own = facts.over_time
    if own is None:
        return None
    shown = facts.catalogue.ids[:SHOWN_OVER_TIME]
    return {
        "column": facts.time,
        "label": label(own.width),
        "times": _starts(own.first, own.width, len(own.rows)),
        "rows": own.rows,
        "hits": own.hits,
        "rules": [{"id": id, "hits": own.by_rule[id]} for id in shown if id in own.by_rule],
    }


def _detections(facts: Facts) -> dict[str, Any] | None:
    own = facts.detections
    if own is None or not own.total:
        return None
    chosen = own.by_detections()[:MOST_CHOSEN]
    totals = [sum(at) for at in zip(*(found.times for found in own.by_pattern.values()), strict=True)]
    return {
        "column": facts.time,
        "label": label(own.width),
        "times": _starts(own.first, own.width, len(totals)),
        "all": totals,
        "shown": SHOWN_OVER_TIME,
        "patterns": [
            {
                "id": id,
                "said": str(facts.patterns[id]),
                "detections": own.by_pattern[id].times,
                "keys": own.by_pattern[id].keys,
                "top": [
                    {"key": " · ".join(key) or "all rows", "detections": times}
                    for key, times in own.by_pattern[id].top_keys.items()
                ],
            }
            for id in chosen
        ],
    }


def _starts(first: int, width: timedelta, count: int) -> list[int]:
    """When the time buckets begin, in milliseconds."""
    return [(first + i) * (width // timedelta(milliseconds=1)) for i in range(count)]


def _findings(facts: Facts) -> dict[str, list[str]]:
    """The findings of each rule, one line each."""
    found: dict[str, list[str]] = {}
    for finding in facts.lint or ():
        for id in finding.ids[:1] if len(finding.ids) > 2 else finding.ids:
            if id in found or len(found) < _RULES_WITH_FINDINGS:
                found.setdefault(id, []).append(_line(finding))
    return {id: lines[:_FINDINGS_PER_RULE] for id, lines in found.items()}


def _line(finding: Finding) -> str:
    return f"{finding.kind}: {finding.message}"


def _most_telling(facts: Facts) -> int:
    """The rule to show first: one of the two that have most in common, else the one that hits most."""
    return max(facts.matrix.pairs, key=lambda pair: pair[2], default=(0,))[0]
