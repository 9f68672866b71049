"""The building blocks of every section, and the format of figures."""

from __future__ import annotations

from sparkrules.errors import and_more
from sparkrules.report.markup import Markup, h


def section(id: str, title: str, hint: str | Markup, *content: Markup | None) -> Markup:
    """A heading, a hint and the content."""
    return h(
        "section",
        h("h2", title, id=f"{id}-h"),
        h("p", hint, cls="hint"),
        *content,
        id=id,
        cls="part",
        aria_labelledby=f"{id}-h",
    )


def chart(id: str, label: str) -> Markup:
    """A placeholder for a chart, which the script fills."""
    return h("div", id=id, cls="chart", role="group", aria_label=label)


def more(left: int) -> Markup | None:
    """A note that this many are not shown."""
    return h("p", f"… {and_more(left)}.", cls="hint") if left > 0 else None


def cut(text: str, most: int = 300) -> str:
    """The text, truncated to a maximum length."""
    return text if len(text) <= most else text[: most - 1] + "…"


def percent(share: float) -> str:
    """A share in readable form.

    >>> percent(0.1234), percent(0.0001), percent(0), percent(1)
    ('12.3 %', 'under 0.1 %', '0 %', '100 %')
    """
    if 0 < share < 0.001:
        return "under 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
