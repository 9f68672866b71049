"""Measures how long something takes in Spark, and stops it if it takes too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from time import perf_counter
from typing import Generic, TypeVar

from pyspark.sql import SparkSession

from benchmarks.session import jvm

Result = TypeVar("Result")
_GROUP = "benchmark"


class DidNotEnd(Exception):
    """Not done within the time limit."""


@dataclass(frozen=True)
class Timed(Generic[Result]):
    """A result, the seconds it took, and the processor seconds of Spark's JVM."""

    result: Result
    seconds: float
    cpu_seconds: float


def timed(spark: SparkSession, action: Callable[[], Result], limit: float | None = None) -> Timed[Result]:
    """Run an action once. After `limit` seconds, cancel its Spark jobs and raise `DidNotEnd`."""
    context, bench = spark.sparkContext, jvm(spark).sparkrules.KernelBench
    context.setJobGroup(_GROUP, _GROUP, interruptOnCancel=True)
    stopper = Timer(limit, context.cancelJobGroup, [_GROUP]) if limit else None
    start, start_cpu = perf_counter(), bench.processSeconds()
    if stopper:
        stopper.start()
    try:
        result = action()
    except Exception as error:
        if limit and perf_counter() - start >= limit:
            raise DidNotEnd(f"not done after {limit:.0f} s") from error
        raise
    finally:
        if stopper:
            stopper.cancel()
    return Timed(result, perf_counter() - start, bench.processSeconds() - start_cpu)


def best_of(runs: int, measure: Callable[[], Timed[Result]]) -> Timed[Result]:
    """The shortest of several runs: disturbances only ever make a run longer."""
    return min((measure() for _ in range(runs)), key=lambda run: run.seconds)
