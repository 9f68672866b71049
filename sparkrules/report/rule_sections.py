"""The sections about rules: which ones hit, when, the details of one rule, and which ones hit together."""

from __future__ import annotations

from sparkrules.report.catalogue import MOST_RULES
from sparkrules.report.facts import Facts
from sparkrules.report.markup import Markup, h
from sparkrules.report.matrix import MOST_RULES as MOST_COMPARED
from sparkrules.report.section import chart, section

_WHICH = {"all": "all rules", "hit": "rules that hit", "never": "rules that never hit"}
_OVER_TIME = {"hits": "hits of all rules", "perRow": "hits per row", "rules": "the rules that hit most"}


def rules(facts: Facts) -> Markup:
    """All rules, by hits."""
    known = facts.hits is not None
    columns = [h("th", "rule", scope="col")]
    charts = which = None
    if known:
        columns += [
            h("th", "rows hit", scope="col", cls="number"),
            h("th", h("span", "as a bar", cls="visually-hidden")),
        ]
        options = [h("option", text, value=value) for value, text in _WHICH.items()]
        which = h("label", "Show", h("select", *options, id="rules-which"), cls="narrow")
        charts = h(
            "div",
            h("div", h("h3", "Most hits"), chart("top-rules", "Rules with the most hits"), cls="card"),
            h(
                "div",
                h("h3", "How many rules hit how often"),
                chart("hit-counts", "Rules by number of hits"),
                cls="card",
            ),
            cls="columns",
        )
    estimates = facts.catalogue.estimates
    if estimates is not None:
        columns.append(h("th", "estimate", scope="col", cls="number"))
    columns.append(h("th", "text", scope="col"))
    search = h("label", "Search ids and texts", h("input", id="rules-find", type="search", autocomplete="off"))
    buttons = [h("button", text, type="button", id=id) for id, text in (("rules-back", "Back"), ("rules-next", "Next"))]
    table = h("table", h("thead", h("tr", *columns)), h("tbody", id="rules-body"), cls="stacked")
    place = h("span", id="rules-place", role="status")
    listed = h(
        "div",
        h("h3", "All rules"),
        h("div", search, which, cls="tools"),
        h("div", table, cls="scroll"),
        h("div", *buttons, place, cls="paging"),
        cls="card",
    )
    hint = "A rule hits a row if its condition is true there. Choose a rule to see what it says and what is like it."
    if estimates is not None:
        hint += (
            f" The estimate is the share of rows that a rule can match at least, probably and at most, by how "
            f"{estimates.rows:,} rows lie among its constants."
        )
    if facts.rules > MOST_RULES:
        hint += f" This page lists {MOST_RULES:,} of the {facts.rules:,} rules, those that hit most."
    return section("hits", "Which rules hit" if known else "The rules", hint, charts, listed)


def time(facts: Facts) -> Markup:
    """Hits over time."""
    own = facts.over_time
    if own is None:
        return section("time", "Hits over time", f"No row has a time in the column {facts.time}.")
    options = [h("option", text, value=value) for value, text in _OVER_TIME.items()]
    choice = h("label", "Show", h("select", *options, id="time-what"), cls="narrow")
    without = f" {own.rows_without_time:,} rows have none." if own.rows_without_time else ""
    hint = f"By the column {facts.time}, in the time zone {facts.zone}.{without}"
    card = h("div", h("div", choice, cls="tools"), chart("over-time", "Hits over time"), cls="card")
    return section("time", "Hits over time", hint, card)


def explore() -> Markup:
    """A rule to search for, and its neighbours."""
    field = h(
        "input",
        id="find",
        type="text",
        role="combobox",
        autocomplete="off",
        aria_expanded="false",
        aria_controls="found",
        aria_autocomplete="list",
        placeholder="an id, a column, a value",
    )
    search = h(
        "div",
        h("label", "Search a rule", for_="find"),
        field,
        h("ul", id="found", role="listbox", aria_label="Rules found", hidden=True),
        cls="search",
    )
    hint = "What it says, how often it hits, and its neighbours: rules that contain the same subexpression."
    return section("explore", "One rule and its neighbours", hint, search, h("div", id="rule", cls="card"))


def overlap(facts: Facts) -> Markup:
    """The matrix."""
    matrix = facts.matrix
    if facts.hits is not None:
        title = "Rules that hit the same rows"
        most = min(MOST_COMPARED, len(facts.hits.by_rule))
        hint = (
            f"Of the {most} rules that hit most, {len(matrix.rules)} hit rows that another one hits too. The stronger "
            "the colour, the more of the rows that either hits are hit by both. Choose a field to see what the two "
            "contain in common."
        )
    else:
        title = "Rules that test the same"
        hint = (
            f"{len(matrix.rules)} rules that have much in common. The stronger the colour, the more of their tests are "
            "the same. Choose a field to see which."
        )
    if not matrix.pairs:
        none = (
            "No two of the rules that hit most hit the same row." if matrix.of_rows else "No two have a test in common."
        )
        return section("overlap", title, none)
    pair = h("div", h("h3", "Two rules"), h("div", id="pair", aria_live="polite"), cls="card")
    drawn = h(
        "div", chart("matrix", title), h("ol", id="matrix-key", cls="key", aria_label="Rules by number"), cls="card"
    )
    card = h("div", drawn, pair, cls="columns")
    return section("overlap", title, hint, card)
