"""The manifest of a version: which segments it is made of. See `docs/store-format.md`."""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from sparkrules.errors import CorruptStore, NewerFormat

FORMAT = 2


@dataclass(frozen=True)
class SegmentEntry:
    """A segment as a version has it: `removed` names the file of the subscriptions that it no longer has, `overlaps`
    that of the pairs of advertisements and subscriptions that overlap, if that has been found out."""

    name: str
    subscriptions: int
    removed: str | None = None
    live: int = -1
    overlaps: str | None = None

    def __post_init__(self) -> None:
        if self.live < 0:
            object.__setattr__(self, "live", self.subscriptions)


@dataclass(frozen=True)
class Manifest:
    """One version of a rule set: when and by whom it was made, from which other one (`parent`), and its counts.

    >>> made = Manifest.new("alerts", 2, [SegmentEntry("0b6f", 3)], predicates=5, nodes=7, parent=1)
    >>> Manifest.from_json(made.to_json(), "2.json") == made
    True
    """

    rule_set: str
    version: int
    created: str
    publisher: str
    action: str
    parent: int | None
    segments: tuple[SegmentEntry, ...]
    rejected: str | None
    default_validity: int | None
    subscriptions: int
    predicates: int
    nodes: int
    advertisements: str | None = None
    format: int = FORMAT

    @staticmethod
    def new(
        rule_set: str,
        version: int,
        segments: Sequence[SegmentEntry],
        *,
        predicates: int,
        nodes: int,
        action: str = "publish",
        parent: int | None = None,
        rejected: str | None = None,
        default_validity: int | None = None,
        advertisements: str | None = None,
    ) -> Manifest:
        return Manifest(
            rule_set,
            version,
            datetime.now(timezone.utc).isoformat(timespec="seconds"),
            _publisher(),
            action,
            parent,
            tuple(segments),
            rejected,
            default_validity,
            sum(entry.live for entry in segments),
            predicates,
            nodes,
            advertisements,
        )

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
            publisher=str(fields["publisher"]),
            action=str(fields["action"]),
            parent=_optional(int, fields["parent"]),
            segments=tuple(
                SegmentEntry(
                    str(entry["name"]),
                    int(entry["subscriptions"]),
                    _optional(str, entry["removed"]),
                    int(entry["live"]),
                    _optional(str, entry.get("overlaps")),
                )
                for entry in fields["segments"]
            ),
            rejected=_optional(str, fields["rejected"]),
            default_validity=_optional(int, fields["default_validity"]),
            subscriptions=int(fields["subscriptions"]),
            predicates=int(fields["predicates"]),
            nodes=int(fields["nodes"]),
            advertisements=_optional(str, fields.get("advertisements")),
        )


def _optional(kind: Any, value: Any) -> Any:
    return None if value is None else kind(value)


def _publisher() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container whose user has no name
        user = "unknown"
    return f"{user}@{platform.node()}"
