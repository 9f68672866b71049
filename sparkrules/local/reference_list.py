r"""What is in a reference list: values, networks or globs. The plugin has the same (`ReferenceList.scala`).

| kind | a value is in it if |
|---|---|
| values | it equals one of them, byte by byte |
| cidr | it is an address in one of the networks |
| glob | one of the globs matches all of it: `*` is any string, `?` any character, `\` makes the next one literal |

>>> bad = reference_list("glob", ["*.evil.com", "a?c"])
>>> [bad(text) for text in (b"www.evil.com", b"evil.com", b"abc", b"ABC")]
[True, False, True, False]
>>> reference_list("cidr", ["10.0.0.0/8", "10.1.0.0/16", "::1"])(b"10.200.0.1")
True
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

from sparkrules.logic.columns import Unsupported
from sparkrules.sql.address import address_key, network_range
from sparkrules.sql.glob import ANY, ONE, Glob, glob_parts

ListTest = Callable[[bytes], bool]
Lists = Callable[[str], ListTest]
"""The list of a name; raises `Unsupported` if there is none."""


def no_lists(name: str) -> ListTest:
    raise Unsupported(f"there is no list {name!r} here")


def reference_list(kind: str, values: Iterable[str]) -> ListTest:
    """Whether a string, as UTF-8, is in the list."""
    if kind == "cidr":
        return _Networks(values)
    return _Globs(values) if kind == "glob" else _Values(values)


class _Values:
    def __init__(self, values: Iterable[str]) -> None:
        self.values = frozenset(value.encode() for value in values)

    def __call__(self, value: bytes) -> bool:
        return value in self.values


class _Networks:
    def __init__(self, networks: Iterable[str]) -> None:
        self.firsts: list[str] = []
        self.lasts: list[str] = []
        for first, last in sorted(map(network_range, networks)):
            # A network contains another or is apart from it. Of those with the same start, the largest comes last.
            if self.firsts and first == self.firsts[-1]:
                self.lasts[-1] = last
            elif not self.lasts or first > self.lasts[-1]:
                self.firsts.append(first)
                self.lasts.append(last)

    def __call__(self, value: bytes) -> bool:
        key = address_key(value.decode(errors="replace"))
        place = bisect_right(self.firsts, key) - 1
        return place >= 0 and key <= self.lasts[place]


class _Globs:
    """Globs without wildcards, and those with one star in front, are found by hashing; the others are tried in turn."""

    def __init__(self, globs: Iterable[str]) -> None:
        self.whole: set[str] = set()
        self.ends: dict[int, set[str]] = {}
        self.others: list[Glob] = []
        for parts in map(glob_parts, globs):
            text = "".join(part for part in parts if part)
            if len(text) == len(parts):
                self.whole.add(text)
            elif parts[0] is ANY and len(text) == len(parts) - 1:
                self.ends.setdefault(len(text), set()).add(text)
            else:
                self.others.append(parts)

    def __call__(self, value: bytes) -> bool:
        text = value.decode(errors="replace")
        if text in self.whole:
            return True
        for length, ends in self.ends.items():
            if length <= len(text) and text[len(text) - length :] in ends:
                return True
        return any(_matches(glob, text) for glob in self.others)


def _matches(glob: Glob, text: str) -> bool:
    """Whether a glob matches a whole string. Only the last star is tried again: that suffices, and never takes long."""
    at = place = 0
    star = -1
    start = 0
    while at < len(text):
        part = glob[place] if place < len(glob) else "\0none"
        if part is ANY:
            star, start = place, at
            place += 1
        elif part == ONE or part == text[at]:
            place += 1
            at += 1
        elif star >= 0:
            start += 1
            place, at = star + 1, start
        else:
            return False
    return all(part is ANY for part in glob[place:])
