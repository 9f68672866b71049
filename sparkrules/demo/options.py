"""The options of the demo. Does not import PySpark, so that `sparkrules --help` responds at once."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for sizes and seed."""
    parser.add_argument("--rules", type=_count, default=10_000, metavar="N", help="how many rules (default: 10000)")
    parser.add_argument("--rows", type=_count, default=1_000_000, metavar="N", help="how many rows (default: 1000000)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="another seed gives other rules and rows (default: 0)"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"at least 1 is needed, not {text!r}")
    return int(text)
