"""A finding: its kind, severity, rules, places in their texts, and a suggestion.

>>> print(Finding("redundant", ("r1",), "`a > 3` follows from the rest", (Place("r1", 1, 11, "a > 3"),), "Remove it."))
warning redundant: r1
    `a > 3` follows from the rest
    at line 1, column 11: a > 3
    Remove it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sparkrules.errors import listed

Kind = Literal[
    "contradiction",
    "unknown column",
    "impossible predicate",
    "unknown rule",
    "impossible pattern",
    "inactive rule",
    "tautology",
    "duplicate",
    "equivalent",
    "redundant",
    "type surprise",
    "constant predicate",
    "constant pattern",
    "constant exemption",
    "covered",
    "near duplicate",
    "costly",
    "expired exemption",
]
Severity = Literal["error", "warning", "info"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_ERRORS = ("contradiction", "unknown column", "impossible predicate", "unknown rule", "impossible pattern")
_INFOS = ("covered", "near duplicate", "costly", "expired exemption")
_SHOWN_IDS = 5
_SHOWN_TEXT = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a rule's text. Line and column count from 1."""

    id: str
    line: int
    column: int
    fragment: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a rule or a pattern. `ids` starts with that itself, followed by related rules.

    `places` are positions in their texts; `suggestion` says what to do.
    """

    kind: Kind
    ids: tuple[str, ...]
    message: str
    places: tuple[Place, ...] = ()
    suggestion: str = ""

    @property
    def severity(self) -> Severity:
        """An error is never intended, a warning rarely, an info often."""
        return "error" if self.kind in _ERRORS else "info" if self.kind in _INFOS else "warning"

    def fingerprint(self, texts: Mapping[str, str]) -> str:
        """Identifies the finding as long as its rules' texts are unchanged."""
        said = "\0".join([self.kind, self.message, *(f"{id}\0{texts.get(id, '')}" for id in sorted(self.ids))])
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "ids": list(self.ids),
            "message": self.message,
            "places": [
                {"id": place.id, "line": place.line, "column": place.column, "fragment": place.fragment}
                for place in self.places
            ],
            "suggestion": self.suggestion,
        }

    def __str__(self) -> str:
        lines = [f"{self.severity} {self.kind}: {listed(self.ids, _SHOWN_IDS)}", self.message]
        for place in self.places:
            rule = f" of {place.id}" if place.id != self.ids[0] else ""
            lines.append(f"at line {place.line}, column {place.column}{rule}: {shortened(place.fragment)}")
        lines += [self.suggestion] if self.suggestion else []
        return "\n    ".join(lines)


def shortened(text: object) -> str:
    """A string cut to fit on a line. Control characters become spaces."""
    line = "".join(character if character.isprintable() else " " for character in str(text))
    return line if len(line) <= _SHOWN_TEXT else line[: _SHOWN_TEXT - 3] + "..."


def quoted(part: object) -> str:
    """A part of a rule, quoted for a message."""
    return f"`{shortened(part)}`"
