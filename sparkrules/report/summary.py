"""The first screen, which answers what the rules do: a sentence or two, and six figures."""

from __future__ import annotations

from sparkrules.report.facts import Facts
from sparkrules.report.markup import Markup, h, join
from sparkrules.report.section import percent


def eyebrow(facts: Facts) -> Markup:
    """Which rules, and when."""
    version = "not published as it is now" if facts.version is None else f"version {facts.version}"
    return join(f"{version} · {facts.made.day} {facts.made:%B %Y, %H:%M} UTC")


def lead(facts: Facts) -> Markup:
    """The summary in words."""
    hits = facts.hits
    rules = _plural(facts.rules, "rule")
    if hits is None:
        said = f"{rules}, built from {_plural(facts.sharing.predicates, 'different test')}. No rows were looked at."
        return join(said, _invalid(facts), _patterns(facts))
    if not hits.rows:
        return join(f"{rules}. There were no rows to look at.", _invalid(facts))
    none = 1 - hits.matched_rows / hits.rows
    hitting, per_row = len(hits.by_rule), _mean(hits.matches / hits.rows)
    never = f", {facts.never:,} never did" if facts.never else ""
    said = (
        f"Of {rules}, {hitting:,} hit at least one of {_plural(hits.rows, 'row')}{never}. "
        f"A row is hit by {per_row} on average; {percent(none)} of the rows are hit by none."
    )
    said += _patterns(facts)
    if not hits.by_rule:
        return join(said, _invalid(facts))
    top = facts.catalogue.ids[0]
    button = h("button", top, cls="rule", type="button", data_id=top)
    share = percent(hits.by_rule[top] / hits.rows)
    return join(said, _invalid(facts), f" The one that hits most, {share} of the rows: ", button)


def tiles(facts: Facts) -> Markup:
    """The figures, each with a link to its section."""
    hits, lint = facts.hits, facts.lint
    found = [_tile("Rules", f"{facts.rules:,}", "#hits", "see them all")]
    if hits is None:
        found.append(_tile("Different tests", f"{facts.sharing.predicates:,}", "#index", "how they are shared"))
    else:
        per_row = hits.matches / hits.rows if hits.rows else 0.0
        never = facts.never or 0
        found += [
            _tile("Rows looked at", f"{hits.rows:,}", "#cost", "what that cost"),
            _tile("Matches per row", f"{per_row:,.2f}", "#overlap", f"{hits.matches:,} matches"),
            _tile("Never hit", f"{never:,}", "#hits", "list them", "warn" if never else "", "never"),
        ]
    rejected, unfit = len(facts.rejected), facts.rejected_by_table.count
    wrong = "what is wrong" if not unfit else f"and {unfit:,} left out"
    link = ("#rejected", wrong) if rejected + unfit else ("", "every text was accepted")
    found.append(_tile("Rejected rules", f"{rejected:,}", *link, "bad" if rejected + unfit else ""))
    if lint is None:
        found.append(_tile("Findings", "–", "#findings", "not looked for"))
    else:
        errors = sum(finding.severity == "error" for finding in lint)
        note = f"{errors:,} of them errors" if errors else "none of them errors" if len(lint) else "nothing to correct"
        found.append(_tile("Findings", f"{len(lint):,}", "#findings", note, "bad" if errors else ""))
    return join(*found)


def _mean(value: float) -> str:
    text = f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{text} rule" if text == "1" else f"{text} rules"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _patterns(facts: Facts) -> str:
    if not facts.patterns:
        return ""
    patterns = _plural(len(facts.patterns), "pattern")
    if facts.detections is None:
        return f" There {'is' if len(facts.patterns) == 1 else 'are'} also {patterns} over several rows."
    found = facts.detections.total
    return f" Of {patterns} over several rows there {'is' if found == 1 else 'are'} {_plural(found, 'detection')}."


def _invalid(facts: Facts) -> str | None:
    said = ""
    if facts.invalid:
        said = (
            f" {_plural(facts.invalid, 'rule')} {'is' if facts.invalid == 1 else 'are'} not valid now, and can not hit."
        )
    if facts.inactive:
        said += (
            f" {_plural(facts.inactive, 'rule')} {'is' if facts.inactive == 1 else 'are'} not live, and can not hit."
        )
    return said or None


def _tile(name: str, figure: str, link: str, note: str, kind: str = "", which: str | None = None) -> Markup:
    said = h("a", note, href=link, data_which=which) if link else note
    value = h("dd", figure, cls=f"figure {kind}".strip())
    return h("div", h("dt", name), value, h("dd", said, cls="note"))
