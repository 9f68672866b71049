"""The manifest of a version: which segments it is made of. See `docs/store-format.md`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from sparkrules.errors import CorruptStore, NewerFormat

FORMAT = 1


@dataclass(frozen=True)
class Manifest:
    """One version of a rule set.

    >>> made = Manifest.new("alerts", 2, ["0b6f"], subscriptions=3, predicates=5, nodes=7)
    >>> Manifest.from_json(made.to_json(), "2.json") == made
    True
    """

    rule_set: str
    version: int
    created: str
    segments: tuple[str, ...]
    subscriptions: int
    predicates: int
    nodes: int
    format: int = FORMAT

    @staticmethod
    def new(
        rule_set: str, version: int, segments: list[str], *, subscriptions: int, predicates: int, nodes: int
    ) -> Manifest:
        created = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return Manifest(rule_set, version, created, tuple(segments), subscriptions, predicates, nodes)

    def to_json(self) -> str:
        fields = asdict(self)
        return json.dumps({"format": fields.pop("format"), **fields}, indent=2) + "\n"

    @staticmethod
    def from_json(text: str, file: str) -> Manifest:
        """Read a manifest; `file` is its name for errors."""
        try:
            fields = json.loads(text)
            read = Manifest._from_fields(fields)
        except NewerFormat as error:
            raise NewerFormat(f"{file} {error}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptStore(f"{file} is not a manifest ({error!r}): publish the rule set again") from error
        return read

    @staticmethod
    def _from_fields(fields: dict[str, Any]) -> Manifest:
        found = int(fields["format"])
        if found != FORMAT:
            raise NewerFormat(f"has format {found}, and this sparkrules reads format {FORMAT}: upgrade the older side")
        return Manifest(
            rule_set=str(fields["rule_set"]),
            version=int(fields["version"]),
            created=str(fields["created"]),
            segments=tuple(str(name) for name in fields["segments"]),
            subscriptions=int(fields["subscriptions"]),
            predicates=int(fields["predicates"]),
            nodes=int(fields["nodes"]),
        )
