"""Makes a published rule set the same as a source of rules, such as a table, and publishes only what differs.

| rows of the source | what becomes of the rule set |
|---|---|
| an id that the newest version lacks | the rule is added |
| an id whose rule differs | the rule is changed |
| no row for a rule | the rule is removed |
| an invalid row | it is rejected; the rule with this id stays as it was published |
| no id, or an id that several rows have | the same: a table has no order that could decide |
| the id of a rule with a ticket | the same; a rule with a ticket and without a row stays as well |
| a rule that has expired, and that the version lacks | nothing: publishing would drop it |
| no row has a field for exemptions | rules keep those they have |

Only rules whose fields differ are compiled, so a source without changes costs little more than reading it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import DuplicateId, PublishConflict, RuleSetError, listed
from sparkrules.index.arrow_arrays import arrow_of, numpy_of
from sparkrules.index.merge import merge_segments
from sparkrules.index.segment_rules import rule_at
from sparkrules.index.tables import columns_table
from sparkrules.rules.advertised import Advertised
from sparkrules.rules.bulk import CheckedRow, CompiledRows, accepted_patterns, check_row, columns_of, compile_rows
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.fields import check_id
from sparkrules.rules.pattern_fields import DefinedPattern, define_option
from sparkrules.rules.publication import Publication
from sparkrules.rules.sources import FileRow, PatternRow, RuleRow, with_exemptions
from sparkrules.rules.strict import check_rules
from sparkrules.sql.rejected import Rejected
from sparkrules.store import CONTENT, Changes, Store, differing, live_rules

_ATTEMPTS = 8  # each time, somebody else has changed the same rules in between
_SHOWN = 10
# Texts decide: the same text in the same dialect is the same rule. A ticket is not the source's to change.
_FIELDS = [name for name in CONTENT if name not in ("sql", "ticket")]


@dataclass(frozen=True)
class Synced:
    """What a sync has done. `version` is the newest version now, and `published` says whether the sync made it.

    `changes` has the ids that were added, removed and changed, `rejected` the rows that were rejected and why, and
    `expired` the ids of rules that were not added because they have expired.

    >>> print(Synced("alerts", 7, True, Changes(added=("hot",), removed=(), changed=())))
    alerts@7
    1 added: hot
    0 removed
    0 changed
    """

    rule_set: str
    version: int
    published: bool
    changes: Changes
    rejected: tuple[Rejected, ...] = ()
    expired: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.rule_set}@{self.version}{'' if self.published else ', as before'}", str(self.changes)]
        if self.rejected:
            shown = listed([f"{own.id or 'a row without id'} ({own.reason})" for own in self.rejected], _SHOWN)
            lines.append(f"{len(self.rejected)} rejected: {shown}")
        if self.expired:
            lines.append(f"{len(self.expired)} expired: {listed(self.expired, _SHOWN)}")
        return "\n".join(lines)


def sync(
    rules: RuleCollection,
    target: Store,
    rows: Iterable[RuleRow],
    *,
    has_patterns: bool = True,
    empty: bool = False,
    strict: bool = False,
    schema: pa.Schema | None = None,
) -> Synced:
    """Make the newest version of a rule set in a store have the rules of a source. See the module.

    Of `rules` only the name, the dialect, the policy and the default validity are used. A source that
    `has_patterns` decides about patterns, too; otherwise they stay, except for options of removed rules. `RuleSetError`
    if the source has no valid rule, unless it may be `empty`.
    """
    source = _Source.read(rows)
    for attempt in range(_ATTEMPTS):
        try:
            return _Attempt(rules, target, source).made(
                has_patterns=has_patterns, empty=empty, strict=strict, schema=schema
            )
        except PublishConflict:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


class _PlacedRow(NamedTuple):
    """A row with its place in the source. A row with fields of a pattern is checked when it is compiled."""

    place: int
    row: RuleRow
    id: str
    checked: CheckedRow | None

    @property
    def is_open_ended(self) -> bool:
        return self.row.valid_until in (None, "")


@dataclass(frozen=True)
class _Source:
    """The rows of a source with distinct ids, those that are rejected whatever the rule set has, and whether the source
    has a field for exemptions."""

    rows: list[_PlacedRow]
    rejected: list[tuple[int, Rejected]]
    has_exemptions: bool

    @staticmethod
    def read(rows: Iterable[RuleRow]) -> _Source:
        kept: list[_PlacedRow] = []
        rejected: list[tuple[int, Rejected]] = []
        has_exemptions = False
        for place, row in enumerate(rows):
            has_exemptions |= row.exemptions is not None
            try:
                checked = None if isinstance(row, PatternRow) else check_row(row)
                kept.append(_PlacedRow(place, row, check_id(row.id), checked))
            except RuleSetError as error:
                rejected.append((place, _rejected(row, error)))
        counts = Counter(map(_kind, kept))
        for own in kept:
            if (count := counts[_kind(own)]) > 1:
                what = "pattern" if _kind(own)[0] else "rule"
                twice = DuplicateId(f"{count} rows have the id {own.id!r}: give each {what} an id of its own")
                rejected.append((own.place, _rejected(own.row, twice)))
        return _Source([own for own in kept if counts[_kind(own)] == 1], rejected, has_exemptions)


def _kind(own: _PlacedRow) -> tuple[bool, str]:
    """What must be distinct: a rule and a pattern may have the same id."""
    return isinstance(own.row, PatternRow) and not PatternRow.is_rule(own.row.fields), own.id


def _rejected(row: RuleRow, error: Exception) -> Rejected:
    source = row.source if isinstance(row, (FileRow, PatternRow)) else None
    return Rejected.of(row.id, row.where, error, source)


class _Attempt:
    """A comparison of the source with the newest version, and what follows from it."""

    def __init__(self, like: RuleCollection, target: Store, source: _Source) -> None:
        self.rules = RuleCollection(like.name, like.dialect, like.policy, like.default_validity)
        self.publication = Publication(self.rules, Advertised(like.name), target)
        self.target = target
        self.exists = bool(target.versions(like.name))
        if self.exists:
            self.publication.load(None)
            if like.default_validity is not None:
                self.rules.default_validity = like.default_validity
        self.known = live_rules(self.rules.content.parts, ["id", *CONTENT])
        self.known_ids = set(self.known["id"].to_pylist())
        self.owned = set(self.known["id"].filter(self.known["ticket"].is_valid()).to_pylist())
        self.rejected = list(source.rejected)
        self.rows = [own for own in source.rows if own.id not in self.owned]
        for own in source.rows:
            if own.id in self.owned:
                error = RuleSetError(f"rule {own.id!r} has a ticket: only its owner can change or remove it")
                self.rejected.append((own.place, _rejected(own.row, error)))
        if not source.has_exemptions:
            self._keep_exemptions()

    def _keep_exemptions(self) -> None:
        """Give the rows the exemptions of the published rules."""
        exempted = self.known.filter(self.known["exemptions"].is_valid())
        stored = dict(zip(exempted["id"].to_pylist(), exempted["exemptions"].to_pylist(), strict=True))
        for number, own in enumerate(self.rows):
            if own.id in stored and not _kind(own)[0]:
                row = with_exemptions(own.row, stored[own.id])
                checked = None if own.checked is None else check_row(row)
                self.rows[number] = own._replace(row=row, checked=checked)

    def made(self, *, has_patterns: bool, empty: bool, strict: bool, schema: pa.Schema | None) -> Synced:
        same, expired, open_rows = self._sorted_rows()
        done = self._compiled(open_rows)
        is_new = ~self._unchanged_compiled(done, open_rows)
        new_ids = set(done.segment.rules.id[is_new].tolist())
        refused = {own.id for _, own in self.rejected if own.id}
        kept = {*same, *expired, *done.ids, *refused, *self.owned}
        removed = self.known_ids - kept
        before, after = self._patterns(done, has_patterns=has_patterns, removed=removed, kept=refused | self.owned)
        changes = Changes(
            tuple(sorted(new_ids - self.known_ids)), tuple(sorted(removed)), tuple(sorted(new_ids & self.known_ids))
        ).with_patterns([own.pattern for own in before.values()], [own.pattern for own in after.values()])
        rejected = tuple(own for _, own in sorted(self.rejected, key=lambda found: found[0]))
        if not (empty or same or expired or done.ids or done.patterns) and (changes or not self.exists):
            raise _no_rules(self.rules.name, rejected)
        if strict or schema is not None:
            new = (rule_at(done.segment, row) for row in np.flatnonzero(is_new).tolist())
            check_rules(self.rules.name, new, rejected, schema, self.rules.policy, strict=strict)
        is_other = Counter(rejected) != Counter(self.rules.rejected)
        is_published = bool(changes) or is_other or not self.exists
        if is_published:
            self.rules.content.remove_all([*changes.removed, *changes.changed])
            segment = merge_segments([(done.segment, np.flatnonzero(~is_new).astype(np.int32))])
            self.rules.content.add_segment(segment, [id for id in done.ids if id in new_ids])
            self._replace_patterns(before, after)
            self.rules.rejected = rejected
            self.publication.publish(self.target, first=not self.exists)
        version = self.publication.version
        assert version is not None
        return Synced(self.rules.name, version, is_published, changes, rejected, tuple(sorted(expired)))

    def _sorted_rows(self) -> tuple[set[str], set[str], list[_PlacedRow]]:
        """The ids of rules that are as published, of expired ones that are not there, and the rows to compile."""
        plain = [own for own in self.rows if own.checked is not None]
        checked = [own.checked for own in plain if own.checked is not None]
        given = columns_table(columns_of(checked, [None] * len(checked)))
        # What was translated can have been in another dialect.
        is_spark = self.rules.dialect == "spark"
        certain = self.known.filter(self.known["sql"].is_null()) if is_spark else self.known.slice(0, 0)
        unchanged = self._unchanged(given, certain, _FIELDS, np.array([own.is_open_ended for own in plain], bool))
        now = datetime.now(timezone.utc)
        same, expired = set(), set()
        open_rows = [own for own in self.rows if own.checked is None]
        for own, row, is_same in zip(plain, checked, unchanged.tolist(), strict=True):
            if is_same and not row.exemptions:
                same.add(own.id)
            elif own.id not in self.known_ids and row.valid_until is not None and row.valid_until <= now:
                expired.add(own.id)
            else:
                open_rows.append(own)
        return same, expired, sorted(open_rows, key=lambda own: own.place)

    def _compiled(self, rows: Sequence[_PlacedRow]) -> CompiledRows:
        done = accepted_patterns(
            compile_rows(
                [own.row for own in rows],
                self.rules.name,
                dialect=self.rules.dialect,
                policy=self.rules.policy,
                default_validity=self.rules.default_validity,
            ),
            lambda _: None,
        )
        self.rejected += [(rows[place].place, found) for place, found in done.rejected]
        return done

    def _unchanged_compiled(self, done: CompiledRows, rows: Sequence[_PlacedRow]) -> NDArray[np.bool_]:
        table = columns_table(done.segment.rules)
        endless = {own.id for own in rows if own.is_open_ended}
        is_open_ended = np.array([id in endless for id in table["id"].to_pylist()], bool)
        return self._unchanged(table, self.known, [*_FIELDS, "sql"], is_open_ended)

    def _unchanged(
        self, given: pa.RecordBatch, known: pa.RecordBatch, names: Sequence[str], is_open_ended: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which of the given rules are in the version, with the same fields."""
        place = pc.index_in(given["id"], value_set=known["id"])
        rows = np.flatnonzero(numpy_of(place.is_valid()))
        same = np.zeros(len(place), bool)
        same[rows] = True
        for name in names:
            differs = differing(known[name].take(place.drop_null()), given[name].take(arrow_of(rows, pa.int64())))
            if name == "valid_until" and self.rules.default_validity is not None:
                # Its end was decided when it was added.
                differs &= ~is_open_ended[rows]
            same[rows[differs]] = False
        return same

    def _patterns(
        self, done: CompiledRows, *, has_patterns: bool, removed: Collection[str], kept: Collection[str]
    ) -> tuple[dict[str, DefinedPattern], dict[str, DefinedPattern]]:
        """The patterns by id: of the version, and as they become."""
        before = {own.pattern.id: own for own in self.rules.patterns.defined()}
        if not has_patterns:
            options = {id for id, own in before.items() if own.pattern.belongs_to_rule}
            stays = {id: own for id, own in before.items() if not (id in options and id in removed)}
            return before, {**stays, **{id: self._of_text(before[id], id, done) for id in options & set(done.ids)}}
        after = {id: own for id, own in before.items() if id in kept}
        return before, {**{own.id: own.made for own in done.patterns}, **after}

    def _of_text(self, option: DefinedPattern, id: str, done: CompiledRows) -> DefinedPattern:
        """The option of a rule for its new text: when it becomes true is a condition on the text."""
        if option.pattern.kind != "change":
            return option
        where = done.segment.rules.where[done.segment.rules.id.tolist().index(id)]
        fields = {"on_change": list(option.pattern.by), "metadata": option.pattern.metadata}
        return define_option(id, where, fields, self.rules.dialect, self.rules.policy) or option

    def _replace_patterns(self, before: dict[str, DefinedPattern], after: dict[str, DefinedPattern]) -> None:
        for id in before:
            if id not in after or after[id].pattern != before[id].pattern:
                self.rules.patterns.remove(id)
        for id, own in after.items():
            if id not in self.rules.patterns:
                self.rules.patterns.add(own)


def _no_rules(rule_set: str, rejected: Sequence[Rejected]) -> RuleSetError:
    why = "the source has no rows"
    if rejected:
        first: Any = rejected[0]
        why = f"none of the {len(rejected)} rows is a valid rule; the first, {first.id!r}: {first.reason}"
    return RuleSetError(
        f"rule set {rule_set!r} stays as it is, because {why}. If it is meant to be empty, say so with empty=True"
    )
