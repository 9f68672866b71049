"""The sections about the internals: the index, the distribution of values, the cost of a row."""

from __future__ import annotations

from sparkrules.report.facts import Facts
from sparkrules.report.hits import Hits
from sparkrules.report.markup import Markup, h, join
from sparkrules.report.section import chart, cut, more, percent, section

_SHOWN_ATTRIBUTES = 12


def index(facts: Facts) -> Markup:
    """How much is shared, and how the distribution of values affects the index."""
    own = facts.sharing
    hint = (
        f"Equal parts of rules are stored and tested once: {facts.rules:,} rules are {own.nodes:,} parts with "
        f"{own.predicates:,} different tests. On average, {percent(own.snps)} of a rule's parts are parts of others."
    )
    rows = [
        h("tr", h("td", f"{uses:,}", cls="number", data_label="rules"), h("td", cut(text), cls="text"))
        for uses, text in own.most_shared
    ]
    head = h("thead", h("tr", h("th", "rules", scope="col", cls="number"), h("th", "have this part", scope="col")))
    table = h("div", h("table", head, h("tbody", *rows), cls="stacked"), cls="scroll")
    none = h("p", "No part is shared.", cls="hint")
    shared = h("div", h("h3", "Most shared parts"), table if rows else none, cls="card")
    explained = "Level 1 are single tests; a part is one level above its highest part."
    levels = h("div", h("h3", "Levels"), h("p", explained, cls="hint"), chart("levels", "Parts by level"), cls="card")
    return section("index", "The index", hint, h("div", shared, levels, cls="columns"), _attributes(facts))


def _attributes(facts: Facts) -> Markup:
    drawn = facts.distributions
    rows = [
        h(
            "tr",
            h("td", cut(own.name), cls="text"),
            h("td", f"{own.tests:,}", cls="number", data_label="different tests"),
            h("td", f"{own.rules:,}", cls="number", data_label="rules"),
        )
        for own in facts.attributes[:_SHOWN_ATTRIBUTES]
    ]
    columns = [h("th", text, scope="col", cls="number") for text in ("different tests", "rules")]
    head = h("thead", h("tr", h("th", "attribute", scope="col"), *columns))
    table = h("div", h("table", head, h("tbody", *rows), cls="stacked"), cls="scroll")
    listed = h("div", h("h3", "What rules test"), table, more(len(facts.attributes) - _SHOWN_ATTRIBUTES), cls="card")
    if not drawn:
        return listed
    options = [h("option", cut(own.name, 90), value=str(number)) for number, own in enumerate(drawn)]
    choice = h("label", "Attribute", h("select", *options, id="attribute"))
    hint = (
        f"Where the values of {facts.sampled:,} rows lie among the constants of the rules (blue), how many tests of "
        "rules are true there (amber), and the ranges of the tests that most rules have (green)."
    )
    card = h(
        "div",
        h("h3", "Where values lie"),
        h("p", hint, cls="hint"),
        h("div", choice, cls="tools"),
        h("p", id="attribute-said", cls="hint", role="status"),
        chart("distribution", "Values and tests"),
        cls="card",
    )
    return join(card, listed)


def cost(hits: Hits, facts: Facts) -> Markup:
    """Measured and expected costs."""
    rows = max(hits.rows, 1)
    looked = [own.comparisons for own in facts.distributions]
    costly = 0 if facts.lint is None else len(facts.lint.of("costly"))
    lines = [
        ("Reading and matching, per row", _micros(hits.seconds / rows), f"{hits.rows:,} rows in {hits.seconds:.2f} s"),
        ("Reading alone, per row", _micros(hits.reading / rows), f"all columns, {hits.reading:.2f} s"),
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
    return section(
        "cost", "What it costs", hint, h("div", h("table", h("tbody", *body), cls="stacked"), cls="card scroll")
    )


def _micros(seconds: float) -> str:
    micros = seconds * 1e6
    return f"{micros:,.2f} µs" if micros < 100 else f"{micros:,.0f} µs"
