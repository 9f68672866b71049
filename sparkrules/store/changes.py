"""The difference between two states of a rule set, by rule id.

If both states have a segment, only its removed rows are compared. A rule is read only if it is in different segments:
merging moves a rule but does not change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import listed
from sparkrules.index.arrow_arrays import arrow_of, numpy_of
from sparkrules.index.tables import SCHEMAS
from sparkrules.patterns import Pattern
from sparkrules.store.part import Part

CONTENT = [name for name in SCHEMAS["subscriptions"].names if name not in ("id", "node")]
"""The columns of a rule by which it is another one, if they differ."""

_SHOWN = 10


@dataclass(frozen=True)
class Changes:
    """The ids that differ, ascending. `changed`: the text, or another field such as the priority, is different.

    The same of patterns is in `patterns_added`, `patterns_removed` and `patterns_changed`.

    >>> print(Changes(added=("a", "b"), removed=(), changed=("c",)))
    2 added: a, b
    0 removed
    1 changed: c
    >>> print(Changes((), (), (), patterns_added=("breach",)))
    0 added
    0 removed
    0 changed
    1 pattern added: breach
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    patterns_added: tuple[str, ...] = ()
    patterns_removed: tuple[str, ...] = ()
    patterns_changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or any(self.patterns.values()))

    def __str__(self) -> str:
        named = {"added": self.added, "removed": self.removed, "changed": self.changed}
        lines = [f"{len(ids)} {what}{_some(ids)}" for what, ids in named.items()]
        lines += [
            f"{len(ids)} pattern{'s' * (len(ids) > 1)} {what}{_some(ids)}" for what, ids in self.patterns.items() if ids
        ]
        return "\n".join(lines)

    @property
    def patterns(self) -> dict[str, tuple[str, ...]]:
        """The ids of the patterns that differ: `added`, `removed` and `changed`."""
        return {"added": self.patterns_added, "removed": self.patterns_removed, "changed": self.patterns_changed}

    def with_patterns(self, before: Sequence[Pattern], after: Sequence[Pattern]) -> Changes:
        """The same, with the difference between two lists of patterns."""
        old, new = ({own.id: own for own in patterns} for patterns in (before, after))
        return replace(
            self,
            patterns_added=tuple(sorted(new.keys() - old.keys())),
            patterns_removed=tuple(sorted(old.keys() - new.keys())),
            patterns_changed=tuple(sorted(id for id in old.keys() & new.keys() if old[id] != new[id])),
        )

    @property
    def touched(self) -> frozenset[str]:
        """All ids of rules that differ."""
        return frozenset(self.added + self.removed + self.changed)


def changes(before: Sequence[Part], after: Sequence[Part]) -> Changes:
    """Compute the difference between two states."""
    gone, came = _only_in(before, after), _only_in(after, before)
    gone_ids, came_ids = _column(gone, "id"), _column(came, "id")
    place = pc.index_in(came_ids, value_set=gone_ids)
    in_both = place.is_valid()
    changed = came_ids.filter(in_both)
    if len(changed):
        old, new = place.drop_null(), pc.indices_nonzero(in_both)
        differs = np.zeros(len(changed), bool)
        for name in CONTENT:
            differs |= differing(_column(gone, name).take(old), _column(came, name).take(new))
        changed = changed.take(arrow_of(np.flatnonzero(differs), pa.int64()))
    removed = gone_ids.filter(pc.invert(pc.is_in(gone_ids, value_set=came_ids)))
    return Changes(_sorted(came_ids.filter(pc.invert(in_both))), _sorted(removed), _sorted(changed))


def _comparable(column: Any) -> Any:
    """Arrow compares no lists. No tag contains the separator."""
    return pc.binary_join(column, "\0") if pa.types.is_list(column.type) else column


def differing(before: Any, after: Any) -> NDArray[np.bool_]:
    """Where two columns of rules differ; NULL equals NULL."""
    before, after = _comparable(before), _comparable(after)
    both_null = pc.and_(before.is_null(), after.is_null())
    differs: NDArray[np.bool_] = ~numpy_of(pc.equal(before, after)) & ~numpy_of(both_null)
    return differs


def live_rules(parts: Sequence[Part], names: Sequence[str]) -> pa.RecordBatch:
    """Some columns of the rules of a state; of `subscriptions` in `docs/store-format.md`."""
    rows = [(part, part.live_rows) for part in parts]
    return pa.RecordBatch.from_pydict({name: _column(rows, name) for name in names})


def _only_in(parts: Sequence[Part], others: Sequence[Part]) -> list[tuple[Part, NDArray[np.int64]]]:
    """The rules that are live in `parts` but not live in the same segment of `others`."""
    there = {id(part.body): part for part in others}
    found = []
    for part in parts:
        other = there.get(id(part.body))
        if other is not part:
            found.append((part, np.flatnonzero(~part.removed if other is None else ~part.removed & other.removed)))
    return found


def _column(rows: Sequence[tuple[Part, NDArray[np.int64]]], name: str) -> Any:
    kind = SCHEMAS["subscriptions"].field(name).type
    return pa.concat_arrays(
        [pa.nulls(0, kind), *(part.body.column(name).take(arrow_of(own, pa.int64())) for part, own in rows)]
    )


def _sorted(ids: Any) -> tuple[str, ...]:
    return tuple(sorted(ids.to_pylist()))


def _some(ids: tuple[str, ...]) -> str:
    if not ids:
        return ""
    return f": {listed(ids, _SHOWN)}"
