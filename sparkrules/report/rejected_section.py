"""The section about rejected rules: by the parser, and by the table that they were matched against."""

from __future__ import annotations

from collections.abc import Sequence

from sparkrules.report.facts import Facts
from sparkrules.report.marked_error import marked
from sparkrules.report.markup import Markup, h
from sparkrules.report.section import more, section
from sparkrules.sql import Rejected

_SHOWN = 200


def rejected_rules(facts: Facts) -> Markup:
    """Each rejected rule with its error underlined, and the rules that do not fit the rows."""
    hint = "These texts are not accepted as rules and match nothing; the place of the error is underlined."
    parts: list[Markup | None] = [_listed(facts.rejected, len(facts.rejected))] if facts.rejected else []
    own = facts.rejected_by_table
    if own.count:
        said = (
            f"{own.count:,} {'rule does' if own.count == 1 else 'rules do'} not fit the rows, and "
            f"{'was' if own.count == 1 else 'were'} left out of the match: spark.sparkrules.invalidRules is skip."
        )
        parts += [h("h3", "Left out"), h("p", said, cls="hint"), _listed(own.named, own.count) if own.named else None]
    return section("rejected", "Rejected rules", hint if facts.rejected else "", *parts)


def _listed(rules: Sequence[Rejected], count: int) -> Markup:
    shown = []
    for rejected in rules[:_SHOWN]:
        before, wrong, after = marked(rejected)
        text = h("pre", before, h("u", wrong, cls="wrong") if wrong else None, after)
        where = "" if rejected.line is None else f" (line {rejected.line}, column {rejected.column})"
        shown.append(
            h("div", h("p", h("b", rejected.id)), h("p", rejected.reason + where, cls="reason"), text, cls="finding")
        )
    return h("div", *shown, more(count - len(shown)), cls="card")
