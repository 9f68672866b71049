"""The rules of the workload `strings`, taken apart for programs that search for regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

COLUMNS = ("message", "path", "agent")
_LEVEL = re.compile(r"level = '(\w+)' AND (.*)", re.DOTALL)
_CALL = re.compile(r"(contains|startswith|endswith)\((\w+), '([^']*)'\)")
_OPERATOR = re.compile(r"(\w+) (LIKE|RLIKE) '([^']*)'")


@dataclass(frozen=True)
class Rule:
    """True if the level is this one, or any if it is None, and one of the searches finds something."""

    level: str | None
    searches: tuple[tuple[str, int], ...]  # column, number of the expression in it


@dataclass
class Searches:
    """Per column: distinct regular expressions, and the rules that need them."""

    expressions: dict[str, list[str]] = field(default_factory=lambda: {column: [] for column in COLUMNS})
    rules: list[Rule] = field(default_factory=list)

    def matches(self, level: str, found: dict[str, Iterable[int]]) -> int:
        """How many rules match a row of this level, in whose columns these expressions were found."""
        there = {(column, number) for column, numbers in found.items() for number in numbers}
        return sum(
            (rule.level is None or rule.level == level) and any(search in there for search in rule.searches)
            for rule in self.rules
        )


def searches_of(wheres: Iterable[str]) -> Searches:
    """Take rules apart. Everything between the strings of a pattern of LIKE is `.*`, to be compiled with DOTALL.

    >>> searches_of(["level = 'INFO' AND message LIKE '%a%b%'"]).expressions["message"]
    ['a.*b']
    """
    made = Searches()
    numbers: dict[tuple[str, str], int] = {}

    def number(column: str, regex: str) -> tuple[str, int]:
        own = made.expressions[column]
        if (column, regex) not in numbers:
            numbers[column, regex] = len(own)
            own.append(regex)
        return column, numbers[column, regex]

    for where in wheres:
        limited = _LEVEL.fullmatch(where)
        level, rest = (limited[1], limited[2]) if limited else (None, where)
        found = [number(column, _regex(kind, text)) for kind, column, text in _CALL.findall(rest)]
        found += [number(column, _regex(kind, text)) for column, kind, text in _OPERATOR.findall(rest)]
        if not found:
            raise ValueError(f"no search in {where}")
        made.rules.append(Rule(level, tuple(found)))
    return made


def _regex(kind: str, text: str) -> str:
    if kind == "RLIKE":
        return text
    if kind == "LIKE":
        parts: Sequence[str] = text.strip("%").split("%")
        return ".*".join(re.escape(part) for part in parts)
    return {"contains": "{}", "startswith": "^{}", "endswith": "{}$"}[kind].format(re.escape(text))
