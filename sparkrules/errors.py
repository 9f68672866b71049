"""The errors of sparkrules, in layers: catch `SparkRulesError` for all of them.

| error | when |
|---|---|
| `SparkRulesError` | the base of all |
| `RuleError` (in `sparkrules.sql`) | the text of one rule is not accepted |
| `RuleSetError`, `DuplicateId`, `UnknownId`, `WrongTicket`, `UnknownOrOwned` | a rule set is used wrongly |
| `StrictPublishError` (in `sparkrules.rules.published`) | a rule set with errors is to be published, strictly |
| `StoreError`, `CorruptStore`, `NewerFormat`, `PublishConflict` | a published version cannot be written or read |
| `SetupError`, `PluginMissing` | Java, PySpark or the plugin's jar is missing |
| `ServerError` | a server cannot be started, or has ended by itself |
"""

from __future__ import annotations


class SparkRulesError(Exception):
    """The base of every error that sparkrules raises on purpose."""


class RuleSetError(SparkRulesError):
    """A rule set is used wrongly."""


class DuplicateId(RuleSetError):
    """The rule set has a subscription with this id already."""


class UnknownId(RuleSetError, KeyError):
    """The rule set has no subscription with this id."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class WrongTicket(RuleSetError):
    """A subscription is to be renewed or cancelled without the ticket that its owner was given."""


class UnknownOrOwned(UnknownId, WrongTicket):
    """The rule set has no subscription with this id, or one that takes a ticket: who asks is not told which."""


class StoreError(SparkRulesError):
    """A published version cannot be written or read."""


class CorruptStore(StoreError):
    """A file of the store is missing, truncated or not what it should be; the message names the file."""


class NewerFormat(StoreError):
    """The store was written by a newer sparkrules."""


class PublishConflict(StoreError):
    """Somebody else has published changes of the same subscriptions in between. `ids` are some of them."""

    def __init__(self, message: str, ids: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ids = ids


class SetupError(SparkRulesError):
    """Something that sparkrules needs is not installed; the message says what to install."""


class PluginMissing(SetupError):
    """The Spark session runs without the sparkrules plugin; the message has the fix."""


class ServerError(SparkRulesError):
    """A server cannot be started, or has ended by itself; the message says why."""
