"""The section about patterns: what each looks for, how often it was found, when and in which keys."""

from __future__ import annotations

from sparkrules.patterns import Pattern
from sparkrules.report.detections import Found
from sparkrules.report.facts import Facts
from sparkrules.report.markup import Markup, h
from sparkrules.report.section import chart, cut, more, section

MOST_PATTERNS = 500
MOST_CHOSEN = 50
_OVER_TIME = {"all": "all patterns", "patterns": "the patterns found most"}


def patterns(facts: Facts) -> Markup:
    """All patterns, those that were found most first."""
    own = facts.detections
    hint = (
        "A pattern looks at several rows that have a key in common, such as a user. It is made of rules: each row of a "
        "detection is one that a rule of the pattern hits."
    )
    if own is None:
        if facts.hits is not None:
            hint += (
                " To see what was found, name a column of times."
                if facts.time is None
                else f" No row has a time in the column {facts.time}."
            )
        return section("patterns", "Patterns over several rows", hint, _table(facts))
    hint += f" By the column {facts.time}, in the time zone {facts.zone}; a detection counts when it ends."
    if not own.total:
        hint += " None of the patterns was found in these rows."
        return section("patterns", "Patterns over several rows", hint, _table(facts))
    over_time = h("select", *_options(_OVER_TIME), id="detections-what")
    chosen = h(
        "select",
        *_options({str(n): id for n, id in enumerate(own.by_detections()[:MOST_CHOSEN])}),
        id="detections-pattern",
    )
    return section(
        "patterns",
        "Patterns over several rows",
        hint,
        h(
            "div",
            h("h3", "Detections over time"),
            h("div", h("label", "Show", over_time, cls="narrow"), cls="tools"),
            chart("detections", "Detections over time"),
            cls="card",
        ),
        h(
            "div",
            h("h3", "The keys of a pattern"),
            h("div", h("label", "Pattern", chosen, cls="narrow"), cls="tools"),
            h("p", id="detections-said", cls="hint", role="status"),
            chart("detection-keys", "Detections over time for the keys with the most"),
            cls="card",
        ),
        _table(facts),
    )


def _options(choices: dict[str, str]) -> list[Markup]:
    return [h("option", text, value=value) for value, text in choices.items()]


def _table(facts: Facts) -> Markup:
    own = facts.detections
    columns = [h("th", "pattern", scope="col")]
    if own is not None:
        columns += [h("th", name, scope="col", cls="number") for name in ("detections", "suppressed", "keys")]
    columns.append(h("th", "what it looks for", scope="col"))
    ordered = list(facts.patterns)
    if own is not None:
        place = {id: number for number, id in enumerate(own.by_detections())}
        ordered.sort(key=lambda own: place.get(own, len(place)))
    rows = [_row(facts.patterns[id], None if own is None else own.by_pattern[id]) for id in ordered[:MOST_PATTERNS]]
    table = h("table", h("thead", h("tr", *columns)), h("tbody", *rows, id="patterns-body"), cls="stacked")
    return h(
        "div",
        h("h3", "All patterns"),
        h("div", table, cls="scroll"),
        more(len(ordered) - MOST_PATTERNS),
        cls="card",
    )


def _row(pattern: Pattern, found: Found | None) -> Markup:
    figures = (
        []
        if found is None
        else [
            _figure(found.detections, "detections"),
            _figure(found.suppressed, "suppressed"),
            _figure(found.keys, "keys"),
        ]
    )
    return h("tr", h("td", h("b", cut(pattern.id)), cls="of-rule"), *figures, h("td", cut(str(pattern)), cls="words"))


def _figure(value: int, label: str) -> Markup:
    return h("td", f"{value:,}", cls="number", data_label=label)
