"""Rounds of random cases, each reproducible by its seed: `make fuzz`, `make fuzz MINUTES=60 SEED=7`.

A difference is printed with its rule and row, and the run continues with the next seed. `--shrink` first searches for
the smallest table and rule that show it, which takes minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.fuzz.compare import Case, Tally, cases, differences

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fuzz(
    spark: SparkSession, seed: int, examples: int, most_rules: int, tally: Tally | None = None, shrink: bool = True
) -> Tally:
    """Compare `examples` random cases; raises AssertionError with the difference, shrunk if wanted."""
    seen = Tally() if tally is None else tally

    @seeded(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(cases(most_rules))
    def agree(case: Case) -> None:
        found = differences(spark, case, seen)
        assert not found, f"ANSI {case.ansi}, zone {case.zone}, columns {case.table.columns}:\n  " + "\n  ".join(
            found[:5]
        )

    agree()
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--shrink", action="store_true", help="look for the smallest case of a difference")
    parser.add_argument("--rules", type=int, default=40, help="most rules of a case")
    options = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has what the Python engine needs
    from pyspark.sql import SparkSession

    import sparkrules

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    home = tempfile.mkdtemp(prefix="sparkrules-fuzz-")
    builder = builder.config("spark.sql.warehouse.dir", f"{home}/warehouse")  # a run that was killed leaves tables
    spark = sparkrules.configure(builder, store=f"{home}/store").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    tally, end, seed = Tally(), time.monotonic() + 60 * options.minutes, options.seed
    print(f"fuzzing for {options.minutes:g} minutes from seed {seed}", flush=True)
    differences = 0
    while time.monotonic() < end:
        try:
            fuzz(spark, seed, 20, options.rules, tally, options.shrink)
        except AssertionError as difference:
            differences += 1
            print(f"seed {seed} finds a difference: {difference}", flush=True)
        except Exception as error:  # an engine that raises is a difference, too, and the run goes on
            differences += 1
            print(f"seed {seed} raises: {type(error).__name__}: {str(error)[:1000]}", flush=True)
        print(f"seed {seed}: {tally}", flush=True)
        seed += 1
    spark.stop()
    print(f"{differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
