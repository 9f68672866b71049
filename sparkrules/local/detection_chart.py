"""Draw detections over time: a lane for each pattern, a bar for each detection, a dot for each row that made it.

Contract: times run from left to right, all on one scale. A bar goes from the start of a detection to its end; what was
suppressed, or is absent, is dashed. The ids of rows are written where there is room, and every bar has a tooltip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any

from sparkrules.local.drawing import MONO, SANS, Drawing, printable

MOST_LANES, MOST_DRAWN = 40, 1_000
_PAD, _LANE, _TOP, _WIDTH, _TICKS = 24, 44, 52, 620, 5
_CHARACTER, _WORD = 7.3, 6.6
_DASHED = ("suppressed", "absence")
_STYLE = """
.sparkrules-detections .card { fill: #ffffff } .sparkrules-detections .ink { fill: #1c2733 }
.sparkrules-detections .soft { fill: #5a6b7f } .sparkrules-detections .line { stroke: #d4dbe4 }
.sparkrules-detections .bar { stroke: #b3661e } .sparkrules-detections .dot { fill: #22559c; stroke: #ffffff }
@media (prefers-color-scheme: dark) {
.sparkrules-detections .card { fill: #151c25 } .sparkrules-detections .ink { fill: #eef3f9 }
.sparkrules-detections .soft { fill: #a3b1c2 } .sparkrules-detections .line { stroke: #35424f }
.sparkrules-detections .bar { stroke: #e0a065 } .sparkrules-detections .dot { fill: #8fb8ff; stroke: #151c25 } }
""".strip()


def detection_chart(detections: Sequence[Mapping[str, Any]], title: str) -> Drawing:
    """The picture of some detections, given as the rows of `Detections`.

    >>> at = datetime(2026, 3, 1, 9)
    >>> row = {"pattern": "hot", "kind": "change", "start": at, "end": at, "count": 1, "rows": []}
    >>> detection_chart([row], "roof")
    Drawing('roof')
    """
    lanes = list(dict.fromkeys(own["pattern"] for own in detections))[:MOST_LANES]
    drawn = [own for own in detections if own["pattern"] in lanes][:MOST_DRAWN]
    left = _PAD + _CHARACTER * max((len(_cut(lane)) for lane in lanes), default=0) + 20
    scale = _Scale([at for own in drawn for at in _times(own)], left)
    width, bottom = left + _WIDTH + 2 * _PAD, _TOP + _LANE * max(1, len(lanes))
    size = f'width="{width:.0f}" height="{bottom + 44}"'
    said = f"{len(drawn):,} of {len(detections):,} detections" if len(drawn) < len(detections) else _said(len(drawn))
    label = _text(f"{title}: {said} over time")
    named = f'role="img" class="sparkrules-detections" aria-label="{label}"'
    bold = f'font-family="{SANS}" font-size="15" font-weight="600" class="ink"'
    beside = f'<tspan dx="12" font-size="12" font-weight="400" class="soft">{said}</tspan>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {bottom + 44}" {size} {named}>',
        f'<title>{label}</title><style>{_STYLE}</style><rect {size} rx="10" class="card"/>',
        f'<text x="{_PAD}" y="30" {bold}>{_text(_cut(title, 60))}{beside}</text>',
        *scale.axis(bottom),
    ]
    for number, lane in enumerate(lanes):
        y = _TOP + _LANE * number + _LANE / 2 + 4
        name = f'font-family="{MONO}" font-size="12" class="ink"'
        parts.append(f'<text x="{_PAD}" y="{y + 4:.0f}" {name}>{_text(_cut(lane))}</text>')
        parts.append(f'<path d="M{left:.1f} {y:.0f}h{_WIDTH}" class="line"/>')
        parts.extend(_lane([own for own in drawn if own["pattern"] == lane], y, scale))
    return Drawing(title, "\n".join([*parts, "</svg>"]))


def _lane(detections: Sequence[Mapping[str, Any]], y: float, scale: _Scale) -> Iterator[str]:
    free = 0.0
    for own in detections:
        first, last = scale.x(own["start"]), scale.x(own["end"])
        dashes = ' stroke-dasharray="3 9"' if own["kind"] in _DASHED else ""
        words = f"{own['kind']} of {own['count']}, {_when(own['start'])} to {_when(own['end'])}"
        yield (
            f'<g><title>{_text(words)}</title><path d="M{first:.1f} {y:.0f}H{max(last, first + 0.1):.1f}" class="bar" '
            f'stroke-width="6" stroke-linecap="round"{dashes}/>'
        )
        for row in sorted(own["rows"], key=lambda row: row["time"]):
            x, id = scale.x(row["time"]), row["id"]
            yield f'<circle cx="{x:.1f}" cy="{y:.0f}" r="5" class="dot" stroke-width="1.5"/>'
            half = _WORD * len(id or "") / 2
            if id and x - half >= free and len(id) <= 16:
                text = f'text-anchor="middle" font-family="{SANS}" font-size="11" class="soft"'
                yield f'<text x="{x:.1f}" y="{y - 11:.0f}" {text}>{_text(id)}</text>'
                free = x + half + 4
        yield "</g>"


class _Scale:
    """Times as places."""

    def __init__(self, times: Sequence[datetime], left: float) -> None:
        self.first = min(times, default=datetime(1970, 1, 1))  # noqa: DTZ001  # of no row
        self.span = max(times, default=self.first) - self.first
        self.left = left + 14

    def x(self, at: datetime) -> float:
        share = (at - self.first) / self.span if self.span else 0.5
        return self.left + share * (_WIDTH - 28)

    def axis(self, y: float) -> Iterator[str]:
        within_a_day = self.span < timedelta(days=1)
        shown = "%H:%M:%S" if self.span < timedelta(minutes=10) else "%H:%M" if within_a_day else "%Y-%m-%d %H:%M"
        for tick in range(_TICKS if self.span else 1):
            at = self.first + self.span * tick / (_TICKS - 1)
            x = self.x(at)
            yield f'<path d="M{x:.1f} {_TOP - 6}V{y}" class="line" stroke-dasharray="2 4"/>'
            text = f'text-anchor="middle" font-family="{SANS}" font-size="11" class="soft"'
            yield f'<text x="{x:.1f}" y="{y + 18:.0f}" {text}>{at.strftime(shown)}</text>'
        if within_a_day:
            day = f'font-family="{SANS}" font-size="11" class="soft"'
            yield f'<text x="{_PAD}" y="{y + 18:.0f}" {day}>{self.first:%Y-%m-%d}</text>'


def _times(own: Mapping[str, Any]) -> list[datetime]:
    return [own["start"], own["end"], *(row["time"] for row in own["rows"])]


def _when(at: datetime) -> str:
    return at.isoformat(" ")


def _said(count: int) -> str:
    return "1 detection" if count == 1 else f"{count:,} detections"


def _cut(text: str, most: int = 30) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _text(text: str) -> str:
    return escape(printable(text))
