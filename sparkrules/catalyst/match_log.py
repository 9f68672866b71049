"""A line, or a call, per micro-batch: what rules did in the streams of a session."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sparkrules.catalyst.rule_metrics import RuleRun, runs_where
from sparkrules.catalyst.session import require_plugin
from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

_LONGEST_ID = 60


def log_matches(
    spark: SparkSession, to: Callable[[RuleRun], object] | None = None, *, top: int = 3
) -> StreamingQueryListener:
    """Log what rules do in each micro-batch of the session's streams, or hand it to a function.

    Without `to`, each micro-batch is a line of the logger `sparkrules`, at the level INFO: the version, the rows and
    matches, the `top` rules with most matches, and the rules with errors. Your program decides where the lines go, with
    the module `logging`. With `to`, the function gets a `RuleRun` instead.

        logging.basicConfig(level=logging.INFO)
        listener = sparkrules.log_matches(spark)

    Returns the listener; `spark.streams.removeListener(listener)` ends it. A micro-batch that matches with several rule
    sets is several lines. `spark.sparkrules.ruleMetrics=0` counts nothing, so there are no lines.
    """
    from pyspark.sql.streaming.listener import StreamingQueryListener

    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise RuleSetError(f"top={top!r} is not a number of rules: top=3 names the three with most matches")
    require_plugin(spark)
    log = logging.getLogger("sparkrules")

    class MatchLog(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802
            pass

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            progress = event.progress
            try:
                runs = runs_where(spark, f"query = '{progress.id}' AND batch = {progress.batchId}")
            except Exception as error:  # the session may be about to end; a listener must not fail the stream
                log.warning("no metrics of batch %s of %s: %s", progress.batchId, progress.id, error)
                return
            for run in runs:
                if to is not None:
                    to(run)
                else:
                    log.info("%s", line(run, progress.name or str(progress.id), top))

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            pass

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
            pass

    listener = MatchLog()
    spark.streams.addListener(listener)
    return listener


def line(run: RuleRun, query: str, top: int) -> str:
    """A run in a line: `alerts@3, batch 7 of readings: 1,000 rows, 42 matches of 2 of 340 rules; most: hot 40`."""
    where = f"{run.ruleset}@{run.version}, batch {run.batch} of {shown(query)}"
    parts = [f"{where}: {run.rows:,} rows, {run.matches:,} matches of {run.rules_hit:,} of {run.rules:,} rules"]
    if run.hits and top:
        parts.append("most: " + _listed(run.hits.items(), top))
    if run.errors:
        parts.append(f"{run.errors:,} errors" + (": " + _listed(run.rule_errors.items(), top) if top else ""))
    return "; ".join(parts)


def shown(text: str) -> str:
    """A text that stays in its line, whatever it contains.

    >>> shown("hot"), shown("hot\\n2026 INFO all is well"), shown("x" * 100)[-5:]
    ('hot', "'hot\\\\n2026 INFO all is well'", 'xx...')
    """
    short = text if len(text) <= _LONGEST_ID else text[:_LONGEST_ID] + "..."
    return short if short.isprintable() else repr(short)


def _listed(counts: Iterable[tuple[str, int]], top: int) -> str:
    return ", ".join(f"{shown(rule)} {count:,}" for rule, count in list(counts)[:top])
