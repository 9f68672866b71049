"""The sections of the page, in order. Anything that needs the script is a placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkrules.report.facts import Facts
from sparkrules.report.finding_section import findings
from sparkrules.report.index_sections import cost, index
from sparkrules.report.markup import Markup, h, join
from sparkrules.report.pattern_section import patterns
from sparkrules.report.rejected_section import rejected_rules
from sparkrules.report.rule_sections import explore, overlap, rules, time
from sparkrules.report.scan_section import reading


def sections(facts: Facts) -> Iterator[tuple[str, str, Markup]]:
    """The id, the name in the navigation and the content of each section."""
    yield "hits", "Rules", rules(facts)
    if facts.time is not None:
        yield "time", "Time", time(facts)
    if facts.patterns:
        yield "patterns", "Patterns", patterns(facts)
    yield "explore", "Explore", explore()
    yield "overlap", "Overlap", overlap(facts)
    yield "findings", "Findings", findings(facts)
    if facts.rejected or facts.rejected_by_table.count:
        yield "rejected", "Rejected", rejected_rules(facts)
    skipped = reading(facts)
    if skipped is not None:
        yield "reading", "Reading", skipped
    yield "index", "Index", index(facts)
    if facts.hits is not None:
        yield "cost", "Cost", cost(facts.hits, facts)


def navigation(found: Sequence[tuple[str, str, Markup]]) -> Markup:
    """Links to the sections."""
    return join(*(h("li", h("a", name, href=f"#{id}")) for id, name, _ in found))
