"""The patterns of a rule set, in memory: by id, with the conditions of their own.

>>> patterns = Patterns("alerts")
>>> patterns.add(define("breach", "sequence", ["failed login", "new admin"], {"by": "user", "within": "10 minutes"}))
>>> print(patterns["breach"])
failed login, then new admin, by user, within 10 minutes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches

from sparkrules.errors import DuplicateId, UnknownId, listed
from sparkrules.index import Rule
from sparkrules.patterns import Pattern
from sparkrules.rules.pattern_fields import DefinedPattern, define
from sparkrules.store import StoredPatterns

__all__ = ["Patterns", "define"]

_SHOWN = 5


class Patterns(Mapping[str, Pattern]):
    """Patterns by id, in order of definition. Those of a store are read when they are first needed."""

    def __init__(self, rule_set: str) -> None:
        self.rule_set = rule_set
        self.become(StoredPatterns)

    def become(self, read: Callable[[], StoredPatterns]) -> None:
        """Have the patterns of a version, which `read` reads."""
        self._read = read
        self._by_id: dict[str, DefinedPattern] | None = None
        self._changed = False

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all))

    def __getitem__(self, id: str) -> Pattern:
        if not isinstance(id, str) or id not in self._all:
            known = listed(map(repr, self._all), _SHOWN) or "none"
            near = get_close_matches(id, self._all, 1) if isinstance(id, str) else []
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownId(f"rule set {self.rule_set!r} has no pattern {id!r}; there are: {known}{hint}")
        return self._all[id].pattern

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and id in self._all

    def __repr__(self) -> str:
        return f"Patterns({', '.join(map(repr, self))})"

    def add(self, made: DefinedPattern) -> None:
        """Add one. Raises `DuplicateId` if there is one with its id."""
        self.check_free(made.pattern.id)
        self._all[made.pattern.id] = made
        self._changed = True

    def check_free(self, id: str) -> None:
        """Raise `DuplicateId` if there is a pattern with this id."""
        if id in self._all:
            raise DuplicateId(f"rule set {self.rule_set!r} already has a pattern {id!r}; remove_pattern({id!r}) first")

    def remove(self, id: str) -> None:
        """Remove one. Raises `UnknownId` if there is none with this id."""
        del self._all[self[id].id]
        self._changed = True

    def remove_with_rules(self, ids: Iterable[str]) -> None:
        """Remove the patterns that are options of rules with these ids."""
        for id in ids:
            if id in self and self[id].belongs_to_rule:
                self.remove(id)

    def defined(self) -> list[DefinedPattern]:
        """The patterns with their conditions."""
        return list(self._all.values())

    def conditions(self) -> tuple[Rule, ...]:
        """The conditions of all patterns, by their hidden ids."""
        return tuple(condition for own in self._all.values() for condition in own.conditions)

    @property
    def is_changed(self) -> bool:
        """Whether one was added or removed."""
        return self._changed

    def stored(self) -> StoredPatterns:
        """As they go to a store."""
        return StoredPatterns(tuple(own.pattern for own in self._all.values()), self.conditions())

    @property
    def _all(self) -> dict[str, DefinedPattern]:
        if self._by_id is None:
            read = self._read()
            by_id = {own.id: own for own in read.conditions}
            self._by_id = {
                own.id: DefinedPattern(own, tuple(by_id[id] for id in own.conditions)) for own in read.patterns
            }
        return self._by_id
