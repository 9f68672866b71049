"""Runs all attacks and lists those that did harm: `python -m tests.hostile.run [--family regex] [--every 10]`."""

from __future__ import annotations

import argparse
import shutil
import sys
import time

from tests.hostile.suite import SECONDS, attacks, home_of_runs, run


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", help="only one family: regex, growth, work, depth, leak, times or reach")
    parser.add_argument("--containing", default="", help="only texts that contain this")
    parser.add_argument("--every", type=int, default=1, help="only every nth attack")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="deadline for one attack")
    parser.add_argument("--verbose", action="store_true", help="every attack on a line")
    options = parser.parse_args()
    chosen = [a for a in attacks() if options.family in (None, a.family) and options.containing in a.text]
    chosen = chosen[:: options.every]
    home = home_of_runs()
    shutil.rmtree(home, ignore_errors=True)
    start = time.monotonic()
    faults, refused, slowest = [], 0, []
    for result in run(chosen, home, options.seconds):
        refused += result.refused
        shown = "\n    ".join(map(str, result.attacks))
        slowest.append((result.seconds, shown))
        if options.verbose:
            print(f"{result.seconds:6.1f} s {result.detail}\n    {shown}", flush=True)
        if result.fault:
            faults.append(result)
            print(f"FAULT {result.fault} after {result.seconds:.1f} s: {shown}\n{result.detail}\n", flush=True)
    took = time.monotonic() - start
    print(f"{len(chosen)} attacks in {took:.0f} s: {refused} refused by Python, {len(faults)} did harm")
    for seconds, shown in sorted(slowest, reverse=True)[:5]:
        print(f"{seconds:6.1f} s:\n    {shown}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
