"""Builds escaped HTML: `h("p", "a < b", cls="hint")`. Strings are escaped; the results of `h` are not escaped again."""

from __future__ import annotations

import html

VOID = frozenset({"input", "br"})


class Markup(str):
    """Finished HTML."""

    __slots__ = ()


def h(name: str, *content: str | Markup | None, **attributes: str | bool | None) -> Markup:
    """An element. `cls` is its class; underscores in attribute names become hyphens.

    >>> h("p", "a < b", h("b", "!"), cls="x", data_id='"')
    '<p class="x" data-id="&quot;">a &lt; b<b>!</b></p>'
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = "class" if key == "cls" else key.rstrip("_").replace("_", "-")
        written.append(f" {key}" if value is True else f' {key}="{html.escape(value)}"')
    inside = join(*content)
    return Markup(f"<{name}{''.join(written)}>" + ("" if name in VOID else f"{inside}</{name}>"))


def join(*content: str | Markup | None) -> Markup:
    """Concatenate pieces, leaving out None."""
    return Markup(
        "".join(part if isinstance(part, Markup) else html.escape(part) for part in content if part is not None)
    )
