"""A progress bar for a Spark job: finished tasks, shown as rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import TYPE_CHECKING, TypeVar

from tqdm import tqdm

if TYPE_CHECKING:
    from pyspark import SparkContext

_Result = TypeVar("_Result")
_SECONDS_BETWEEN_LOOKS = 0.2


def timed(context: SparkContext, job: Callable[[], _Result], rows: int, title: str) -> tuple[_Result, float]:
    """Run a job over `rows` rows. Return its result and the seconds it took. On a terminal, show a progress bar."""
    bar = tqdm(total=rows, desc=f"  {title}", unit=" rows", unit_scale=True, disable=None, leave=False)
    with bar, ThreadPoolExecutor(max_workers=1) as thread:
        start = time.perf_counter()
        running = thread.submit(job)
        while True:
            try:
                result = running.result(timeout=_SECONDS_BETWEEN_LOOKS)
                return result, time.perf_counter() - start
            except StillRunning:
                bar.update(int(rows * _share_done(context)) - bar.n)
            except KeyboardInterrupt:
                context.cancelAllJobs()
                raise


def _share_done(context: SparkContext) -> float:
    """The share of finished tasks in the widest running stage, which is the one that reads the rows."""
    tracker = context.statusTracker()
    stages = [stage for id in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(id)) is not None]
    if not stages:
        return 0.0
    widest = max(stages, key=lambda stage: stage.numTasks)
    return widest.numCompletedTasks / widest.numTasks
