"""Decides which parts of a rule set are merged when it is published.

Like a log-structured merge tree: parts are visited by ascending size, and a part joins the ones before it unless it is
at least `GROWTH` times as large as all of them together. So a rule is rewritten a logarithmic number of times, and
there are few parts. All parts become one when the others together exceed a `BESIDE`th of the largest. The plugin
compiles the largest part once and the others again for every version, and it matches every row against both.

A part that is not merged is rewritten if more than half of its rows are removed, or if it is small: rewriting it then
costs less than a file of removed rows costs every reader.

>>> from sparkrules.store.merge_policy import groups
>>> groups([100_000, 30, 10, 12, 1])
[[4], [2, 3, 1], [0]]
>>> groups([100_000, 3_000, 10])
[[2, 1, 0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sparkrules.errors import StoreError
from sparkrules.store.part import Part, merged

Merge = Literal["auto", "all", "none"]
GROWTH = 4
BESIDE = 50  # see "Sizes of segments" in docs/store-format.md
MOST_PARTS = 8
SMALL = 1_000  # rows; rewriting this many takes a few hundredths of a second


def merge_parts(parts: Sequence[Part], how: Merge, at: datetime) -> list[Part]:
    """The parts to publish, largest first. Merging drops the rules that have expired by `at`."""
    if how not in ("auto", "all", "none"):
        raise StoreError(f'merge is "auto", "all" or "none", not {how!r}')
    kept = [part for part in parts if part.live]
    if how == "all":
        chosen = [kept]
    elif how == "none":
        chosen = [[part] for part in kept]
    else:
        chosen = [[kept[number] for number in group] for group in groups([part.live for part in kept])]
    after = []
    for group in chosen:
        if len(group) > 1 or (how != "none" and group and _is_worn(group[0], at, how)):
            after.append(Part.of(merged(group, at)))
        else:
            after += group
    after = [part for part in after if part.live] or [Part.of(merged([]))]  # a version has at least one segment
    return sorted(after, key=lambda part: -part.live)


def groups(sizes: Sequence[int]) -> list[list[int]]:
    """Which parts to merge with each other, given the size of each."""
    found: list[list[int]] = []
    totals: list[int] = []
    for number in sorted(range(len(sizes)), key=sizes.__getitem__):
        if totals and sizes[number] < GROWTH * totals[-1]:
            found[-1].append(number)
            totals[-1] += sizes[number]
        else:
            found.append([number])
            totals.append(sizes[number])
    if totals and BESIDE * sum(totals[:-1]) > totals[-1]:
        return [[number for group in found for number in group]]
    while len(found) > MOST_PARTS:
        found[:2] = [found[0] + found[1]]
    return found


def _is_worn(part: Part, at: datetime, how: Merge) -> bool:
    removed = part.body.rows - part.live
    dead = removed + part.expired(at)
    return dead > 0 and (how == "all" or 2 * dead > part.body.rows or (removed > 0 and part.body.rows <= SMALL))
