"""Decides which advertisements and rules of a version overlap, when it is published. Each segment has a file of pairs.

A pair is decided once: decisions are carried over from the previous version, also into a merged segment. So adding one
rule to a million compares only that rule with the advertisements. By default, a publisher does about a second of work.
If more is left, the segment gets no file, and readers report what to call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkrules.index.arrow_arrays import arrow_of
from sparkrules.index.rule import Rule
from sparkrules.index.segment import Segment
from sparkrules.store.advertisement_segment import Texts, advertisement_segment, texts_of
from sparkrules.store.manifest import Manifest, SegmentEntry
from sparkrules.store.overlaps_file import Pairs
from sparkrules.store.part import Part, merged

if TYPE_CHECKING:
    from sparkrules.store.publication import Version
    from sparkrules.store.store import Store

# The work that a publisher does by default, counted in predicates: a pair costs the predicates of its rule. This is
# 6,000 pairs of rules with ten predicates. Measured per second: 190,000 (auction rules), 38,000 (ANDs of ORs), 29,000
# (rules of one predicate). Work is counted, not timed, so that the same rules always give the same files.
UNASKED = 60_000

Rows = NDArray[np.int64]
# Decides the pairs of the rules of one segment and the advertisements of another, with or without declared types.
Decide = Callable[[Segment, Segment, "pa.Schema | None"], Pairs]


class _Written(NamedTuple):
    """A file of pairs, the types and advertisements that it was computed for, and its part."""

    part: Part
    question: tuple[Texts, pa.Schema | None]
    name: str


@dataclass(frozen=True)
class OverlapPlan:
    """How a publisher decides pairs: all undecided ones if it `is_asked` to, otherwise as many as `UNASKED` allows.

    `types` are the types to decide with; if absent, the types of the previous version, if any. Pairs that were
    `written` by an attempt that lost to a rival are not decided again.
    """

    decide: Decide
    is_asked: bool = False
    types: pa.Schema | None = None
    written: dict[int, _Written] = field(default_factory=dict)


def overlap_files(
    store: Store,
    rule_set: str,
    plan: OverlapPlan,
    advertisements: Sequence[Rule],
    parts: Sequence[tuple[Part, SegmentEntry]],
    before: Version | None,
    unmerged: Sequence[Part],
) -> list[SegmentEntry]:
    """Write the files of pairs, and return the entries of a version's parts.

    `before` is the version that this one is made from. `unmerged` are its parts before merging.
    """
    if not advertisements:
        return [replace(entry, overlaps=None) for _, entry in parts]
    earlier = _Earlier.of(store, before)
    types = earlier.types if plan.types is None else plan.types
    if types != earlier.types:
        earlier = _Earlier()
    own = _Advertised.of(advertisements, earlier.advertisements)
    question = texts_of(advertisements), types
    is_same = texts_of(earlier.advertisements) == question[0]
    bodies = {id(part.body) for part, _ in parts}
    entries, tasks = [], {}
    for place, (part, entry) in enumerate(parts):
        beaten = plan.written.get(id(part.body))
        if is_same and id(part.body) in earlier.entries:
            name = entry.overlaps
        elif beaten is not None and beaten.question == question:
            name = beaten.name
        else:
            name = None
            sources = [known for known in unmerged if known.body is part.body or id(known.body) not in bodies]
            tasks[place] = _task(store, earlier, part, sources, own)
        entries.append(replace(entry, overlaps=name))
    if plan.is_asked or _is_quick(list(tasks.values())):
        for place, task in tasks.items():
            name = store.write_overlaps(rule_set, task.pairs(plan.decide, types), types)
            plan.written[id(task.part.body)] = _Written(task.part, question, name)
            entries[place] = replace(entries[place], overlaps=name)
    return entries


@dataclass(frozen=True)
class _Advertised:
    """Advertisements. `carried`: the current row, or -1, of each previous advertisement; `new`: those that are new."""

    segment: Segment
    carried: Rows
    new: Rows

    @property
    def all(self) -> Rows:
        return np.arange(len(self.segment.rules.id))

    @staticmethod
    def of(advertisements: Sequence[Rule], before: Sequence[Rule]) -> _Advertised:
        segment = advertisement_segment(advertisements)
        unchanged = {text[0] for text in set(texts_of(advertisements)) & set(texts_of(before))}
        rows = {id: row for row, id in enumerate(segment.rules.id.tolist())}
        # Rows are sorted by id.
        carried = [rows[id] if id in unchanged else -1 for id in sorted(own.id for own in before)]
        new = [row for id, row in rows.items() if id not in unchanged]
        return _Advertised(segment, np.array(carried, np.int64), np.array(new, np.int64))


@dataclass(frozen=True)
class _Task:
    """A segment whose file must be written: the known pairs, the rows with no known pairs, and the rows that lack only
    the pairs with new advertisements.
    """

    part: Part
    known: Pairs
    open: Rows
    decided: Rows
    own: _Advertised

    @property
    def count(self) -> int:
        """The number of pairs to decide."""
        return len(self.open) * len(self.own.all) + len(self.decided) * len(self.own.new)

    @property
    def work(self) -> int:
        """The total number of predicates of the rules of these pairs. Reads the segment."""
        if not self.count:
            return 0
        forest = self.part.body.segment.forest
        users = forest.users.take(forest.node_of_predicate).values
        sizes = np.maximum(np.bincount(users, minlength=len(forest.roots)), 1)
        return int(sizes[self.open].sum()) * len(self.own.all) + int(sizes[self.decided].sum()) * len(self.own.new)

    def pairs(self, decide: Decide, types: pa.Schema | None) -> Pairs:
        """All pairs, known and newly decided."""
        found = self.known
        for rows, own in ((self.open, self.own.all), (self.decided, self.own.new)):
            if len(rows) and len(own):
                segments = _only(self.part.body.segment, rows), _only(self.own.segment, own)
                found = found.append(decide(*segments, types).renumbered(own, rows))
        return found


@dataclass(frozen=True)
class _Earlier:
    """What a version has already decided: its entries with pairs, by the identity of their segment."""

    advertisements: Sequence[Rule] = ()
    entries: dict[int, SegmentEntry] = field(default_factory=dict)
    types: pa.Schema | None = None
    manifest: Manifest | None = None

    @staticmethod
    def of(store: Store, version: Version | None) -> _Earlier:
        if version is None:
            return _Earlier()
        pairs = zip(version.parts, version.manifest.segments, strict=True)
        entries = {id(part.body): entry for part, entry in pairs if entry.overlaps is not None}
        if not entries:
            return _Earlier()
        types = store.types_of_overlaps(version.manifest, next(iter(entries.values())))
        return _Earlier(store.advertisements(version.manifest), entries, types, version.manifest)


def _is_quick(tasks: Sequence[_Task]) -> bool:
    # A rule has at least one predicate, so a segment with too many pairs need not be read.
    return sum(task.count for task in tasks) <= UNASKED and sum(task.work for task in tasks) <= UNASKED


def _task(store: Store, earlier: _Earlier, part: Part, sources: Sequence[Part], own: _Advertised) -> _Task:
    """What is known about a part from the parts that it was merged from, or from the part itself."""
    known = Pairs.none()
    is_decided = np.zeros(part.body.rows, bool)
    for source in sources:
        entry = earlier.entries.get(id(source.body))
        if entry is None or earlier.manifest is None or not source.live:
            continue
        live = source.live_rows
        places = np.full(source.body.rows, -1, np.int64)
        is_same = source.body is part.body
        places[live] = live if is_same else part.find(source.body.ids.take(arrow_of(live, pa.int64())).to_pylist())
        is_decided[places[places >= 0]] = True
        pairs = store.overlaps(earlier.manifest, entry, len(own.carried))
        known = known.append(pairs.renumbered(own.carried, places))
    rows = part.live_rows
    return _Task(part, known, rows[~is_decided[rows]], rows[is_decided[rows]], own)


def _only(segment: Segment, rows: Rows) -> Segment:
    """Some rows of a segment, in order."""
    return segment if len(rows) == len(segment.rules.priority) else merged([Part.of(segment).only(rows)])
