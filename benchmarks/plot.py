"""Plots rows per second against the number of rules, as an SVG that is readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from benchmarks.measurement import FLOOR, JOIN, NUMPY, OURS, PLAIN, Measurement

Points = list[tuple[float, float]]
WIDTH, HEIGHT = 1080, 430
_PANEL, _TOP, _BOTTOM = 330, 64, 372
_LABEL_HEIGHT = 15
# Colours that stand out on both white and black.
_COLOURS = {
    OURS: "#2f81f7",
    FLOOR: "#8b949e",
    JOIN: "#2da44e",
    NUMPY: "#d29922",
    PLAIN: "#e5534b",
    "auctions": "#2f81f7",
    "growth": "#a371f7",
}
_STYLE = """
    text { fill: #57606a; font: 12px 'DejaVu Sans', Verdana, sans-serif }
    .title { font-weight: bold; font-size: 14px; fill: #24292f }
    .grid { stroke: #8b949e; stroke-opacity: 0.3 }
    .line { fill: none; stroke-width: 2.4; stroke-linejoin: round }
    @media (prefers-color-scheme: dark) { text { fill: #9ea7b3 } .title { fill: #e6edf3 } }
  """


def svg(measurements: Sequence[Measurement]) -> str:
    """Two panels: all engines through Spark SQL, and the kernel alone with growing and with equal matches per row."""
    through = {
        engine: _points(m for m in measurements if (m.workload, m.level, m.engine) == ("auctions", "spark", engine))
        for engine in (FLOOR, OURS, JOIN, NUMPY, PLAIN)
    }
    alone = {
        workload: _points(m for m in measurements if (m.workload, m.level) == (workload, "kernel"))
        for workload in ("growth", "auctions")
    }
    names = {"auctions": "matches grow", "growth": "equal matches"}
    panels = [
        _panel(70, "Auctions through Spark SQL, two cores", through, {}),
        _panel(610, "The kernel alone, one thread", alone, names),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="t">',
            '  <title id="t">Rows per second against the number of rules</title>',
            f"  <style>{_STYLE}</style>",
            *panels,
            "</svg>\n",
        ]
    )


def _points(measurements: Iterable[Measurement]) -> Points:
    return sorted((float(m.rules), m.rows_per_second) for m in measurements if m.rows_per_second)


def _panel(left: int, title: str, series: Mapping[str, Points], names: Mapping[str, str]) -> str:
    drawn = {name: points for name, points in series.items() if points}
    xs = [x for points in drawn.values() for x, _ in points] or [1_000.0]
    ys = [y for points in drawn.values() for _, y in points] or [1.0]
    x_axis = _Axis(floor(log10(min(xs))), max(ceil(log10(max(xs))), floor(log10(min(xs))) + 1), left, left + _PANEL)
    y_axis = _Axis(floor(log10(min(ys))), max(ceil(log10(max(ys))), floor(log10(min(ys))) + 1), _BOTTOM, _TOP)
    parts = [
        _text(left, 24, title, "title"),
        _text(left, 44, "rows per second"),
        _text(left + _PANEL, _BOTTOM + 42, "rules", anchor="end"),
    ]
    for power in x_axis.powers:
        x = x_axis.at(10.0**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_BOTTOM}"/>')
        parts.append(_text(x, _BOTTOM + 20, _short(power), anchor="middle"))
    for power in y_axis.powers:
        y = y_axis.at(10.0**power)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + _PANEL}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(left - 8, y + 4, _short(power), anchor="end"))
    labels = _apart({name: y_axis.at(points[-1][1]) for name, points in drawn.items()})
    for name, points in drawn.items():
        places = [(x_axis.at(x), y_axis.at(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        colour = _COLOURS[name]
        parts.append(f'<polyline class="line" stroke="{colour}" points="{path}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        label = names.get(name, name)
        parts.append(_text(left + _PANEL + 10, labels[name] + 4, label, style=f"fill: {colour}; font-weight: bold"))
    return "\n".join(f"  {part}" for part in parts)


class _Axis:
    """A logarithmic axis from one power of ten to another, on pixels from `start` to `end`."""

    def __init__(self, low: int, high: int, start: float, end: float) -> None:
        self.powers = range(low, high + 1)
        self._low, self._start = low, start
        self._step = (end - start) / (high - low)

    def at(self, value: float) -> float:
        return self._start + (log10(value) - self._low) * self._step


def _apart(places: Mapping[str, float]) -> dict[str, float]:
    """The positions of labels, moved down until none overlaps another."""
    moved: dict[str, float] = {}
    last = float("-inf")
    for name in sorted(places, key=lambda label: places[label]):
        last = moved[name] = max(places[name], last + _LABEL_HEIGHT)
    return moved


def _short(power: int) -> str:
    """A power of ten.

    >>> [_short(power) for power in (-1, 0, 2, 4, 6)]
    ['0.1', '1', '100', '10k', '1M']
    """
    if power >= 6:
        return f"{10 ** (power - 6)}M"
    return f"{10 ** (power - 3)}k" if power >= 3 else f"{10.0**power:g}"


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start", style: str = "") -> str:
    attributes = f' class="{kind}"' if kind else ""
    attributes += f' style="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{escape(text)}</text>'
