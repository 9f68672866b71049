"""The page: a template, filled once. Everything that comes from a user is escaped here or by `markup`.

Contract: the page is one file and makes no network requests, which its own Content-Security-Policy forbids. Data is
JSON inside a script element. It contains no `<`, so no string can close the element or open another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from sparkrules.report.library import plotting_script

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_SCRIPTS = ("elements", "theme", "catalogue", "labels", "charts", "detections", "explore", "rule_table", "main")


def whole_page(parts: Mapping[str, str], facts: Mapping[str, Any], catalogue: str) -> str:
    """The whole page: `parts` is HTML by name, `facts` and `catalogue` are for the script."""
    inside = {
        **parts,
        "style": _asset("page.css"),
        "facts": embedded(facts),
        "catalogue": catalogue,
        "library": _inside_script(plotting_script()),
        "script": _inside_script('"use strict";\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)),
    }
    # One pass, so placeholders in a user's text are not replaced.
    return _PLACE.sub(lambda place: inside[place[1]], _asset("page.html"))


def embedded(facts: Mapping[str, Any]) -> str:
    """JSON that is safe inside a script element.

    >>> print(embedded({"id": "</script><script>alert(1)//"}))
    {"id":"\\u003c/script>\\u003cscript>alert(1)//"}
    """
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # In JSON these characters occur only in strings, where they may be escaped like this.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _inside_script(code: str) -> str:
    """Our code or the library's: in a string or a regular expression, `<\\/script` means the same."""
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _asset(name: str) -> str:
    return (files("sparkrules.report") / "assets" / name).read_text(encoding="utf-8")
