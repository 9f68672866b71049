"""The plotting library, as JavaScript to embed in a page: Vega-Lite, from the package vl-convert-python.

Chosen for its size, and because its charts are SVG with labels for screen readers: 0.9 megabytes, compared with five
for plotly's bundle.
"""

from __future__ import annotations

from functools import cache

from sparkrules.errors import SetupError


@cache
def plotting_script() -> str:
    """The script, which defines `vegaEmbed`."""
    try:
        import vl_convert
    except ImportError as error:
        raise SetupError("a report needs its plotting library: pip install 'vl-convert-python>=1.7'") from error
    # Keep the library's names out of the global scope.
    return "(() => {" + vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") + "})();"
