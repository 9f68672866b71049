"""Measures one workload: its preparation, the kernel alone, then Spark SQL and its peers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from benchmarks.cache import Cache
from benchmarks.kernel.run import measure_kernel
from benchmarks.measurement import JOIN, NUMPY, OURS, PLAIN, Measurement, Preparation, WrongAnswer
from benchmarks.peers import numpy_masks, plain_spark
from benchmarks.peers.chunks import measure_in_chunks
from benchmarks.peers.join import RuleTables
from benchmarks.subject import Sample, Subject
from benchmarks.through_spark import RUNS, measure_ours, rows_within
from benchmarks.timing import DidNotEnd, Timed, best_of, timed
from benchmarks.workloads.workload import RuleText, Workload

KERNEL_ROWS = 50_000


@dataclass(frozen=True)
class Settings:
    """How much to measure: the maximum rows, seconds per measurement, seconds until a peer is stopped."""

    rows: int
    levels: tuple[str, ...]
    warm_up: float
    seconds: float
    limit: float
    with_peers: bool

    def at(self, levels: tuple[str, ...]) -> Settings:
        """The same settings at other levels."""
        return replace(self, levels=levels)


def measure(
    spark: SparkSession, cache: Cache, workload: Workload, peers: Sequence[str], settings: Settings
) -> Iterator[Preparation | Measurement]:
    """Yield the results of a workload, as they are measured."""
    rules = cache.rules(workload)
    subject = Subject(spark, workload, rules, cache.rows(workload, settings.rows))
    yield Preparation(
        workload=workload.label,
        rules=workload.size,
        predicates=rules.built.predicates,
        nodes=rules.built.nodes,
        parse_seconds=rules.built.parse_seconds,
        publish_seconds=rules.built.publish_seconds,
        bind_seconds=subject.bind(),
        traits=workload.traits | rules.built.traits,
    )
    if "kernel" in settings.levels:
        yield _kernel(subject, settings)
    if "spark" in settings.levels:
        yield from measure_ours(subject, settings.rows, settings.seconds)
        if settings.with_peers and peers:
            texts = [(str(id), str(where)) for id, where in workload.rules()]
            for peer in peers:
                yield _peer(peer, subject, texts, settings)


def _kernel(subject: Subject, settings: Settings) -> Measurement:
    matched = subject.matched(subject.sample(min(KERNEL_ROWS, settings.rows)).df)
    found = measure_kernel(matched, settings.warm_up, settings.seconds)
    if found.subscriptions != subject.workload.size:
        raise WrongAnswer(f"{found.subscriptions:,} of {subject.workload.size:,} rules can be used on the rows")
    return Measurement(
        workload=subject.workload.label,
        rules=subject.workload.size,
        level="kernel",
        engine=OURS,
        rows=found.rows,
        rows_per_second=found.rows_per_second,
        rows_per_second_in_order=found.rows_per_second_in_order,
        matches_per_row=found.matches_per_row,
        bytes_per_rule=found.bytes_per_subscription,
        tests_per_row=found.tests_per_row,
        candidates_per_row=found.candidates_per_row,
        cpu_share=found.cpu_share,
        note="" if found.cpu_share > 0.8 else f"a busy machine: the thread had {found.cpu_share:.0%} of a core",
    )


def _peer(peer: str, subject: Subject, rules: list[RuleText], settings: Settings) -> Measurement:
    try:
        if peer == PLAIN:
            size = plain_spark.RULES_PER_QUERY
            rules = [(id, subject.workload.for_plain_spark(where)) for id, where in rules]
            return measure_in_chunks(PLAIN, subject, rules, size, settings.limit, plain_spark.match_by_case_when)
        if peer == NUMPY:
            size = numpy_masks.RULES_PER_QUERY
            return measure_in_chunks(NUMPY, subject, rules, size, settings.limit, numpy_masks.match_by_masks)
        with TemporaryDirectory() as directory:
            return _join(subject, RuleTables(subject.spark, rules, Path(directory)), settings)
    except DidNotEnd as error:
        return Measurement(
            subject.workload.label, subject.workload.size, "spark", peer, rows=0, rows_per_second=None, note=str(error)
        )


def _join(subject: Subject, tables: RuleTables, settings: Settings) -> Measurement:
    def match(sample: Sample) -> Timed[int]:
        return timed(subject.spark, partial(tables.match, sample.df), settings.limit)

    affordable = rows_within(subject, match, settings.seconds, settings.rows)
    sample = subject.sample(affordable)
    run = best_of(RUNS, lambda: timed(subject.spark, partial(tables.match, subject.sample(affordable).df)))
    expected = subject.matches(sample.df)
    if run.result != expected:
        raise WrongAnswer(f"the join has {run.result:,} matches in {sample.rows:,} rows, sparkrules {expected:,}")
    return Measurement(
        workload=subject.workload.label,
        rules=subject.workload.size,
        level="spark",
        engine=JOIN,
        rows=sample.rows,
        rows_per_second=sample.rows / run.seconds,
        matches_per_row=run.result / sample.rows,
        seconds=run.seconds,
        cpu_seconds=run.cpu_seconds,
        note=f"best of {RUNS}",
    )
