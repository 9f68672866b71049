"""A table of text: aligned columns, numbers to the right, and on a terminal no wider than it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence

GAP = "  "
_SHORTEST = 12


def text_table(headings: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None) -> str:
    """The lines of a table. If it is wider than `width`, its longest texts are cut.

    >>> print(text_table(["id", "matches"], [("hot", 12), ("cold", 3)]))
    id    matches
    hot        12
    cold        3
    >>> print(text_table(["id", "where"], [("hot", "temperature > 30 AND NOT indoors")], width=24))
    id   where
    hot  temperature > 30...
    """
    kept = [list(row) for row in rows]
    columns = [[heading, *(cell(row[i]) for row in kept)] for i, heading in enumerate(headings)]
    to_the_right = [_are_numbers([row[i] for row in kept]) for i in range(len(headings))]
    widths = _fitted([max(map(len, column)) for column in columns], to_the_right, width)
    lines = []
    for texts in zip(*columns, strict=True):
        padded = (
            shortened(text, size).rjust(size) if right else shortened(text, size).ljust(size)
            for text, size, right in zip(texts, widths, to_the_right, strict=True)
        )
        lines.append(GAP.join(padded).rstrip())
    return "\n".join(lines)


def terminal_width() -> int | None:
    """The width of the terminal that is written to; None for a file or a pipe, in which nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def cell(value: object) -> str:
    """A value in one line. What is not printable becomes a space: data must not move the cursor of a terminal."""
    text = "" if value is None else str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def shortened(text: str, size: int) -> str:
    """At most so many characters of a text.

    >>> shortened("temperature", 7)
    'temp...'
    """
    return text if len(text) <= size else f"{text[: max(size - 3, 0)]}..."


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "rule"), counted(2000, "match")
    ('1 rule', '2,000 matches')
    """
    plural = noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def _are_numbers(values: list[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known)


def _fitted(widths: list[int], fixed: list[bool], width: int | None) -> list[int]:
    """Take from the widest column of text until all fit, or all are short."""
    widths = list(widths)
    while width is not None and sum(widths) + len(GAP) * (len(widths) - 1) > width:
        able = [i for i, is_fixed in enumerate(fixed) if not is_fixed and widths[i] > _SHORTEST]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths
