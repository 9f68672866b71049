"""Charts as SVG that read well on light and dark pages: panels of lines, rows of dots, and stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

Series = Mapping[str, Sequence[tuple[float, float]]]
# Colours that stand out on both white and black.
PALETTE = ("#2f81f7", "#e5534b", "#2da44e", "#d29922", "#a371f7", "#1f9e9e", "#db61a2", "#8b949e", "#b08060")
WIDTH = 1080
_STYLE = """
    text { fill: #6e7781; font: 12px 'DejaVu Sans', Verdana, sans-serif }
    .title { font-weight: bold; font-size: 14px }
    .strong { font-weight: bold }
    .on { fill: #ffffff; font-weight: bold }
    .grid { stroke: #8b949e; stroke-opacity: 0.3 }
    .line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
    @media (prefers-color-scheme: dark) { text { fill: #9ea7b3 } .title, .strong { fill: #e6edf3 } }
  """


@dataclass(frozen=True)
class Panel:
    """Lines over a common axis. With `y_log` values of 0 are left out."""

    title: str
    x_label: str
    y_label: str
    series: Series
    x_log: bool = False
    y_log: bool = False
    x_ticks: Mapping[float, str] = field(default_factory=dict)
    """Instead of round numbers."""


def line_chart(about: str, panels: Sequence[Panel], colours: Mapping[str, str], columns: int = 3) -> str:
    """Panels in rows, under one legend."""
    width = (WIDTH - 20) / columns
    height = 290
    rows = ceil(len(panels) / columns)
    parts, below = _legend(colours, 22)
    for at, panel in enumerate(panels):
        left, top = 10 + (at % columns) * width, below + (at // columns) * height
        parts += _panel(panel, left + 52, top + 44, width - 76, height - 100, left, top, colours)
    return _svg(about, below + rows * height, parts)


def dot_chart(
    about: str,
    rows: Mapping[str, Mapping[str, float]],
    colours: Mapping[str, str],
    x_label: str,
    *,
    log: bool = False,
    label_width: int = 230,
) -> str:
    """A row for each name, a dot for each series."""
    parts, below = _legend(colours, 22)
    values = [value for own in rows.values() for value in own.values() if value > 0 or not log]
    low, high = (min(values) / 1.15, max(values) * 1.15) if log else (0.0, max(values))
    axis = _Axis(low, high, 10 + label_width, WIDTH - 40, log=log, exact=log)
    # Side by side, so that equal values do not hide each other.
    beside = {name: 3.2 * (place - (len(colours) - 1) / 2) for place, name in enumerate(colours)}
    bottom = below + 26 * len(rows)
    for tick in axis.ticks():
        x = axis.at(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{below}" y2="{bottom}"/>')
        parts.append(_text(x, bottom + 18, _short(tick), anchor="middle"))
    parts.append(_text(WIDTH - 40, bottom + 38, x_label, anchor="end"))
    for number, (name, own) in enumerate(rows.items()):
        y = below + 26 * number + 13
        parts.append(_text(label_width, y + 4, name, anchor="end", kind="strong"))
        places = [axis.at(value) for value in own.values() if value > 0 or not log]
        parts.append(f'<line class="grid" x1="{min(places):.1f}" x2="{max(places):.1f}" y1="{y}" y2="{y}"/>')
        for series, value in own.items():
            if value > 0 or not log:
                parts.append(_dot(axis.at(value), y + beside[series], colours[series], 4.5))
    return _svg(about, bottom + 50, parts)


def bar_chart(about: str, rows: Mapping[str, Mapping[str, int]], colours: Mapping[str, str]) -> str:
    """A bar for each name, divided by counts."""
    parts, below = _legend(colours, 22)
    label_width = 250
    most = max(sum(own.values()) for own in rows.values()) or 1
    for number, (name, own) in enumerate(rows.items()):
        y = below + 34 * number
        parts.append(_text(label_width, y + 19, name, anchor="end", kind="strong"))
        x = label_width + 14.0
        for series, count in own.items():
            width = (WIDTH - label_width - 80) * count / most
            if not count:
                continue
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="26" rx="3" fill="{colours[series]}"/>')
            if width > 22:
                parts.append(_text(x + width / 2, y + 18, str(count), "on", "middle"))
            x += width + 2
    return _svg(about, below + 34 * len(rows) + 8, parts)


def _panel(
    panel: Panel,
    left: float,
    top: float,
    width: float,
    height: float,
    outer_left: float,
    outer_top: float,
    colours: Mapping[str, str],
) -> list[str]:
    drawn = {
        name: [(x, y) for x, y in points if y > 0 or not panel.y_log]
        for name, points in panel.series.items()
        if any(y > 0 or not panel.y_log for _, y in points)
    }
    xs = [x for points in drawn.values() for x, _ in points] or [1.0, 10.0]
    ys = [y for points in drawn.values() for _, y in points] or [1.0, 10.0]
    x_axis = _Axis(min(xs), max(xs), left + 8, left + width - 8, log=panel.x_log, exact=True)
    y_axis = _Axis(min(ys) if panel.y_log else 0.0, max(ys), top + height, top, log=panel.y_log)
    parts = [
        _text(outer_left + 8, outer_top + 14, panel.title, "title"),
        _text(outer_left + 8, outer_top + 32, panel.y_label),
        _text(left + width, top + height + 38, panel.x_label, anchor="end"),
    ]
    for tick in y_axis.ticks():
        y = y_axis.at(tick)
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{left + width:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(left - 6, y + 4, _short(tick), anchor="end"))
    for tick, label in (panel.x_ticks or {tick: _short(tick) for tick in x_axis.ticks()}).items():
        x = x_axis.at(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{top + height:.1f}"/>')
        parts.append(_text(x, top + height + 18, label, anchor="middle"))
    for name, points in drawn.items():
        places = [(x_axis.at(x), y_axis.at(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line" stroke="{colours[name]}" points="{path}"/>')
        parts += [_dot(x, y, colours[name], 3.4) for x, y in places]
    return parts


class _Axis:
    """From the lowest to the highest value, or to round numbers around them, on pixels from `start` to `end`."""

    def __init__(self, low: float, high: float, start: float, end: float, *, log: bool, exact: bool = False) -> None:
        self._log, self._start, self._end = log, start, end
        if log and exact:
            self._low, self._high = log10(low), log10(high)
        elif log:
            self._low, self._high = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
        elif exact:
            self._low, self._high = low, high
        else:
            self._step = _round_step((high - low) or 1.0)
            self._low, self._high = low, low + self._step * ceil((high - low) / self._step - 1e-9)
        if self._high <= self._low:
            self._high = self._low + 1

    def at(self, value: float) -> float:
        own = log10(value) if self._log else value
        return self._start + (own - self._low) / (self._high - self._low) * (self._end - self._start)

    def ticks(self) -> list[float]:
        if self._log:
            powers = [10.0**power for power in range(ceil(self._low - 1e-9), floor(self._high + 1e-9) + 1)]
            if len(powers) > 2:
                return powers
            more = [factor * 10.0 ** (floor(self._low) + power) for power in range(4) for factor in (1, 2, 5)]
            return [tick for tick in more if self._low - 1e-9 <= log10(tick) <= self._high + 1e-9]
        step = _round_step((self._high - self._low) or 1.0)
        first = ceil(self._low / step - 1e-9)
        return [step * at for at in range(first, floor(self._high / step + 1e-9) + 1)]


def _round_step(span: float) -> float:
    """A step of 1, 2 or 5 times a power of ten, for four to eight of them.

    >>> [_round_step(span) for span in (1.0, 37.0, 900.0)]
    [0.2, 5.0, 200.0]
    """
    power = 10.0 ** floor(log10(span / 4))
    return next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 8)


def _legend(colours: Mapping[str, str], y: float) -> tuple[list[str], float]:
    parts: list[str] = []
    x = 18.0
    for name, colour in colours.items():
        needed = 26 + 7.6 * len(name)
        if x + needed > WIDTH:
            x, y = 18.0, y + 20
        parts.append(_dot(x, y - 4, colour, 5.5))
        parts.append(_text(x + 11, y, name))
        x += needed
    return parts, y + 18


def _short(value: float) -> str:
    """A number for an axis.

    >>> [_short(value) for value in (0, 0.05, 2.5, 300, 30_000, 4e6)]
    ['0', '0.05', '2.5', '300', '30k', '4M']
    """
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:.3g}"


def _dot(x: float, y: float, colour: str, radius: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    attributes = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{escape(text)}</text>'


def _svg(about: str, height: float, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img">',
            f"  <title>{escape(about)}</title>",
            f"  <style>{_STYLE}</style>",
            *(f"  {part}" for part in parts),
            "</svg>\n",
        ]
    )
