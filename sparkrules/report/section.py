"""What every section of the page is made of."""

from __future__ import annotations

from sparkrules.report.markup import Markup, h


def section(id: str, title: str, hint: str | Markup, *content: Markup | None) -> Markup:
    """A heading, what it is about, and what is to be seen."""
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
    """The place of a chart, which the script fills."""
    return h("div", id=id, cls="chart", role="group", aria_label=label)


def more(left: int) -> Markup | None:
    """That so many are not shown."""
    return h("p", f"… and {left:,} more.", cls="hint") if left > 0 else None


def cut(text: str, most: int = 300) -> str:
    """A text of bounded length."""
    return text if len(text) <= most else text[: most - 1] + "…"
