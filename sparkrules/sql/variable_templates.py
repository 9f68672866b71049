"""Rules with variables that differ only in their constants: one translation for all of them.

>>> from sparkrules.sql.policy import Policy
>>> templates = VariableTemplates(Policy(operators={"mob": "people INT"}))
>>> for text in ("mob(img, :p) AND :p > 50 AND city = 'NYC'", "mob(img, :p) AND :p > 7 AND city = 'LA'"):
...     print(templates.without_variables(text))
exists(CAST(mob(img) AS ARRAY<STRUCT<people: INT>>), b1 -> b1.people > 50) AND city = 'NYC'
exists(CAST(mob(img) AS ARRAY<STRUCT<people: INT>>), b1 -> b1.people > 7) AND city = 'LA'
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparkrules.sql.bindings import without_variables
from sparkrules.sql.errors import RuleError
from sparkrules.sql.policy import Policy
from sparkrules.sql.template import SEPARATOR, cut_alike, first_pinned, joined, lift, literal_class, marker

_Pieces = list[str | int]
"""SQL, and the numbers of the literals between."""


class VariableTemplates:
    """Translates texts of Spark SQL. See `without_variables`, which each result equals."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.known: dict[tuple[str, ...], _Pieces | None] = {}

    def without_variables(self, text: str) -> str:
        """The text without variables. Raises `RuleError` if it is rejected."""
        if SEPARATOR in text:
            return without_variables(text, self.policy)
        skeleton, literals = lift(text)
        pinned = first_pinned(skeleton.split(SEPARATOR))
        classes = (own if at in pinned else literal_class(own) for at, own in enumerate(literals))
        key = (skeleton, *classes)
        if key not in self.known:
            self.known[key] = self._pieces(text, skeleton, literals, pinned)
        pieces = self.known[key]
        if pieces is None:
            return without_variables(text, self.policy)
        return "".join(literals[piece] if isinstance(piece, int) else piece for piece in pieces)

    def _pieces(self, text: str, skeleton: str, literals: Sequence[str], pinned: frozenset[int]) -> _Pieces | None:
        """The translation, cut at its literals. None if these texts must be translated one by one."""
        if not cut_alike(text, skeleton.split(SEPARATOR), literals, self.policy):
            return None
        numbers = {
            marker(number, literal_class(literal)): number
            for number, literal in enumerate(literals)
            if number not in pinned
        }
        marks = {number: mark for mark, number in numbers.items()}
        marked = joined(skeleton, [marks.get(number, literal) for number, literal in enumerate(literals)])
        if any(mark in text or marked.count(mark) != 1 for mark in numbers):
            return None
        try:
            translated = without_variables(marked, self.policy)
            own = without_variables(text, self.policy)
        except RuleError:
            return None
        pieces: _Pieces = [translated]
        if numbers:
            cut = re.split("(" + "|".join(map(re.escape, numbers)) + ")", translated)
            pieces = [numbers.get(piece, piece) for piece in cut]
        again = "".join(literals[piece] if isinstance(piece, int) else piece for piece in pieces)
        return pieces if again == own else None
