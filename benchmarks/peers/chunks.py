"""Measures peers whose cost is a sum over the rules: some rules at a time, until all are done or the time is up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from pyspark.sql import DataFrame

from benchmarks.measurement import Measurement, WrongAnswer
from benchmarks.subject import Subject
from benchmarks.timing import DidNotEnd, timed
from benchmarks.workloads.workload import RuleText

MatchChunk = Callable[[DataFrame, Sequence[RuleText]], int]


def sample_rows(rules: int) -> int:
    """The sample size for slow peers: large enough to outweigh planning, small enough to count each rule's matches."""
    return 100_000 if rules <= 100_000 else 10_000


def measure_in_chunks(
    engine: str, subject: Subject, rules: Sequence[RuleText], size: int, limit: float, match: MatchChunk
) -> Measurement:
    """Match a sample of the rows against all rules, `size` at a time. `match` returns the number of matches.

    If the time limit comes first, the time is extrapolated to all rules, and the note says so.
    """
    sample = subject.sample(subject.workload.peer_rows or sample_rows(len(rules)))
    ours = subject.matches_by_rule(sample.df)
    match(subject.sample(1).df, rules[:size])  # warm up
    done, seconds, matches, begun = 0, 0.0, 0, perf_counter()
    while done < len(rules) and perf_counter() - begun < limit:
        chunk = rules[done : done + size]
        df = subject.sample(sample.rows).df
        try:
            run = timed(subject.spark, lambda df=df, chunk=chunk: match(df, chunk), limit)  # type: ignore[misc]
        except DidNotEnd:
            break
        expected = sum(ours.get(id, 0) for id, _ in chunk)
        if run.result != expected:
            raise WrongAnswer(
                f"{engine} has {run.result:,} matches of the rules {chunk[0][0]} to {chunk[-1][0]} "
                f"in {sample.rows:,} rows, sparkrules {expected:,}"
            )
        done, seconds, matches = done + len(chunk), seconds + run.seconds, matches + run.result
    if not done:
        raise DidNotEnd(f"{engine}: the first {size} rules on {sample.rows:,} rows are not done after {limit:.0f} s")
    note = f"{size} rules to a query"
    if done < len(rules):
        note += f"; {done:,} rules in {limit:.0f} s, scaled to {len(rules):,}"
    scaled = seconds * len(rules) / done
    return Measurement(
        workload=subject.workload.label,
        rules=len(rules),
        level="spark",
        engine=engine,
        rows=sample.rows,
        rows_per_second=sample.rows / scaled,
        matches_per_row=matches / sample.rows if done == len(rules) else None,
        seconds=scaled,
        note=note,
    )
