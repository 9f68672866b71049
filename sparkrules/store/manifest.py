"""The manifest of a version: its segments, and the checksums of their files.

See `docs/store-format.md`.
"""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from typing import Any

from sparkrules.errors import CorruptStore, NewerFormat
from sparkrules.index.tables import SCHEMAS
from sparkrules.store.checksum import FileSum, check_seal, is_sealed, sealed
from sparkrules.store.names import check_name
from sparkrules.store.place import Place

EXTENDED = 5  # the format of a version whose rules have a status, tags or newer operators
PATTERNS = 4  # of one with patterns, but neither
FORMAT = 3  # of one with nothing of that: readers that know no patterns can read it
UNVERIFIED = 2  # the format before, which has no checksums


@dataclass(frozen=True)
class SegmentEntry:
    """A segment of a version. `removed` names the file of the rules that the version no longer has. `overlaps` names
    the file of the overlapping pairs of advertisements and rules, if they have been computed.
    """

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
    """One version of a rule set: when and by whom it was made, from which version (`parent`), and its counts.

    `files` has the checksums of all files that it refers to, by path relative to the directory of the rule set.
    `general`: its rules were pruned, and may match more rows than those they were made from. `costs` has the
    microseconds that calls of functions take, as declared. `max_calls` is how many calls of Python functions a query
    may make, None if it is not limited. `patterns` names the file of the patterns, `conditions` the segment of the
    conditions that these have of their own.

    >>> made = Manifest.new("alerts", 2, [SegmentEntry("0b6f", 3)], predicates=5, nodes=7, parent=1)
    >>> Manifest.from_json(made.to_json(), "2.json") == made
    True
    >>> Manifest.from_json(made.to_json().replace("alerts", "alarms"), "2.json")
    Traceback (most recent call last):
    ...
    sparkrules.errors.CorruptStore: 2.json is damaged (its checksum does not match its content): publish the rule set \
again
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
    costs: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, FileSum] = field(default_factory=dict)
    format: int = FORMAT
    general: bool = False
    max_calls: int | None = None
    patterns: str | None = None
    conditions: str | None = None

    @property
    def verified(self) -> bool:
        """Whether there are checksums. A version made by an older sparkrules has none."""
        return self.format > UNVERIFIED

    def paths(self) -> Iterator[str]:
        """The files that the manifest refers to, by path relative to the directory of the rule set."""
        segments = [entry.name for entry in self.segments]
        for name in [*segments, *filter(None, (self.advertisements, self.conditions))]:
            yield from (f"segments/{name}/{table}.arrow" for table in SCHEMAS)
        for entry in self.segments:
            if entry.removed is not None:
                yield f"removed/{entry.removed}.arrow"
            if entry.overlaps is not None:
                yield f"overlaps/{entry.overlaps}.arrow"
        if self.rejected is not None:
            yield f"rejected/{self.rejected}.arrow"
        if self.patterns is not None:
            yield f"patterns/{self.patterns}.json"

    def sum_of(self, path: str) -> FileSum | None:
        """The checksum of a file that the manifest refers to; None if the version has no checksums."""
        return self.files[path] if self.verified else None

    def sums_of(self, segment: str) -> dict[str, FileSum] | None:
        """The checksums of a segment's files, by table name; None if the version has no checksums."""
        if not self.verified:
            return None
        return {table: self.files[f"segments/{segment}/{table}.arrow"] for table in SCHEMAS}

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
        costs: Mapping[str, float] | None = None,
        files: Mapping[str, FileSum] | None = None,
        general: bool = False,
        max_calls: int | None = None,
        patterns: str | None = None,
        conditions: str | None = None,
        extended: bool = False,
    ) -> Manifest:
        return Manifest(
            rule_set,
            version,
            datetime.now(timezone.utc).isoformat(timespec="seconds"),
            publisher(),
            action,
            parent,
            tuple(segments),
            rejected,
            default_validity,
            sum(entry.live for entry in segments),
            predicates,
            nodes,
            advertisements,
            {} if costs is None else costs,
            {} if files is None else files,
            format=EXTENDED if extended else FORMAT if patterns is None else PATTERNS,
            general=general,
            max_calls=max_calls,
            patterns=patterns,
            conditions=conditions,
        )

    def to_json(self) -> str:
        fields = asdict(self)
        return sealed(json.dumps({"format": fields.pop("format"), **fields}, indent=2))

    @staticmethod
    def read(file: Place, rule_set: str, version: int) -> Manifest:
        """Read the manifest from a file. It must belong to this version of this rule set."""
        try:
            content = bytes(file.read_bytes())
        except FileNotFoundError:
            raise
        except OSError as error:
            raise CorruptStore(f"{file} cannot be read: {error}") from error
        found = Manifest.from_json(content, str(file))
        if (found.rule_set, found.version) != (rule_set, version):
            raise CorruptStore(
                f"{file} is the manifest of version {found.version} of rule set {found.rule_set!r}, not of version "
                f"{version} of {rule_set!r}: restore it, or publish the rule set again"
            )
        for path in found.paths():
            for name in path.split("/"):
                check_name(name)
        if found.verified and (missing := sorted(set(found.paths()) - found.files.keys())):
            raise CorruptStore(f"{file} has no checksum of {missing[0]}: publish the rule set again")
        return found

    @staticmethod
    def from_json(text: str | bytes, file: str) -> Manifest:
        """Check the checksum and parse the manifest; `file` is its name in errors."""
        content = text.encode(errors="surrogateescape") if isinstance(text, str) else text
        try:
            fields = json.loads(content.decode())
            read = Manifest._from_fields(fields)
        except NewerFormat as error:
            raise NewerFormat(f"{file} {error}") from None
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise CorruptStore(f"{file} is not a manifest ({error!r}): publish the rule set again") from error
        # The previous format has no checksum. A manifest that has one must not be read as the previous format.
        if read.verified or is_sealed(content):
            try:
                check_seal(content)
            except ValueError as error:
                raise CorruptStore(f"{file} is damaged ({error}): publish the rule set again") from error
        return read

    @staticmethod
    def _from_fields(fields: dict[str, Any]) -> Manifest:
        found = int(fields["format"])
        if not UNVERIFIED <= found <= EXTENDED:
            raise NewerFormat(
                f"has format {found}, and this sparkrules reads the formats {UNVERIFIED} to {EXTENDED}: upgrade the "
                "older side"
            )
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
            costs={str(name): float(cost) for name, cost in dict(fields.get("costs", {})).items()},
            files={path: FileSum.from_json(own) for path, own in fields.get("files", {}).items()},
            format=found,
            general=bool(fields.get("general", False)),
            max_calls=_optional(int, fields.get("max_calls")),
            patterns=_optional(str, fields.get("patterns")),
            conditions=_optional(str, fields.get("conditions")),
        )


def _optional(kind: Any, value: Any) -> Any:
    return None if value is None else kind(value)


def publisher() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container whose user has no name
        user = "unknown"
    return f"{user}@{platform.node()}"
