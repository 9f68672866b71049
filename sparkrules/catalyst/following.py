"""Keeps a rule set the same as a table while streams run.

A stream takes the newest version of its rules in each micro-batch. So that this is what the table says, a thread of
this process syncs both at intervals: no callback from the JVM is needed, and it works over Spark Connect as well.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Event, Lock, Thread, main_thread
from types import TracebackType
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from sparkrules.catalyst.rule_table import sync_table
from sparkrules.catalyst.session import store_of
from sparkrules.errors import RuleSetError
from sparkrules.rules.arguments import a_session, a_span, checked, is_stopped, some_rules
from sparkrules.rules.collection import RuleCollection
from sparkrules.rules.publication import Publication
from sparkrules.rules.sync import Synced
from sparkrules.sql.policy import DEFAULT_POLICY
from sparkrules.store import Store, check_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVERY = timedelta(seconds=10)
_log = logging.getLogger("sparkrules.following")
_threads: WeakKeyDictionary[SparkSession, dict[tuple[str, str], Following]] = WeakKeyDictionary()
_one_at_a_time = Lock()


class FollowingRules(Protocol):
    """What following needs from a rule set: see `sparkrules.RuleSet`."""

    @property
    def _publication(self) -> Publication: ...


class Following:
    """Syncs a rule set with a table at intervals, until `stop`, or until the session or its last stream ends.

    `last` is what the newest sync has done. If a sync fails, the rules stay as they are; `error` is the reason, which
    is also logged as a warning of the logger `sparkrules.following`, and the next one tries again.
    """

    def __init__(
        self, spark: SparkSession, rules: RuleCollection, source: str | DataFrame, every: timedelta = EVERY
    ) -> None:
        self.spark, self.rules, self.source, self.every = spark, rules, source, every
        self.store = Store(store_of(spark))
        self.error: Exception | None = None
        self.last: Synced = self._synced()  # if the first one fails, there is nothing to follow
        self._end = Event()
        self._thread = Thread(target=self._run, name=f"sparkrules {rules.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Sync no more. Waits for a sync that is running."""
        self._end.set()
        self._thread.join()

    @property
    def is_running(self) -> bool:
        """Whether it still syncs."""
        return self._thread.is_alive()

    def __enter__(self) -> Following:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _synced(self) -> Synced:
        return sync_table(self.rules, self.store, self.spark, self.source)

    def _run(self) -> None:
        had_streams = False
        while not self._end.wait(self.every.total_seconds()):
            try:
                has_streams = bool(self.spark.streams.active)
                if had_streams and not has_streams:
                    return
                had_streams = has_streams
                self.last, self.error = self._synced(), None
            except Exception as error:
                if is_stopped(self.spark) or not main_thread().is_alive():
                    return
                self.error = error
                _log.warning("rule set %r stays at version %s: %s", self.rules.name, self.last.version, error)


@checked(spark=a_session, rules=some_rules, every=a_span)
def follow(
    spark: SparkSession, rules: FollowingRules | str, rules_from: str | DataFrame, *, every: timedelta = EVERY
) -> Following:
    """Keep a rule set of the session's store the same as a table while streams run: sync both now, and at intervals.

    `rules` is a rule set, or the name of one; `rules_from` is the name of a table or view, which is looked up each
    time, or a DataFrame. `sparkrules.match(stream, rules, rules_from=...)` does this with the default interval.

        following = sparkrules.follow(spark, "alerts", "sec.rules", every=timedelta(seconds=2))
    """
    own = collection_of(rules, Store(store_of(spark)))
    key = own.name, rules_from if isinstance(rules_from, str) else f"DataFrame {id(rules_from)}"
    with _one_at_a_time:
        known = _threads.setdefault(spark, {})
        for other, following in list(known.items()):
            if not following.is_running:
                del known[other]
            elif other[0] == own.name and other != key:
                raise RuleSetError(
                    f"rule set {own.name!r} already follows {other[1]}: two tables would undo each other's changes"
                )
        if key in known:
            sync_table(own, known[key].store, spark, rules_from)
        else:
            known[key] = Following(spark, own, rules_from, every)
        return known[key]


def collection_of(rules: FollowingRules | str, store: Store) -> RuleCollection:
    """The name, dialect and policy of rules that are to become those of a table."""
    if not isinstance(rules, str):
        rules._publication.check_unchanged(store, "sync")
        return rules._publication.rules
    name, at, _ = rules.partition("@")
    if at:
        raise RuleSetError(f"rules_from makes new versions: name the rule set without one, {name!r}")
    return RuleCollection(check_name(name), "spark", DEFAULT_POLICY, None)
