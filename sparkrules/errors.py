"""The errors of sparkrules, in layers, and how a message lists many things. Catch `SparkRulesError` for all of them.

| error | when |
|---|---|
| `SparkRulesError` | the base of all |
| `RuleError` (in `sparkrules.sql`) | the text of a rule is invalid |
| `RuleSetError`, `DuplicateId`, `UnknownId`, `WrongTicket`, `UnknownOrOwned` | a rule set is used incorrectly |
| `StrictPublishError` (in `sparkrules.rules`) | a strict publish found errors in the rules |
| `NeedsSpark`, `UnknownColumn` (in `sparkrules.local`) | rules cannot be matched without Spark, or lack a column |
| `StoreError`, `CorruptStore`, `NewerFormat`, `PublishConflict` | a version cannot be written or read |
| `SetupError`, `PluginMissing` | Java, PySpark or the plugin's jar is missing |
| `ServerError` | a server cannot start, or has stopped by itself |

All of them can be imported from `sparkrules`.
"""

from __future__ import annotations

from collections.abc import Iterable


class SparkRulesError(Exception):
    """The base of every error that sparkrules raises on purpose."""


class RuleSetError(SparkRulesError):
    """A rule set is used incorrectly."""


class DuplicateId(RuleSetError):
    """The rule set already has a rule, or an advertisement, with this id."""


class UnknownId(RuleSetError, KeyError):
    """The rule set has no rule, or no advertisement, with this id."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class WrongTicket(RuleSetError):
    """A rule cannot be renewed or removed without the ticket that its owner received."""


class UnknownOrOwned(UnknownId, WrongTicket):
    """The rule set has no rule with this id, or the rule needs a ticket. The error does not reveal which."""


class StoreError(SparkRulesError):
    """A published version cannot be written or read."""


class CorruptStore(StoreError):
    """A file of the store is missing, truncated or invalid; the message names the file."""


class NewerFormat(StoreError):
    """A newer sparkrules wrote the store."""


class PublishConflict(StoreError):
    """Somebody else has published changes to the same rules in the meantime. `ids` are some of them."""

    def __init__(self, message: str, ids: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ids = ids


class SetupError(SparkRulesError):
    """Something that sparkrules needs is not installed; the message says what to install."""


class PluginMissing(SetupError):
    """The Spark session runs without the sparkrules plugin; the message has the fix."""


class ServerError(SparkRulesError):
    """A server cannot start, or has stopped by itself; the message says why."""


def and_more(left: int, what: str = "") -> str:
    """How many items a list leaves out; nothing if it has all of them.

    >>> and_more(1200), and_more(2, "attributes"), and_more(0)
    ('and 1,200 more', 'and 2 more attributes', '')
    """
    return f"and {left:,} more {what}".rstrip() if left > 0 else ""


def listed(items: Iterable[object], most: int, separator: str = ", ") -> str:
    """At most so many items, and how many more there are.

    >>> listed(["a", "b", "c", "d"], 2), listed(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    >>> listed(["one line", "another line", "a third line"], 2, chr(10)).splitlines()
    ['one line', 'another line', 'and 1 more']
    """
    known = [str(item) for item in items]
    more = and_more(len(known) - most)
    before = separator if "\n" in separator else " "
    return separator.join(known[:most]) + (f"{before}{more}" if more else "")
