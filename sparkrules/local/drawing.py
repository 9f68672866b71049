"""Draw the Boolean tree of a rule as SVG, with the truth of each part if a row is given.

Contract: the drawing runs from left to right, from the whole rule to its predicates. Truth is shown by a sign, by the
outline (dashed if false) and by colour. The picture has its own background, so it is readable on light and dark pages.
A repeated part is drawn once. Parts that are too wide or too many are summarized by a count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Protocol

from sparkrules.errors import and_more
from sparkrules.sql.tree import Predicate
from sparkrules.sql.written import Threshold, Written

_WORDS = {"and": "all of", "or": "any of"}
_ROW, _GAP, _PAD, _BOX = 34, 44, 20, 24
_CHARACTER = 7.3  # the width of a monospaced character at 12 pixels, rounded up
_SVG = "http://www.w3.org/2000/svg"
SANS = "system-ui, sans-serif"
MONO = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
_LONGEST = 64
_MOST_BRANCHES = 40
_MOST_DRAWN = 400
_UNPRINTABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLES = {
    True: ("#e3f5ea", "#0b6b3a", "✓", ""),
    False: ("#fdecea", "#a3271b", "✗", ' stroke-dasharray="4 3"'),
    None: ("#eef2f8", "#33475f", "", ""),
}
_SAID = {True: "true: ", False: "not true: ", None: ""}


@dataclass(frozen=True)
class Drawing:
    """A picture. A notebook displays it, `save` writes it, and `svg` is its source.

    >>> from sparkrules.sql import parse_rule
    >>> Drawing.of_tree("hot", parse_rule("t > 30 AND NOT indoors"))
    Drawing('hot')
    """

    title: str
    svg: str

    def __repr__(self) -> str:
        return f"Drawing({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file and return its path."""
        file = Path(path)
        file.write_text(self.svg, encoding="utf-8")
        return file

    @staticmethod
    def of_tree(title: str, tree: Written) -> Drawing:
        """Draw a tree without a row."""
        return Drawing.of_branch(title, title, _part_of(tree, {}))

    @staticmethod
    def of_branch(title: str, heading: str, root: Branch) -> Drawing:
        """Draw a tree with the truth of each node."""
        return Drawing(title, _svg(heading, root))


class Branch(Protocol):
    """A predicate, or "and", "or" or a count over `children`, with its truth for a row, or None without a row."""

    @property
    def text(self) -> str: ...

    @property
    def truth(self) -> bool | None: ...

    @property
    def children(self) -> tuple[Branch, ...]: ...


@dataclass(frozen=True, eq=False)
class _Part:
    text: str
    truth: bool | None = None
    children: tuple[_Part, ...] = ()


def _part_of(node: Written, known: dict[int, _Part]) -> _Part:
    """Shared parts stay shared. Recursion is safe: the parser limits nesting to less than Python's recursion limit."""
    if id(node) not in known:
        if isinstance(node, Predicate) or not node.children:
            known[id(node)] = _Part(str(node))
        else:
            children = tuple(_part_of(child, known) for child in node.children)
            known[id(node)] = _Part(node.text if isinstance(node, Threshold) else node.operator, None, children)
    return known[id(node)]


@dataclass
class _Placed:
    """A box: its left edge, its middle, and the boxes to its right."""

    text: str
    truth: bool | None
    whole: str
    x: float
    y: float
    children: list[_Placed]

    @property
    def width(self) -> float:
        return _CHARACTER * (len(self.text) + (2 if self.truth is not None else 0)) + 18


class _Layout:
    def __init__(self) -> None:
        self.rows = 0
        self.drawn = 0
        self.right = 0.0
        self._seen: set[int] = set()

    def place(self, branch: Branch, x: float) -> _Placed:
        again = bool(branch.children) and id(branch) in self._seen
        self._seen.add(id(branch))
        self.drawn += 1
        text = (_WORDS.get(branch.text, branch.text) if branch.children else branch.text) + " (as above)" * again
        box = _Placed(_shortened(text), branch.truth, text, x, 0.0, [])
        self.right = max(self.right, x + box.width)
        if branch.children and not again:
            box.children = list(self._children(branch, x + box.width + _GAP))
        if box.children:
            box.y = (box.children[0].y + box.children[-1].y) / 2
        else:
            box.y = self.rows * _ROW
            self.rows += 1
        return box

    def _children(self, branch: Branch, x: float) -> Iterator[_Placed]:
        for number, child in enumerate(branch.children):
            if number == _MOST_BRANCHES or self.drawn >= _MOST_DRAWN:
                left = len(branch.children) - number
                yield self.place(_Part(f"... {and_more(left)}", None), x)
                return
            yield self.place(child, x)


def _svg(heading: str, root: Branch) -> str:
    layout = _Layout()
    box = layout.place(root, _PAD)
    width = max(layout.right, _CHARACTER * 1.15 * len(_shortened(heading)) + _PAD) + _PAD
    height = layout.rows * _ROW + 2 * _PAD + 18
    size = f'width="{width:.0f}" height="{height:.0f}"'
    label = _escaped(heading)
    bold = 'font-size="14" font-weight="600" fill="#1c2733"'
    parts = [
        f'<svg xmlns="{_SVG}" viewBox="0 0 {width:.0f} {height:.0f}" {size} role="img" aria-label="{label}">',
        f"<title>{label}</title>",
        f'<rect {size} rx="8" fill="#ffffff"/>',
        f'<text x="{_PAD}" y="{_PAD + 6}" font-family="{SANS}" {bold}>{_escaped(_shortened(heading))}</text>',
        f'<g transform="translate(0 {_PAD + 18 + _ROW / 2:.0f})" font-family="{MONO}" font-size="12">',
        *_lines(box),
        *_boxes(box),
        "</g></svg>",
    ]
    return "\n".join(parts)


def _lines(box: _Placed) -> Iterator[str]:
    start = box.x + box.width
    for child in box.children:
        _, ink, _, dashes = _STYLES[child.truth]
        middle = (start + child.x) / 2
        yield (
            f'<path d="M{start:.1f} {box.y:.1f}C{middle:.1f} {box.y:.1f} {middle:.1f} {child.y:.1f} {child.x:.1f} '
            f'{child.y:.1f}" fill="none" stroke="{ink}" stroke-width="1.5"{dashes}/>'
        )
        yield from _lines(child)


def _boxes(box: _Placed) -> Iterator[str]:
    fill, ink, sign, dashes = _STYLES[box.truth]
    joined = bool(box.children)
    label = f"{sign} {box.text}" if sign else box.text
    weight = ' font-weight="600"' if joined else ""
    yield (
        f"<g><title>{_escaped(_SAID[box.truth] + box.whole)}</title>"
        f'<rect x="{box.x:.1f}" y="{box.y - _BOX / 2:.1f}" width="{box.width:.1f}" height="{_BOX}" '
        f'rx="{12 if joined else 4}" fill="{fill}" stroke="{ink}"{dashes}/>'
        f'<text x="{box.x + 9:.1f}" y="{box.y + 4:.1f}" fill="{ink}" xml:space="preserve"{weight}>'
        f"{_escaped(label)}</text></g>"
    )
    for child in box.children:
        yield from _boxes(child)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _escaped(text: str) -> str:
    return escape(printable(text))


def printable(text: str) -> str:
    """Some control characters cannot be written in XML at all."""
    return _UNPRINTABLE.sub("\ufffd", text)
