"""String patterns: which pattern implies which, and in which range of strings they can match.

Contract: a pattern is a sequence of pieces with anything between them. The first is at the start of the string if
`from_start`, the last at its end if `to_end`. `implies` and `excludes` say yes only if it holds for every string.

| predicate | pieces | from start | to end |
|---|---|---|---|
| `contains 'b'`, `like '%b%'` | b | | |
| `startswith 'a'`, `like 'a%'` | a | yes | |
| `endswith 'c'`, `like '%c'` | c | | yes |
| `like 'a%b%c'` | a, b, c | yes | yes |
| `like 'abc'` | abc | yes | yes, and nothing else |

A pattern with `_`, or one that Spark rejects, has no such form.

>>> long, short = string_pattern("endswith", "cmd.exe"), string_pattern("contains", "cmd")
>>> long.implies(short), short.implies(long), string_pattern("endswith", "x").excludes(string_pattern("endswith", "y"))
(True, False, True)
>>> string_pattern("like", "a%b").prefix, following("a"), string_pattern("like", "a_") is None
('a', 'b', True)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StringPattern:
    """See the module. `is_whole`: the string is exactly the one piece."""

    pieces: tuple[str, ...]
    from_start: bool
    to_end: bool
    is_whole: bool = False

    @property
    def prefix(self) -> str:
        """The prefix of every matching string."""
        return self.pieces[0] if self.from_start and self.pieces else ""

    @property
    def is_prefix_only(self) -> bool:
        """Whether the pattern matches exactly the strings that start with `prefix`."""
        return not self.is_whole and (
            not self.pieces or (self.from_start and len(self.pieces) == 1 and not self.to_end)
        )

    def matches(self, text: str) -> bool:
        """Whether a string contains the pieces as required."""
        if self.is_whole:
            return text == self.pieces[0]
        return _embedded(self, (text,), from_start=True, to_end=True)

    def implies(self, other: StringPattern) -> bool:
        """Whether every string that matches this pattern matches the other."""
        if other.is_whole:
            return self.is_whole and self.pieces == other.pieces
        if self.is_whole:
            return other.matches(self.pieces[0])
        return _embedded(other, self.pieces, self.from_start, self.to_end)

    def excludes(self, other: StringPattern) -> bool:
        """Whether no string matches both."""
        for one, two in ((self, other), (other, self)):
            if one.is_whole and not two.matches(one.pieces[0]):
                return True
        if self.from_start and other.from_start and self.pieces and other.pieces:
            a, b = self.pieces[0], other.pieces[0]
            if not (a.startswith(b) or b.startswith(a)):
                return True
        if self.to_end and other.to_end and self.pieces and other.pieces:
            a, b = self.pieces[-1], other.pieces[-1]
            return not (a.endswith(b) or b.endswith(a))
        return False


def string_pattern(operator: str, text: str) -> StringPattern | None:
    """The pattern of a positive predicate (`contains`, `startswith`, `endswith`, `like`), if it has one."""
    if operator == "contains":
        return StringPattern((text,) if text else (), from_start=False, to_end=False)
    if operator == "startswith":
        return StringPattern((text,) if text else (), from_start=bool(text), to_end=False)
    if operator == "endswith":
        return StringPattern((text,) if text else (), from_start=False, to_end=bool(text))
    return _like(text) if operator == "like" else None


def following(prefix: str) -> str | None:
    """The first string after all strings with the prefix, or None if there is none."""
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1]) + 1
        if code == 0xD800:  # surrogates are not characters
            code = 0xE000
        if code <= 0x10FFFF:
            return prefix[: end - 1] + chr(code)
    return None


def _like(pattern: str) -> StringPattern | None:
    pieces = [""]
    characters = iter(pattern)
    for character in characters:
        if character == "_":
            return None
        if character == "%":
            pieces.append("")
            continue
        if character == "\\":
            character = next(characters, "")
            if character not in ("%", "_", "\\"):
                return None
        pieces[-1] += character
    if len(pieces) == 1:
        return StringPattern((pieces[0],), from_start=True, to_end=True, is_whole=True)
    return StringPattern(tuple(filter(None, pieces)), bool(pieces[0]), bool(pieces[-1]))


def _embedded(pattern: StringPattern, texts: tuple[str, ...], from_start: bool, to_end: bool) -> bool:
    """Whether the pieces occur, in order and without overlap, within these texts, which occur in order in a string.

    Each piece takes the first possible place, which leaves the most room for the next.
    """
    pieces = list(pattern.pieces)
    if not pieces:
        return True
    if not texts:
        return False
    at, offset = 0, 0
    last, last_end = len(texts) - 1, len(texts[-1])
    if pattern.from_start:
        first = pieces.pop(0)
        if not (from_start and texts[0].startswith(first)):
            return False
        offset = len(first)
    if pattern.to_end and pieces:
        end = pieces.pop()
        if not (to_end and texts[-1].endswith(end)):
            return False
        last_end -= len(end)
        if last == 0 and offset > last_end:
            return False
    elif pattern.to_end:  # one piece at both ends: an `is_whole` pattern, which the callers handle
        return False
    for piece in pieces:
        while True:
            limit = last_end if at == last else len(texts[at])
            found = texts[at].find(piece, offset, limit)
            if found >= 0:
                offset = found + len(piece)
                break
            if at == last:
                return False
            at, offset = at + 1, 0
    return True
