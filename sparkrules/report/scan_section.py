"""The section about rows that need not be read."""

from __future__ import annotations

from sparkrules.errors import listed
from sparkrules.report.facts import Facts
from sparkrules.report.markup import Markup, h
from sparkrules.report.section import cut, percent, section

_NAMED = 10


def reading(facts: Facts) -> Markup | None:
    """What a source can skip, or which rules make that impossible; None for more rules than are looked at."""
    found = facts.scan_filter
    if found is None:
        return None
    hint = (
        "A query that wants only rows with a match gives the source of the rows a condition that every rule implies. "
        "Partitions, files and row groups that cannot fulfil it are not read."
    )
    if found.blamed:
        said = h(
            "p",
            "Everything has to be read, because a source cannot tell which rows these rules match. Each of them needs "
            f"a predicate on a plain column: {listed(found.blamed, _NAMED)}.",
        )
    else:
        estimated = f"{percent(found.share)} of the rows are estimated to fulfil it."
        matched = ""
        if facts.hits is not None and facts.hits.rows:
            matched = f" {percent(facts.hits.matched_rows / facts.hits.rows)} of the rows of this report match a rule."
        said = h("div", h("pre", h("code", cut(found.sql, 1000))), h("p", estimated + matched))
    return section("reading", "What need not be read", hint, h("div", said, cls="card"))
