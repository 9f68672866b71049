"""Events, rules and patterns to measure.

Events are what a security product sees: an action, by a user, on a host. Users and hosts are skewed: with a million
users the busiest has 3 % of the events. Every rule asks for one action and holds for 4 % of its rows, so that 1 to 5 %
of all rows are events of a pattern. Times are 10 ms apart and up to 20 seconds out of order.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkrules import RuleSet

RULE_SET = "watch"
RULES_PER_ACTION = 5
LATE = "30 seconds"
COUNTRIES, HOSTS = 20, 50  # one host per so many users
SPANS = ("10 minutes", "30 minutes", "1 hour", "2 hours")
BY: tuple[tuple[str, ...], ...] = (("user",), ("host",), ("user",), ("host",), ("user", "host"))
# Of ten patterns, so many are of each kind. `match` is a rule whose matches are suppressed for a time.
MIXTURE = ("sequence", "count", "together", "sequence", "count", "absence", "sequence", "count", "together", "match")


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    patterns: int = 1_000
    rules: int = 10_000
    events: int = 10_000_000
    keys: int = 1_000_000
    files: int = 20

    @property
    def actions(self) -> int:
        return max(1, self.rules // RULES_PER_ACTION)


QUICK = Size(patterns=100, rules=1_000, events=200_000, keys=20_000, files=5)


def rule_texts(size: Size, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Ids and texts of the rules."""
    draw = random.Random(seed)
    for number in range(size.rules):
        action, low = f"action = 'a{number % size.actions}'", draw.randrange(96_000)
        first, second = draw.sample(range(COUNTRIES), 2)
        yield (
            f"r{number}",
            draw.choice(
                [
                    f"{action} AND severity >= 8 AND bytes >= 80000",
                    f"{action} AND severity < 4 AND country IN ('c{first}', 'c{second}')",
                    f"{action} AND bytes BETWEEN {low} AND {low + 3_999}",
                    f"{action} AND (severity = 3 AND bytes < 20000 OR country = 'c{first}' AND bytes >= 60000)",
                ]
            ),
        )


def rule_set(size: Size, seed: int = 2) -> RuleSet:
    """The rules and the patterns over them. Half of the patterns overlap."""
    draw = random.Random(seed)
    texts = dict(rule_texts(size))
    ids = list(texts)
    rules = RuleSet(RULE_SET)
    suppressed = set(ids[: sum(_kind(number) == "match" for number in range(size.patterns))])
    rules.subscribe_all((id, text) for id, text in texts.items() if id not in suppressed)
    others = ids[len(suppressed) :]
    waiting = iter(sorted(suppressed))
    for number in range(size.patterns):
        id, by, span, overlapping = f"p{number}", list(draw.choice(BY)), draw.choice(SPANS), draw.random() < 0.5
        suppress = draw.choice([None, None, None, "1 hour"])
        kind = _kind(number)
        if kind == "sequence":
            steps = draw.sample(others, draw.choice([2, 2, 3]))
            rules.sequence(id, steps, by=by, within=span, overlapping=overlapping, suppress=suppress)
        elif kind == "together":
            rules.together(id, draw.sample(others, 2), by=by, within=span, overlapping=overlapping, suppress=suppress)
        elif kind == "count":
            rule, many = draw.choice(others), draw.choice([2, 3, 5])
            rules.count(id, rule, by=by, within=span, at_least=many, overlapping=overlapping, suppress=suppress)
        elif kind == "absence":
            after, without = draw.sample(others, 2)
            rules.absence(id, after=after, without=without, by=by, within=span, suppress=suppress)
        else:
            own = next(waiting)
            rules.subscribe(own, texts[own], suppress="1 hour", by=by)
    if rules.rejected:
        raise ValueError(f"{len(rules.rejected)} rules or patterns are rejected, first {rules.rejected[0]}")
    return rules


def _kind(number: int) -> str:
    return MIXTURE[number % len(MIXTURE)]


def write_rows(spark: SparkSession, size: Size, directory: Path) -> None:
    """The events as Parquet files, in the order of their times; and a last row, long after all of them.

    With it, the deadlines of all patterns have passed in a batch, and the watermark has passed all rows in a stream.
    """
    events = spark.range(0, size.events, numPartitions=size.files)
    rows = _rows(events, size)
    rows.write.parquet(str(directory))
    end = spark.sql(
        "SELECT -1L AS event, timestamp_micros(1767225600000000L) + INTERVAL '400' DAY AS at, 'end' AS user, "
        "'end' AS host, 'end' AS action, 0 AS severity, 0 AS bytes, 'end' AS country"
    )
    end.select(*rows.columns).coalesce(1).write.mode("append").parquet(str(directory))
    # A stream reads files in the order of their times, and those of one job are written at once.
    files = sorted(directory.glob("part-*.parquet"), key=lambda file: (file.stat().st_mtime_ns, file.name))
    last = files.pop()
    for second, file in enumerate([*sorted(files), last]):
        os.utime(file, (1_700_000_000 + second, 1_700_000_000 + second))


def _rows(events: DataFrame, size: Size) -> DataFrame:
    def uniform(seed: int) -> str:
        return f"(shiftrightunsigned(xxhash64(id, {seed}), 11) / {2.0**53!r}D)"

    def below(count: int, seed: int) -> str:
        return f"CAST(floor({uniform(seed)} * {count}) AS INT)"

    hosts = max(1, size.keys // HOSTS)
    return events.selectExpr(
        "id AS event",
        f"timestamp_micros(1767225600000000L + id * 10000L - {below(20_000_000, 1)}) AS at",
        f"concat('u', CAST(floor(pow({uniform(2)}, 4) * {size.keys}) AS INT)) AS user",
        f"concat('h', CAST(floor(pow({uniform(3)}, 3) * {hosts}) AS INT)) AS host",
        f"concat('a', {below(size.actions, 4)}) AS action",
        f"{below(10, 5)} AS severity",
        f"{below(100_000, 6)} AS bytes",
        f"concat('c', {below(COUNTRIES, 7)}) AS country",
    )
