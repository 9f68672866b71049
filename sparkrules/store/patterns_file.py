"""The patterns of a version: one JSON file, and a segment with the conditions that their steps have of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkrules.errors import CorruptStore, RuleSetError
from sparkrules.index.rule import Rule
from sparkrules.patterns import Pattern, Step, Term
from sparkrules.store.advertisement_segment import texts_of
from sparkrules.store.arrow_file import PUBLISH_AGAIN
from sparkrules.store.checksum import FileSum
from sparkrules.store.place import Place, new_file


@dataclass(frozen=True)
class StoredPatterns:
    """The patterns of a version, in order of definition, and all their conditions."""

    patterns: tuple[Pattern, ...] = ()
    conditions: tuple[Rule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def same_as(self, other: StoredPatterns) -> bool:
        """Whether both define the same."""
        return self.patterns == other.patterns and texts_of(self.conditions) == texts_of(other.conditions)


def write_patterns(file: Place, patterns: Sequence[Pattern]) -> FileSum:
    """Write patterns in order of definition, and sync the file to disk."""
    fields = {"patterns": [pattern_fields(own) for own in patterns]}
    text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
    if text != text.encode(errors="replace").decode():  # half a character in metadata
        text = json.dumps(fields, indent=2) + "\n"
    with new_file(file) as out:
        out.write(text.encode())
    return FileSum.of(text.encode())


def read_patterns(file: Place, published: FileSum | None = None) -> tuple[Pattern, ...]:
    """Read patterns, in order of definition. Errors name the file."""
    try:
        content = bytes(file.read_bytes())
    except FileNotFoundError as error:
        raise CorruptStore(f"{file} is missing from the store: {PUBLISH_AGAIN}") from error
    except OSError as error:
        raise CorruptStore(f"{file} cannot be read: {error}") from error
    if published is not None:
        published.check(content, file, PUBLISH_AGAIN)
    try:
        patterns = tuple(pattern_of(own) for own in json.loads(content.decode())["patterns"])
        ids = [own.id for own in patterns]
        if len(set(ids)) < len(ids):
            raise ValueError("two patterns have the same id")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, RuleSetError) as error:
        raise CorruptStore(f"{file} is damaged ({error!r:.200}): {PUBLISH_AGAIN}") from error
    return patterns


def pattern_fields(pattern: Pattern) -> dict[str, Any]:
    """A pattern as JSON has it.

    >>> step = (Term("hot"), Term(where="t > 40", condition="x 1"))
    >>> pattern_fields(Pattern("x", "count", (step,), within=5, at_least=2))["steps"]
    [[{'rule': 'hot'}, {'where': 't > 40', 'condition': 'x 1'}]]
    """
    return {
        "id": pattern.id,
        "kind": pattern.kind,
        "steps": [[_term_fields(term) for term in step] for step in pattern.steps],
        "by": list(pattern.by),
        "within": pattern.within,
        "after": pattern.after,
        "at_least": pattern.at_least,
        "distinct": pattern.distinct,
        "overlapping": pattern.overlapping,
        "suppress": pattern.suppress,
        "metadata": None if pattern.metadata is None else dict(pattern.metadata),
    }


def pattern_of(fields: Mapping[str, Any]) -> Pattern:
    """The pattern of some JSON. Raises `ValueError`, `KeyError`, `TypeError` or `RuleSetError` if that is none."""
    metadata = fields.get("metadata")
    if not isinstance(fields["overlapping"], bool) or not isinstance(metadata, (dict, type(None))):
        raise TypeError("overlapping or metadata has the wrong type")
    return Pattern(
        _text(fields["id"]),
        _text(fields["kind"]),
        tuple(_step(step) for step in fields["steps"]),
        tuple(_text(name) for name in fields["by"]),
        _whole(fields["within"]),
        _whole(fields["after"]),
        _whole(fields["at_least"]),
        None if fields["distinct"] is None else _text(fields["distinct"]),
        fields["overlapping"],
        _whole(fields["suppress"]),
        metadata,
    )


def _term_fields(term: Term) -> dict[str, str | None]:
    return {"where": term.where, "condition": term.condition} if term.rule is None else {"rule": term.rule}


def _step(terms: Any) -> Step:
    return tuple(
        Term(_text(own["rule"])) if "rule" in own else Term(None, _text(own["where"]), _text(own["condition"]))
        for own in terms
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no string")
    return value


def _whole(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{value!r:.60} is no integer")
    return value
