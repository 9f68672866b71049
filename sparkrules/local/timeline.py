"""Draw a pattern as a timeline: its steps as boxes on an arrow, with the span over them.

Contract: a sequence runs from left to right. Steps in any order have dots between them, not arrowheads. What must be
absent is drawn in red, with a dashed line. The picture has its own background, and colours for dark pages as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from sparkrules.local.drawing import MONO, SANS, Drawing, printable
from sparkrules.patterns import Pattern, span_words
from sparkrules.patterns.pattern import step_words

_CHARACTER = 7.3  # the width of a monospaced character at 12 pixels, rounded up
_WORD = 6.6  # the same of the other font
_LONGEST = 34
_PAD, _BOX, _GAP = 24, 34, 56
_LINE = 104  # where the middle of the boxes is
_STYLE = """
.sparkrules-timeline .card { fill: #ffffff } .sparkrules-timeline .ink { fill: #1c2733 }
.sparkrules-timeline .soft { fill: #5a6b7f } .sparkrules-timeline .line { stroke: #8595a8 }
.sparkrules-timeline .head { fill: #8595a8 } .sparkrules-timeline .step { fill: #eef2f8; stroke: #33475f }
.sparkrules-timeline .name { fill: #24384f } .sparkrules-timeline .span { stroke: #b3661e }
.sparkrules-timeline .length { fill: #8f4d10 } .sparkrules-timeline .true { fill: #e3f5ea; stroke: #0b6b3a }
.sparkrules-timeline .true-name { fill: #0b6b3a } .sparkrules-timeline .absent { fill: #fdecea; stroke: #a3271b }
.sparkrules-timeline .absent-name { fill: #a3271b }
@media (prefers-color-scheme: dark) {
.sparkrules-timeline .card { fill: #151c25 } .sparkrules-timeline .ink { fill: #eef3f9 }
.sparkrules-timeline .soft { fill: #a3b1c2 } .sparkrules-timeline .line { stroke: #71839a }
.sparkrules-timeline .head { fill: #71839a } .sparkrules-timeline .step { fill: #223044; stroke: #9fb4cc }
.sparkrules-timeline .name { fill: #dbe7f5 } .sparkrules-timeline .span { stroke: #e0a065 }
.sparkrules-timeline .length { fill: #f0b985 } .sparkrules-timeline .true { fill: #143526; stroke: #5cc98e }
.sparkrules-timeline .true-name { fill: #8be0b2 } .sparkrules-timeline .absent { fill: #3a1a18; stroke: #f0857b }
.sparkrules-timeline .absent-name { fill: #f7aaa2 } }
""".strip()


def timeline(pattern: Pattern, fulfilled: Sequence[bool] | None = None) -> Drawing:
    """The picture of a pattern; `fulfilled` says which steps a row fulfils.

    >>> from sparkrules.patterns import Term
    >>> picture = timeline(Pattern("breach", "sequence", ((Term("a"),), (Term("b"),)), within=600_000_000))
    >>> picture, "within 10 minutes" in picture.svg
    (Drawing('breach'), True)
    """
    boxes = _boxes(pattern, fulfilled)
    right = boxes[-1].x + boxes[-1].width
    end = right + 40
    heading, note = _cut(pattern.id, 60), _cut(_note(pattern), 110)
    width = max(end + _PAD, 1.35 * _WORD * len(heading) + 2 * _PAD, _WORD * len(note) + 2 * _PAD)
    height = _LINE + _BOX / 2 + 48
    size = f'width="{width:.0f}" height="{height:.0f}"'
    label = _text(f"{pattern.id}: {pattern}")
    named = f'role="img" class="sparkrules-timeline" aria-label="{label}"'
    plain = f'font-family="{SANS}" font-size="12" class="soft"'
    bold = f'font-family="{SANS}" font-size="15" font-weight="600" class="ink"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" {size} {named}>',
        f"<title>{label}</title><style>{_STYLE}</style>",
        f'<rect {size} rx="10" class="card"/>',
        f'<text x="{_PAD}" y="30" {bold}>{_text(heading)}</text>',
        *_axis(pattern, boxes, end),
        *_span(pattern, boxes),
        *(part for box in boxes for part in box.svg()),
        f'<text x="{_PAD}" y="{_LINE + _BOX / 2 + 30:.0f}" {plain}>{_text(note)}</text></svg>',
    ]
    return Drawing(pattern.id, "\n".join(parts))


class _Box:
    """A step: where it begins, and how it looks."""

    def __init__(self, text: str, x: float, look: str, least: float) -> None:
        self.whole = text
        self.text = _cut(text, _LONGEST)
        self.x = x
        self.look = look
        self.width = max(_CHARACTER * len(self.text) + 26, least)

    def svg(self) -> Iterator[str]:
        dashes = ' stroke-dasharray="5 4"' if self.look == "absent" else ""
        name = "name" if self.look == "step" else f"{self.look}-name"
        middle = self.x + self.width / 2
        yield (
            f"<g><title>{_text(self.whole)}</title>"
            f'<rect x="{self.x:.1f}" y="{_LINE - _BOX / 2}" width="{self.width:.1f}" height="{_BOX}" rx="8" '
            f'class="{self.look}" stroke-width="1.4"{dashes}/>'
            f'<text x="{middle:.1f}" y="{_LINE + 4}" text-anchor="middle" font-family="{MONO}" font-size="12" '
            f'class="{name}">{_text(self.text)}</text></g>'
        )


def _boxes(pattern: Pattern, fulfilled: Sequence[bool] | None) -> list[_Box]:
    x = float(_PAD + 18)
    boxes = []
    steps = pattern.steps[:1] if pattern.belongs_to_rule else pattern.steps
    # The words over the bracket need room, also if there is only one box.
    least = 64 if len(steps) > 1 else _WORD * 1.15 * len(_span_label(pattern)) + 16
    for number, step in enumerate(steps):
        absent = pattern.kind == "absence" and number == 1
        look = "true" if fulfilled is not None and fulfilled[number] else "absent" if absent else "step"
        before = "no " if absent else f"{pattern.at_least:,} × " if pattern.kind == "count" else ""
        box = _Box(before + step_words(step), x, look, least)
        boxes.append(box)
        x += box.width + _GAP
    return boxes


def _axis(pattern: Pattern, boxes: Sequence[_Box], end: float) -> Iterator[str]:
    """The line behind the boxes; in order, there is an arrowhead before each."""
    yield f'<path d="M{_PAD} {_LINE}H{end - 8:.1f}" class="line" stroke-width="2" fill="none"/>'
    yield f'<path d="M{end:.1f} {_LINE}l-10 -5v10z" class="head"/>'
    for before, after in pairwise(boxes):
        middle = (before.x + before.width + after.x) / 2
        if pattern.kind == "together":
            yield f'<circle cx="{middle:.1f}" cy="{_LINE}" r="4" class="head"/>'
        else:
            yield f'<path d="M{middle + 6:.1f} {_LINE}l-11 -6v12z" class="head"/>'


def _span(pattern: Pattern, boxes: Sequence[_Box]) -> Iterator[str]:
    """The bracket over the steps, with its length."""
    left, right = boxes[0].x + 6, boxes[-1].x + boxes[-1].width - 6
    top = _LINE - _BOX / 2 - 18
    middle = (left + right) / 2
    yield (
        f'<path d="M{left:.1f} {top + 8}v-8H{right:.1f}v8" class="span" stroke-width="1.5" fill="none" '
        'stroke-linejoin="round"/>'
    )
    yield (
        f'<text x="{middle:.1f}" y="{top - 7}" text-anchor="middle" font-family="{SANS}" font-size="12" '
        f'font-weight="600" class="length">{_text(_span_label(pattern))}</text>'
    )


def _span_label(pattern: Pattern) -> str:
    if pattern.within is None:
        return "when it becomes true" if pattern.kind == "change" else "every match"
    if pattern.after:
        return f"{span_words(pattern.after)} to {span_words(pattern.within)}"
    return f"within {span_words(pattern.within)}"


def _note(pattern: Pattern) -> str:
    """What the picture does not show."""
    by = f"by {', '.join(pattern.by)}" if pattern.by else "over all rows"
    distinct = f"different values of {pattern.distinct}" if pattern.distinct is not None else ""
    order = "in any order" if pattern.kind == "together" else ""
    overlapping = "overlapping" if pattern.overlapping else ""
    suppress = f"at most once in {span_words(pattern.suppress)}" if pattern.suppress is not None else ""
    return " · ".join(filter(None, (by, order, distinct, overlapping, suppress)))


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _text(text: str) -> str:
    return escape(printable(text))
