"""Atoms: facts about a value that codes cannot decide. Predicates that state the same fact share its atom.

Contract: for a value that is not NULL, an atom is true, false or unknown; unknown only if it is not `is_two_valued`.
`conflict(claims)` says that no value can fulfil all claims. It may miss a conflict but never reports a false one.

| two claims | conflict |
|---|---|
| t is true; t is false, or not true | always |
| t is false; t is not false | always |
| t is not true; t is not false | if t is two-valued |
| t is true; u is not true | if t implies u: `endswith 'cmd.exe'` and `contains 'cmd'` |
| t is true; u is true | if they exclude each other: `endswith 'a'` and `endswith 'b'` |

>>> contains = lambda text: Atom.of(Predicate("x", "contains", (Constant("string", text),)), is_two_valued=True)
>>> conflict([(contains("abc"), "true"), (contains("b"), "false")]), conflict([(contains("abc"), "true")])
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from sparkrules.logic.columns import Unsupported
from sparkrules.logic.like import like_regex
from sparkrules.logic.string_pattern import StringPattern, string_pattern
from sparkrules.sql.literal import string
from sparkrules.sql.tree import Constant, Predicate

Claim = Literal["true", "false", "not true", "not false"]

_CASE_CALL = re.compile(r"(lower|lcase|upper|ucase)\s*\(\s*('(?:[^'\\]|\\.)*')\s*\)", re.IGNORECASE | re.DOTALL)
_INCOMPATIBLE = {("true", "false"), ("true", "not true"), ("false", "not false")}
_INCOMPATIBLE |= {(b, a) for a, b in _INCOMPATIBLE}


@dataclass(frozen=True, slots=True)
class Atom:
    """A positive predicate on an attribute: its operator and constants. See the module."""

    operator: str
    constants: tuple[Constant, ...]
    is_two_valued: bool = False
    pattern: StringPattern | None = None

    @staticmethod
    def of(predicate: Predicate, is_two_valued: bool = False) -> Atom:
        """The atom of a predicate. `not like` has the atom of `like`."""
        operator = predicate.operator.removeprefix("not ")
        constants = tuple(map(folded, predicate.constants))
        single = constants[0] if len(constants) == 1 and constants[0].kind == "string" else None
        pattern = string_pattern(operator, single.text) if single else None
        return Atom(operator, constants, is_two_valued, pattern)

    def truth(self, value: Any) -> bool | None:
        """Whether the predicate is true for a string, or None if unknown."""
        if not isinstance(value, str) or len(self.constants) != 1 or self.constants[0].kind != "string":
            return None
        if self.pattern is not None:
            return self.pattern.matches(value)
        text = self.constants[0].text
        if self.operator == "ilike":
            # Lower-casing follows Java. For ASCII, Python gives the same result.
            return _like(text.lower(), value.lower()) if text.isascii() and value.isascii() else None
        return _like(text, value) if self.operator == "like" else None

    def implies(self, other: Atom) -> bool:
        """Whether the other is true wherever this one is."""
        if self.pattern is not None and other.pattern is not None:
            return self.pattern.implies(other.pattern)
        return self._same(other)

    def excludes(self, other: Atom) -> bool:
        """Whether the two are never both true."""
        return self.pattern is not None and other.pattern is not None and self.pattern.excludes(other.pattern)

    def _same(self, other: Atom) -> bool:
        return self.operator == other.operator and self.constants == other.constants


def conflict(claims: Iterable[tuple[Atom, Claim]]) -> bool:
    """Whether no value can fulfil all claims. See the module."""
    listed = [(atom, _exact(atom, claim)) for atom, claim in claims]
    true = [atom for atom, claim in listed if claim == "true"]
    for atom in true:
        for other, claim in listed:
            if claim in ("false", "not true") and atom.implies(other):
                return True
            if claim == "true" and atom.excludes(other):
                return True
    said: dict[tuple[str, tuple[Constant, ...]], set[Claim]] = {}
    for atom, claim in listed:
        before = said.setdefault((atom.operator, atom.constants), set())
        if any((claim, earlier) in _INCOMPATIBLE for earlier in before):
            return True
        before.add(claim)
    return False


@lru_cache(maxsize=4096)
def folded(constant: Constant) -> Constant:
    """Evaluate a constant call whose value is the same in every session: `lower('AbC')` is `'abc'`.

    >>> folded(Constant("sql", "lower('AbC')")), folded(Constant("sql", "lower('É')")).kind
    (Constant(kind='string', text='abc'), 'sql')
    """
    call = _CASE_CALL.fullmatch(constant.text) if constant.kind == "sql" else None
    value = string([call[2]]) if call else None
    if call is None or value is None or not value.text.isascii():
        return constant
    return Constant("string", value.text.lower() if call[1].lower() in ("lower", "lcase") else value.text.upper())


def _exact(atom: Atom, claim: Claim) -> Claim:
    if not atom.is_two_valued:
        return claim
    return {"not true": "false", "not false": "true"}.get(claim, claim)  # type: ignore[return-value]


def _like(pattern: str, text: str) -> bool | None:
    try:
        return like_regex(pattern).fullmatch(text) is not None
    except Unsupported:
        return None
