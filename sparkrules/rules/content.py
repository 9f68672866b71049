"""The rules of a rule set: parts, each a segment in which rows may be marked as removed, and single waiting rules.

A rule that is added alone waits in a dictionary, and becomes a row of a small segment when it is published. A segment
that is added stays a segment; the rows of a small one wait beside the single rules, and are merged as arrays. Removing
marks rows. Nothing is rebuilt until somebody wants the index of all rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import UnknownId, UnknownOrOwned, listed
from sparkrules.index import Rule, Segment, build_segment
from sparkrules.index.arrow_arrays import arrow_of
from sparkrules.index.chosen import chosen_segment
from sparkrules.index.rule import LIVE
from sparkrules.index.segment_rules import rule_at
from sparkrules.sql import called_functions
from sparkrules.store import Part, merged

_SHOWN = 5
_FEW = 1_000
_CHOSEN = 4  # selections that are kept beside the latest


@dataclass(frozen=True)
class _Row:
    """A rule that waits as a row of a small compiled segment."""

    segment: Segment
    row: int


def _rule(waiting: Rule | _Row) -> Rule:
    return waiting if isinstance(waiting, Rule) else rule_at(waiting.segment, waiting.row)


def _ticket(waiting: Rule | _Row) -> str | None:
    ticket: str | None = waiting.ticket if isinstance(waiting, Rule) else waiting.segment.rules.ticket[waiting.row]
    return ticket


class Content(Mapping[str, Rule]):
    """Rules by id: those of the parts, by id within a part, then the waiting ones in order of arrival.

    >>> from sparkrules.sql import parse_rule
    >>> content = Content("alerts")
    >>> content.add(Rule("hot", "t > 30", parse_rule("t > 30")))
    >>> content.add_segment(build_segment([Rule("cold", "t < 0", parse_rule("t < 0"))]), ["cold"])
    >>> list(content), len(content), content["cold"].where
    (['hot', 'cold'], 2, 't < 0')
    >>> content.remove_all(["cold"])
    >>> list(content)
    ['hot']
    """

    def __init__(self, name: str, parts: Sequence[Part] = ()) -> None:
        self.name = name
        self.parts = tuple(parts)
        self.waiting: dict[str, Rule | _Row] = {}
        self._segment: Segment | None = None
        self._chosen: dict[tuple[str, frozenset[str] | None], tuple[Segment, Segment]] = {}

    def __len__(self) -> int:
        return len(self.waiting) + sum(part.live for part in self.parts)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and (id in self.waiting or self._place(id) is not None)

    def __iter__(self) -> Iterator[str]:
        for part in self.parts:
            yield from part.body.ids.take(arrow_of(part.live_rows, pa.int64())).to_pylist()
        yield from list(self.waiting)

    def __getitem__(self, id: str) -> Rule:
        if not isinstance(id, str):
            raise UnknownId(f"an id is a string, not {id!r:.60}")
        if id in self.waiting:
            return _rule(self.waiting[id])
        place = self._place(id)
        if place is None:
            raise UnknownId(f"rule set {self.name!r} has no rule {id!r}")
        number, row = place
        return self.parts[number].body.rule(row)

    def rules(self) -> Iterator[Rule]:
        """All rules. Reads every segment, and ignores changes made during the iteration."""
        waiting = self.waiting_rules()
        for part in self.parts:
            yield from part.rules()
        yield from waiting

    def waiting_rules(self) -> list[Rule]:
        """The rules that no part has yet."""
        return [_rule(own) for own in self.waiting.values()]

    def ticket(self, id: str) -> str | None:
        """The hash of a rule's ticket; None if it has none, or if there is no such rule."""
        if id in self.waiting:
            return _ticket(self.waiting[id])
        place = self._place(id)
        found: str | None = None
        if place is not None:
            number, row = place
            found = self.parts[number].body.column("ticket")[row].as_py()
        return found

    def has_tickets(self) -> bool:
        """Whether some rule has the hash of a ticket."""
        columns = (part.body.column("ticket") for part in self.parts)
        return any(column.null_count < len(column) for column in columns) or any(
            _ticket(own) is not None for own in self.waiting.values()
        )

    def ticketed(self, ids: Sequence[str]) -> list[str]:
        """Which of the ids belong to a rule with a ticket."""
        found = [id for id in ids if id in self.waiting and _ticket(self.waiting[id]) is not None]
        for part in self.parts:
            tickets = part.body.column("ticket")
            if tickets.null_count < len(tickets):
                rows = self._find(part, list(dict.fromkeys(ids)))
                own = arrow_of(rows[rows >= 0], pa.int64())
                found += part.body.ids.take(own).filter(pc.is_valid(tickets.take(own))).to_pylist()
        return found

    def taken(self, ids: Sequence[str]) -> set[str]:
        """Which of the ids are taken. Looking up many at once is much faster than one by one."""
        ids = list(dict.fromkeys(ids))
        found = [id for id in ids if id in self.waiting] if self.waiting else []
        for part in self.parts:
            rows = part.find(ids)
            found += part.body.ids.take(arrow_of(rows[rows >= 0], pa.int64())).to_pylist()
        return set(found)

    def add(self, rule: Rule) -> None:
        """Add a rule. The caller has checked that its id is new."""
        self.waiting[rule.id] = rule
        self._segment = None

    def add_segment(self, segment: Segment, ids: Sequence[str]) -> None:
        """Add the rules of a segment, whose ids are known to be new. A few wait, in the order of `ids`."""
        if len(ids) < _FEW:
            rows = {id: row for row, id in enumerate(segment.rules.id.tolist())}
            self.waiting |= {id: _Row(segment, rows[id]) for id in ids}
        else:
            self.parts += (Part.of(segment),)
        self._segment = None

    def replace(self, rule: Rule) -> None:
        """Replace the rule with the same id."""
        self.remove_all([rule.id])
        self.add(rule)

    def remove_all(self, ids: Iterable[str], owned: set[str] | None = None) -> None:
        """Remove rules. Raises `UnknownId`, and removes nothing, if some of the ids are unknown.

        `owned` are ids of rules with a ticket: for these and for unknown ones the error is the same `UnknownOrOwned`.
        """
        wanted = list(dict.fromkeys(ids))
        stored = [id for id in wanted if id not in self.waiting]
        known = np.zeros(len(stored), bool)
        parts = []
        for part in self.parts:
            rows = self._find(part, stored) if stored else np.empty(0, np.int64)
            known |= rows >= 0
            rows = rows[rows >= 0]
            parts.append(part.without(rows) if len(rows) else part)
        unknown = [stored[place] for place in np.flatnonzero(~known).tolist()]
        if owned:
            refused = owned | set(unknown)
            unknown = [id for id in wanted if id in refused]
        if unknown and owned is None:
            raise UnknownId(f"rule set {self.name!r} has no {_some(unknown)}")
        if unknown:
            raise UnknownOrOwned(
                f"rule set {self.name!r} has no {_some(unknown)} that can be removed without a ticket: give that, or "
                "force=True"
            )
        self.parts = tuple(parts)
        if len(stored) < len(wanted):
            for id in wanted:
                self.waiting.pop(id, None)
        self._segment = None

    def sealed(self) -> tuple[Part, ...]:
        """The parts, and one more for the waiting rules."""
        if not self.waiting:
            return self.parts
        rules = [own for own in self.waiting.values() if isinstance(own, Rule)]
        functions = frozenset[str]().union(*(called_functions(rule.tree) for rule in rules))
        parts = [Part.of(build_segment(rules, functions))] if rules else []
        rows: dict[Segment, list[int]] = {}
        for own in self.waiting.values():
            if isinstance(own, _Row):
                rows.setdefault(own.segment, []).append(own.row)
        parts += [Part.of(segment).only(np.array(kept, np.int64)) for segment, kept in rows.items()]
        whole = parts[0] if len(parts) == 1 and parts[0].live == parts[0].body.rows else Part.of(merged(parts))
        return (*self.parts, whole)

    @property
    def segment(self) -> Segment:
        """One index of all rules, made when it is first needed after a change."""
        if self._segment is None:
            parts = self.sealed()
            whole = len(parts) == 1 and parts[0].live == parts[0].body.rows
            self._segment = parts[0].body.segment if whole else merged(parts)
        return self._segment

    def chosen(self, status: str = LIVE, tags: frozenset[str] | None = None) -> Segment:
        """The index of the rules with a status and, if tags are given, with at least one of them."""
        whole = self.segment
        known, made = self._chosen.get((status, tags), (None, None))
        if made is None or known is not whole:
            self._chosen = dict([*self._chosen.items()][-_CHOSEN:])
            made = chosen_segment(whole, status, tags)
            self._chosen[status, tags] = whole, made
        return made

    def _place(self, id: object) -> tuple[int, int] | None:
        """The number of the part that has a rule, and its row there."""
        if not isinstance(id, str):
            return None
        for number, part in enumerate(self.parts):
            row = int(part.find([id])[0])
            if row >= 0:
                return number, row
        return None

    def _find(self, part: Part, ids: list[str]) -> NDArray[np.int64]:
        try:
            return part.find(ids)
        except UnicodeEncodeError:  # no such id can exist
            bad = [id for id in ids if id.encode(errors="replace").decode() != id]
            raise UnknownId(f"rule set {self.name!r} has no {_some(bad)}") from None


def _some(ids: Sequence[str]) -> str:
    return f"rule{'s' * (len(ids) > 1)} {listed(map(repr, ids), _SHOWN)}"
