"""The plotting library, as JavaScript to put into a page: Vega-Lite, from the package vl-convert-python.

Chosen for its size and because its pictures are SVG with labels for screen readers: 0.9 megabytes, where the bundle of
plotly takes five.
"""

from __future__ import annotations

from functools import cache

from sparkrules.errors import SetupError


@cache
def plotting_script() -> str:
    """The script; it defines `vegaEmbed`."""
    try:
        import vl_convert
    except ImportError as error:
        raise SetupError("a report needs its plotting library: pip install 'vl-convert-python>=1.7'") from error
    # Its own names stay its own.
    return "(() => {" + vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;") + "})();"
