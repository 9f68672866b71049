"""The sections of the page in plain words; what needs a script is a place for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkrules.lint import Finding, Kind, Report
from sparkrules.report.catalogue import MOST_RULES
from sparkrules.report.gather import MOST_LINTED, Facts
from sparkrules.report.markup import Markup, h, join
from sparkrules.report.rejections import marked

_FINDINGS_PER_KIND = 50
_SHOWN_REJECTED = 200
_SHOWN_IDS = 6
_MEANINGS: dict[Kind, str] = {
    "contradiction": "never true, whatever the row",
    "unknown column": "name a column that the table lacks",
    "tautology": "true for every row",
    "duplicate": "the same condition as another rule",
    "equivalent": "match the same rows as another rule",
    "redundant": "have a part that can go",
    "type surprise": "compare values of different types",
    "covered": "match only rows that another rule matches too",
    "near duplicate": "have a number far from those of similar rules",
    "costly": "have a test that is slow",
}


def sections(facts: Facts) -> Iterator[tuple[str, str, Markup]]:
    """For each section its id, its name in the navigation, and itself."""
    yield "hits", "Rules", _rules(facts)
    if facts.time is not None:
        yield "time", "Time", _time(facts)
    yield "explore", "Explore", _explore(facts)
    yield "overlap", "Overlap", _overlap(facts)
    yield "findings", "Findings", _findings(facts.lint)
    if facts.rejected:
        yield "rejected", "Rejected", _rejected(facts)
    yield "index", "Index", _index(facts)
    if facts.hits is not None:
        yield "cost", "Cost", _cost(facts)


def _section(id: str, title: str, hint: str | Markup, *content: Markup | None) -> Markup:
    return h(
        "section", h("h2", title, id=f"{id}-h"), h("p", hint, cls="hint"), *content, id=id, cls="part",
        aria_labelledby=f"{id}-h",
    )  # fmt: skip


def _chart(id: str, label: str) -> Markup:
    return h("div", id=id, cls="chart", role="group", aria_label=label)


def _rules(facts: Facts) -> Markup:
    known = facts.hits is not None
    columns = [h("th", "rule", scope="col")]
    charts = which = None
    if known:
        columns += [h("th", "rows hit", scope="col", cls="number"), h("th", h("span", "as a bar", cls="visually-hidden"))]
        options = [h("option", text, value=value) for value, text in _WHICH.items()]
        which = h("label", "Show", h("select", *options, id="rules-which"), cls="narrow")
        charts = h(
            "div",
            h("div", h("h3", "Most hits"), _chart("top-rules", "Rules with the most hits"), cls="card"),
            h("div", h("h3", "How many rules hit how often"), _chart("hit-counts", "Rules by number of hits"), cls="card"),
            cls="columns",
        )  # fmt: skip
    columns.append(h("th", "text", scope="col"))
    search = h("label", "Search ids and texts", h("input", id="rules-find", type="search", autocomplete="off"))
    buttons = [h("button", text, type="button", id=id) for id, text in (("rules-back", "Back"), ("rules-next", "Next"))]
    table = h("table", h("thead", h("tr", *columns)), h("tbody", id="rules-body"))
    place = h("span", id="rules-place", role="status")
    listed = h(
        "div", h("h3", "All rules"), h("div", search, which, cls="tools"), h("div", table, cls="scroll"),
        h("div", *buttons, place, cls="paging"), cls="card",
    )  # fmt: skip
    hint = "A rule hits a row if its condition is true there. Choose a rule to see what it says and what is like it."
    if facts.rules > MOST_RULES:
        hint += f" This page lists {MOST_RULES:,} of the {facts.rules:,} rules, those that hit most."
    return _section("hits", "Which rules hit" if known else "The rules", hint, charts, listed)


_WHICH = {"all": "all rules", "hit": "rules that hit", "never": "rules that never hit"}


def _time(facts: Facts) -> Markup:
    own = facts.over_time
    if own is None:
        return _section("time", "Hits over time", f"No row has a time in the column {facts.time}.")
    options = [
        h("option", text, value=value)
        for value, text in (("hits", "hits of all rules"), ("perRow", "hits per row"), ("rules", "the rules that hit most"))
    ]
    choice = h("label", "Show", h("select", *options, id="time-what"), cls="narrow")
    without = f" {own.rows_without_time:,} rows have none." if own.rows_without_time else ""
    hint = f"By the column {facts.time}, in the time zone {facts.zone}.{without}"
    chart = h("div", h("div", choice, cls="tools"), _chart("over-time", "Hits over time"), cls="card")
    return _section("time", "Hits over time", hint, chart)


def _explore(facts: Facts) -> Markup:
    field = h(
        "input", id="find", type="text", role="combobox", autocomplete="off", aria_expanded="false",
        aria_controls="found", aria_autocomplete="list", placeholder="an id, a column, a value",
    )  # fmt: skip
    search = h(
        "div", h("label", "Search a rule", for_="find"), field,
        h("ul", id="found", role="listbox", aria_label="Rules found", hidden=True), cls="search",
    )  # fmt: skip
    hint = "What it says, how often it hits, and its neighbours: rules that contain the same subexpression."
    return _section("explore", "One rule and its neighbours", hint, search, h("div", id="rule", cls="card"))


def _overlap(facts: Facts) -> Markup:
    matrix = facts.matrix
    if matrix.of_rows:
        title = "Rules that hit the same rows"
        hint = (
            f"The {len(matrix.rules)} rules that hit most. The darker a field, the more of the rows that either rule "
            "hits are hit by both. Choose a field to see what the two contain in common."
        )
    else:
        title = "Rules that test the same"
        hint = (
            f"{len(matrix.rules)} rules that have much in common. The darker a field, the more of their tests are the "
            "same. Choose a field to see which."
        )
    if not matrix.pairs:
        none = "No two of the rules that hit most hit the same row." if matrix.of_rows else "No two have a test in common."
        return _section("overlap", title, none)
    chart = h("div", _chart("matrix", title), h("div", id="pair", cls="pair", aria_live="polite"), cls="card")
    return _section("overlap", title, hint, chart)


def _findings(report: Report | None) -> Markup:
    title = "What is probably wrong with rules"
    if report is None:
        hint = f"Not looked for: with more than {MOST_LINTED:,} rules it takes minutes. Ask for it with lint=True."
        return _section("findings", title, hint)
    if not len(report):
        return _section("findings", title, "Nothing was found.")
    groups = [_group(kind, report.of(kind)) for kind in report.counts]
    hint = " ".join(["An error can never be meant, a warning hardly, an info may well be.", *report.notes])
    return _section("findings", title, hint, *groups)


def _group(kind: Kind, found: Sequence[Finding]) -> Markup:
    severity = found[0].severity
    number = h("span", f"{len(found):,}: {_MEANINGS[kind]}", cls="count")
    shown = [_finding(finding) for finding in found[:_FINDINGS_PER_KIND]]
    return h(
        "details",
        h("summary", h("span", severity, cls=f"badge {severity}"), kind, number),
        h("div", *shown, _more(len(found) - _FINDINGS_PER_KIND), cls="inside"),
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


def _rejected(facts: Facts) -> Markup:
    shown = []
    for rejected in facts.rejected[:_SHOWN_REJECTED]:
        before, wrong, after = marked(rejected)
        text = h("pre", before, h("u", wrong, cls="wrong") if wrong else None, after)
        where = "" if rejected.line is None else f" (line {rejected.line}, column {rejected.column})"
        shown.append(
            h("div", h("p", h("b", rejected.id)), h("p", rejected.reason + where, cls="reason"), text, cls="finding")
        )
    hint = "These texts are not accepted as rules and match nothing; the place of the error is underlined."
    body = h("div", *shown, _more(len(facts.rejected) - _SHOWN_REJECTED), cls="card")
    return _section("rejected", "Rejected rules", hint, body)


def _index(facts: Facts) -> Markup:
    own = facts.sharing
    saved = "" if own.nodes == 0 else f"{own.snps:.0%} of the parts of a rule are, on average, parts of other rules too."
    hint = (
        f"Equal parts of rules are stored and tested once: {facts.rules:,} rules are {own.nodes:,} parts with "
        f"{own.predicates:,} different tests. {saved}"
    )
    rows = [h("tr", h("td", f"{uses:,}", cls="number"), h("td", _cut(text), cls="text")) for uses, text in own.most_shared]
    head = h("thead", h("tr", h("th", "rules", scope="col", cls="number"), h("th", "have this part", scope="col")))
    shared = h(
        "div", h("h3", "Most shared parts"),
        h("div", h("table", head, h("tbody", *rows)), cls="scroll") if rows else h("p", "No part is shared.", cls="hint"),
        cls="card",
    )  # fmt: skip
    explained = "Level 1 are single tests; a part is one level above its highest part."
    levels = h(
        "div", h("h3", "Levels"), h("p", explained, cls="hint"), _chart("levels", "Parts by level"), cls="card"
    )
    return _section("index", "The index", hint, h("div", shared, levels, cls="columns"), _attributes(facts))


def _attributes(facts: Facts) -> Markup:
    drawn = [own for own in facts.attributes if own.bins]
    rows = [
        h("tr", h("td", _cut(own.name), cls="text"), h("td", f"{own.tests:,}", cls="number"),
          h("td", f"{own.rules:,}", cls="number"))
        for own in facts.attributes[:_SHOWN_ATTRIBUTES]
    ]  # fmt: skip
    columns = [h("th", text, scope="col", cls="number") for text in ("different tests", "rules")]
    head = h("thead", h("tr", h("th", "attribute", scope="col"), *columns))
    table = h("div", h("table", head, h("tbody", *rows)), cls="scroll")
    listed = h("div", h("h3", "What rules test"), table, _more(len(facts.attributes) - _SHOWN_ATTRIBUTES), cls="card")
    if not drawn:
        return listed
    options = [
        h("option", f"{_cut(own.name, 60)} ({own.rules:,})", value=str(number)) for number, own in enumerate(drawn)
    ]
    choice = h("label", "Attribute, and how many rules test it", h("select", *options, id="attribute"))
    hint = (
        f"Where the values of {facts.sampled:,} rows lie among the constants of the rules (blue), how many tests of "
        "rules are true there (amber), and the ranges of the tests that most rules have (green)."
    )
    chart = h(
        "div", h("h3", "Where values lie"), h("p", hint, cls="hint"), h("div", choice, cls="tools"),
        h("p", id="attribute-said", cls="hint", role="status"), _chart("distribution", "Values and tests"), cls="card",
    )  # fmt: skip
    return join(h("div", chart, cls="card-row"), listed)


_SHOWN_ATTRIBUTES = 12


def _cost(facts: Facts) -> Markup:
    hits = facts.hits
    assert hits is not None
    rows = max(hits.rows, 1)
    looked = [own.comparisons for own in facts.attributes if own.comparisons is not None]
    costly = 0 if facts.lint is None else len(facts.lint.of("costly"))
    lines = [
        ("Reading and matching, per row", f"{_micros(hits.seconds / rows)}", f"{hits.rows:,} rows in {hits.seconds:.2f} s"),
        ("Reading alone, per row", f"{_micros(hits.reading / rows)}", f"all columns, {hits.reading:.2f} s"),
        ("Rows per second", f"{hits.rows / max(hits.seconds, 1e-9):,.0f}", "with all rules at once"),
        ("Loading the rules", f"{hits.loading:.2f} s", "once per session, and when rules change"),
    ]
    if looked:
        about = f"{sum(looked):,.0f}"
        lines.append(("Comparisons to look values up, per row", about, f"expected, for {len(looked):,} attributes"))
    if costly:
        lines.append(("Rules with a slow test", f"{costly:,}", "regular expressions and the like: see the findings"))
    body = [
        h("tr", h("th", name, scope="row"), h("td", value, cls="number"), h("td", note)) for name, value, note in lines
    ]
    hint = (
        "Measured while this report was made, on the Spark that made it. What one rule costs cannot be told apart: "
        "rules share their tests."
    )
    return _section("cost", "What it costs", hint, h("div", h("table", h("tbody", *body)), cls="card scroll"))


def _micros(seconds: float) -> str:
    micros = seconds * 1e6
    return f"{micros:,.2f} µs" if micros < 100 else f"{micros:,.0f} µs"


def _more(left: int) -> Markup | None:
    return h("p", f"… and {left:,} more.", cls="hint") if left > 0 else None


def _cut(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def navigation(found: Sequence[tuple[str, str, Markup]]) -> Markup:
    """Links to the sections."""
    return join(*(h("li", h("a", name, href=f"#{id}")) for id, name, _ in found))
