"""The sections about what is wrong: findings of lint, and rules that were rejected."""

from __future__ import annotations

from collections.abc import Sequence

from sparkrules.lint import Finding, Kind, Report
from sparkrules.report.facts import MOST_LINTED, Facts
from sparkrules.report.markup import Markup, h, join
from sparkrules.report.rejections import marked
from sparkrules.report.section import more, section

_FINDINGS_PER_KIND = 50
_SHOWN_REJECTED = 200
_SHOWN_IDS = 6
_MEANINGS: dict[Kind, str] = {
    "contradiction": "never true, whatever the row",
    "unknown column": "name a column that the table lacks",
    "impossible test": "have a test that is never true",
    "tautology": "true for every row",
    "duplicate": "the same condition as another rule",
    "equivalent": "match the same rows as another rule",
    "redundant": "have a part that can go",
    "type surprise": "compare values of different types",
    "constant test": "have a test that names no column",
    "covered": "match only rows that another rule matches too",
    "near duplicate": "have a number far from those of similar rules",
    "costly": "have a test that is slow",
}


def findings(report: Report | None) -> Markup:
    """What lint has found, by kind."""
    title = "What is probably wrong with rules"
    if report is None:
        hint = f"Not looked for: with more than {MOST_LINTED:,} rules it takes minutes. lint=True, or --lint, does it."
        return section("findings", title, hint)
    if not len(report):
        return section("findings", title, "Nothing was found.")
    groups = [_group(kind, report.of(kind)) for kind in report.counts]
    hint = " ".join(["An error can never be meant, a warning hardly, an info may well be.", *report.notes])
    return section("findings", title, hint, *groups)


def _group(kind: Kind, found: Sequence[Finding]) -> Markup:
    severity = found[0].severity
    number = h("span", f"{len(found):,}: {_MEANINGS[kind]}", cls="count")
    shown = [_finding(finding) for finding in found[:_FINDINGS_PER_KIND]]
    return h(
        "details",
        h("summary", h("span", severity, cls=f"badge {severity}"), kind, number),
        h("div", *shown, more(len(found) - _FINDINGS_PER_KIND), cls="inside"),
        open=severity == "error",
    )


def _finding(finding: Finding) -> Markup:
    shown = [_rule(id) for id in finding.ids[:_SHOWN_IDS]]
    left = len(finding.ids) - len(shown)
    names = join(*(part for button in shown for part in (button, " ")), f"and {left:,} more" if left else None)
    places = [h("pre", place.fragment) for place in finding.places[:2]]
    return h(
        "div", h("p", names), h("p", finding.message), *places, h("p", finding.suggestion, cls="do"), cls="finding"
    )


def _rule(id: str) -> Markup:
    return h("button", id, cls="rule", type="button", data_id=id)


def rejected_rules(facts: Facts) -> Markup:
    """Each with its error underlined."""
    shown = []
    for rejected in facts.rejected[:_SHOWN_REJECTED]:
        before, wrong, after = marked(rejected)
        text = h("pre", before, h("u", wrong, cls="wrong") if wrong else None, after)
        where = "" if rejected.line is None else f" (line {rejected.line}, column {rejected.column})"
        shown.append(
            h("div", h("p", h("b", rejected.id)), h("p", rejected.reason + where, cls="reason"), text, cls="finding")
        )
    hint = "These texts are not accepted as rules and match nothing; the place of the error is underlined."
    body = h("div", *shown, more(len(facts.rejected) - _SHOWN_REJECTED), cls="card")
    return section("rejected", "Rejected rules", hint, body)
