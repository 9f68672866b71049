"""Runs the experiments of the five papers, and writes plots and docs/papers.md.

    make papers                        all of them at the sizes of the page; resumes where it was interrupted
    make papers PAPERS='--quick'       smaller, some minutes; the page goes to build/papers
    make papers PAPERS='--only thesis-5.8 distributions'

Results are JSON files, one for each experiment. Points that a file has are not measured again, unless `--again`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.papers.experiment import Result, Size
from benchmarks.papers.experiments import EXPERIMENTS
from benchmarks.papers.page import write_page

ROOT = Path(__file__).resolve().parents[2]
RESULTS, DOCS = Path(__file__).parent / "results", ROOT / "docs"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), help="some experiments")
    parser.add_argument("--quick", action="store_const", const="quick", dest="size", default="full", help="smaller")
    parser.add_argument("--smoke", action="store_const", const="smoke", dest="size", help="tiny, to see that it runs")
    parser.add_argument("--again", action="store_true", help="measure all points again")
    parser.add_argument("--no-spark", action="store_true", help="leave out what starts Spark: our kernel")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from the files")
    parser.add_argument("--results", type=Path, help="the directory of the JSON files")
    parser.add_argument("--docs", type=Path, help="the directory of the page and its plots")
    options = parser.parse_args(arguments)
    size: Size = options.size
    elsewhere = ROOT / "build" / "papers" / size
    results = options.results or (RESULTS if size == "full" else elsewhere)
    docs = options.docs or (DOCS if size == "full" else elsewhere)
    for name in options.only:
        experiment = EXPERIMENTS[name]
        if options.page or (options.no_spark and experiment.needs_spark):
            continue
        if options.again:
            (results / f"{name}.json").unlink(missing_ok=True)
        experiment.run(size, results, lambda line: print(line, flush=True))
    found = {
        name: Result.read(results / f"{name}.json") for name in EXPERIMENTS if (results / f"{name}.json").is_file()
    }
    page = write_page(found, docs)
    print(f"{page}: {len(found)} of {len(EXPERIMENTS)} experiments")
    return 0


if __name__ == "__main__":
    sys.exit(main())
