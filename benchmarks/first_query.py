"""Measures the first query of a fresh JVM: python -m benchmarks.first_query

From `spark.sql(...)` to its first row: with a million auction rules, and with the Sigma rules if their corpus is
present. Each measurement starts Spark anew, in a process of its own. The session and the table are ready before the
clock starts, but nothing of sparkrules has run. A thread in Spark's JVM looks at the stacks of the others and so says
which phase takes how long. Seconds of the processor are those of all threads of the JVM; where the system tells, those
of the JVM's own compilers and of the garbage collector are shown apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.cache import Cache
from benchmarks.session import bench_session, jvm
from benchmarks.workloads.auctions import auctions, growth
from benchmarks.workloads.sigma import sigma
from benchmarks.workloads.workload import Workload

ROWS = 10_000
INTERVAL = 10  # milliseconds
# How the names of the classes of a phase begin. The innermost frame that is listed decides.
PHASES = {
    "read the store": ["sparkrules.store."],
    "scan filter": ["sparkrules.scan."],
    "broadcast": ["org.apache.spark.broadcast.", "sparkrules.version.LazyBroadcast"],
    "sizes": ["org.apache.spark.util.SizeEstimator"],
    "compile": ["sparkrules.compile.", "sparkrules.program.", "sparkrules.text."],
    "generate code": ["org.codehaus.janino.", "org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator"],
    "bind": ["sparkrules.bind.", "sparkrules.guard.", "sparkrules.value."],
    "match": ["sparkrules.kernel.", "sparkrules.answer.", "sparkrules.plan.MatchWork", "sparkrules.plan.MatchBatches"],
    "pin": ["sparkrules.version.", "sparkrules.plan."],
    "Spark, planning": ["org.apache.spark.sql.execution.QueryExecution", "org.apache.spark.sql.classic."],
    "Spark, running": ["org.apache.spark.executor.", "org.apache.spark.scheduler."],
}
WORKLOADS = ("auctions", "growth", "sigma")


@dataclass(frozen=True)
class FirstQuery:
    """What one fresh JVM took."""

    session: float
    table: float
    plan: float
    seconds: float
    cpu_seconds: float
    jit_seconds: float
    gc_seconds: float
    again: float
    phases: dict[str, float]
    lines: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=WORKLOADS, nargs="+", default=["auctions", "sigma"])
    parser.add_argument("--rules", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--cache", type=Path, default=Path(os.environ.get("SPARKRULES_BENCH_CACHE", "build/bench")))
    parser.add_argument("--lines", type=int, default=0, help="show so many lines of the source that took longest")
    parser.add_argument("--only-once", action="store_true", help="measure in this process, and print JSON")
    options = parser.parse_args()
    for name in options.workload:
        for workload in _workloads(name, options.rules):
            cache = Cache(options.cache)
            cache.rules(workload)
            cache.rows(workload, ROWS)
            if options.only_once:
                print(json.dumps(asdict(_measure(workload, cache, options.memory))))
            else:
                _show(workload, [_in_a_process(name, options) for _ in range(options.runs)], options.lines)


def _workloads(name: str, rules: int) -> list[Workload]:
    return sigma() if name == "sigma" else [{"auctions": auctions, "growth": growth}[name](rules)]


def _in_a_process(name: str, options: argparse.Namespace) -> FirstQuery:
    own = ["--workload", name, "--rules", str(options.rules), "--memory", options.memory, "--cache", str(options.cache)]
    command = [sys.executable, "-m", "benchmarks.first_query", "--only-once", *own]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return FirstQuery(**json.loads(done.stdout.splitlines()[-1]))


def _measure(workload: Workload, cache: Cache, memory: str) -> FirstQuery:
    rules, rows = cache.rules(workload), cache.rows(workload, ROWS)
    begin = perf_counter()
    with bench_session(cache.directory, memory, {"spark.sparkrules.store": str(rules.store)}) as spark:
        started = perf_counter()
        spark.read.parquet(*map(str, rows.files)).createOrReplaceTempView("rows")
        ready = perf_counter()
        bench = jvm(spark).sparkrules
        sampler = bench.PhaseSampler.started(_listed(PHASES), INTERVAL)
        query = f"SELECT match_subscriptions('{rules.name}', *).ids AS ids FROM rows"
        pid = int(jvm(spark).java.lang.ProcessHandle.current().pid())
        start, start_cpu, start_own = perf_counter(), bench.KernelBench.processSeconds(), _of_the_jvm(pid)
        df = spark.sql(query)
        df._jdf.queryExecution().executedPlan()
        planned = perf_counter()
        df.first()
        end, end_cpu, end_own = perf_counter(), bench.KernelBench.processSeconds(), _of_the_jvm(pid)
        phases = dict(_parsed(line) for line in sampler.end().splitlines())
        lines = sampler.lines().splitlines()
        again = perf_counter()
        spark.sql(query).first()
        return FirstQuery(
            session=started - begin,
            table=ready - started,
            plan=planned - start,
            seconds=end - start,
            cpu_seconds=end_cpu - start_cpu,
            jit_seconds=end_own[0] - start_own[0],
            gc_seconds=end_own[1] - start_own[1],
            again=perf_counter() - again,
            phases=phases,
            lines=lines,
        )


def _of_the_jvm(pid: int) -> tuple[float, float]:
    """Processor seconds of the JVM's compilers and of its garbage collector so far, where the system tells."""
    compiling = collecting = 0.0
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            name, rest = thread.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:  # it has ended
            continue
        seconds = sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")
        if "CompilerThre" in name:
            compiling += seconds
        elif name.startswith(("GC ", "G1 ", "VM Thread")):
            collecting += seconds
    return compiling, collecting


def _listed(phases: Mapping[str, list[str]]) -> str:
    return "\n".join("\t".join([name, *classes]) for name, classes in phases.items())


def _parsed(line: str) -> tuple[str, float]:
    seconds, name = line.split(" ", 1)
    return name, float(seconds)


def _show(workload: Workload, runs: list[FirstQuery], lines: int) -> None:
    best = min(runs, key=lambda run: run.cpu_seconds)
    print(f"{workload.label}, {workload.size:,} rules; of {len(runs)} runs the one with the least processor time:")
    print(f"  before: session {best.session:.1f} s, table {best.table:.1f} s")
    print(f"  first row after {best.seconds:.1f} s, planned {best.plan:.1f} s")
    own = best.cpu_seconds - best.jit_seconds - best.gc_seconds
    print(f"  processor {best.cpu_seconds:.1f} s: {own:.1f}, JIT {best.jit_seconds:.1f}, GC {best.gc_seconds:.1f}")
    print(f"  all runs: {', '.join(f'{run.seconds:.1f} s (processor {run.cpu_seconds:.1f})' for run in runs)}")
    print(f"  the same query again: {best.again:.2f} s")
    for name, seconds in sorted(best.phases.items(), key=lambda phase: -phase[1]):
        print(f"    {name:<18} {seconds:6.2f} s")
    for line in best.lines[:lines]:
        print(f"      {line}")


if __name__ == "__main__":
    main()
