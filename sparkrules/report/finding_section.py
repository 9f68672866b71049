"""The section about lint's findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sparkrules.errors import and_more
from sparkrules.lint import Finding, Kind
from sparkrules.report.facts import MOST_LINTED, Facts
from sparkrules.report.markup import Markup, h, join
from sparkrules.report.ranking import affected, ranked
from sparkrules.report.section import more, section

_FINDINGS_PER_KIND = 50
_SHOWN_IDS = 6
_MEANINGS: dict[Kind, str] = {
    "contradiction": "never true, whatever the row",
    "unknown column": "name a column that the table lacks",
    "impossible predicate": "have a predicate that is never true",
    "unknown rule": "patterns that name a rule which does not exist",
    "impossible pattern": "patterns that are never found",
    "inactive rule": "patterns that name a rule which is not live",
    "tautology": "true for every row",
    "duplicate": "the same expression as another rule",
    "equivalent": "match the same rows as another rule",
    "redundant": "have a part that can go",
    "type surprise": "compare values of different types",
    "constant predicate": "have a predicate that names no column",
    "constant pattern": "patterns with a step that makes no difference",
    "constant exemption": "have an exemption that never applies, or always",
    "covered": "match only rows that another rule matches too",
    "near duplicate": "have a number far from those of similar rules",
    "costly": "have a predicate that is slow",
    "expired exemption": "have an exemption that has ended",
}
_OF_PATTERNS = ("unknown rule", "inactive rule", "impossible pattern", "constant pattern")


def findings(facts: Facts) -> Markup:
    """What lint found, most urgent first."""
    title = "What is probably wrong with rules"
    report = facts.lint
    if report is None:
        hint = f"Not looked for: with more than {MOST_LINTED:,} rules it takes minutes. lint=True, or --lint, does it."
        return section("findings", title, hint)
    if not len(report):
        return section("findings", title, "Nothing was found.")
    hits = None if facts.hits is None else facts.hits.by_rule
    rules = frozenset(facts.catalogue.ids)
    content: list[Markup] = []
    for tier, groups in ranked(report, hits):
        content.append(h("h3", tier))
        content += [_group(kind, found, hits, rules, is_open=len(content) == 1) for kind, found in groups]
    order = "" if hits is None else "Rules that hit most come first."
    hint = " ".join(["An error can never be meant, a warning hardly, an info may well be.", order, *report.notes])
    return section("findings", title, hint, *content)


def _group(
    kind: Kind, found: Sequence[Finding], hits: Mapping[str, int] | None, rules: Collection[str], *, is_open: bool
) -> Markup:
    severity = found[0].severity
    number = h("span", f"{len(found):,}: {_MEANINGS[kind]}", cls="count")
    shown = [_finding(finding, hits, rules) for finding in found[:_FINDINGS_PER_KIND]]
    return h(
        "details",
        h("summary", h("span", severity, cls=f"badge {severity}"), kind, number),
        h("div", *shown, more(len(found) - _FINDINGS_PER_KIND), cls="inside"),
        open=severity == "error" or is_open,
    )


def _finding(finding: Finding, hits: Mapping[str, int] | None, rules: Collection[str]) -> Markup:
    # A pattern may have the id of a rule; a step of it has an id that no rule has.
    is_of_rules = finding.kind not in _OF_PATTERNS and all(id in rules for id in finding.ids)
    shown = [_rule(id) if is_of_rules else h("b", id) for id in finding.ids[:_SHOWN_IDS]]
    left = len(finding.ids) - len(shown)
    separated = [part for button in shown for part in (", ", button)][1:]
    names = join(*separated, f" {and_more(left)}" if left else None)
    hit = (
        None
        if hits is None or not is_of_rules
        else h("span", _hits(affected(finding, hits), len(finding.ids)), cls="count")
    )
    places = [h("pre", place.fragment) for place in finding.places[:2]]
    said = h("p", finding.suggestion, cls="do")
    return h("div", h("p", names, " ", hit), h("p", finding.message), *places, said, cls="finding")


def _hits(count: int, rules: int) -> str:
    if rules == 1:
        return f"hits {count:,} {'row' if count == 1 else 'rows'}" if count else "never hits"
    return f"{count:,} hits together" if count else "none of them hits"


def _rule(id: str) -> Markup:
    return h("button", id, cls="rule", type="button", data_id=id)
