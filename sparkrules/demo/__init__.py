"""A demo job: book auctions, ten thousand rules, a million rows. Run it with `sparkrules demo` or `make demo`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sparkrules.demo.options import add_options

__all__ = ["DESCRIPTION", "add_options", "main", "run"]

DESCRIPTION = "Match generated book auctions against generated rules, on a Spark inside this process."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code: 0, or 1 if something fails or plain Spark gives a different answer."""
    parser = argparse.ArgumentParser(prog="sparkrules demo", description=DESCRIPTION)
    add_options(parser)
    return run(parser.parse_args(arguments))


def run(options: argparse.Namespace) -> int:
    """Run the demo with parsed options."""
    from sparkrules.demo.show import show  # needs PySpark, which importing sparkrules must not

    return show(options)
