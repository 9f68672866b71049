"""A job to look at: book auctions, ten thousand rules, a million rows. `sparkrules demo` and `make demo` run it."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code: 0, or 1 if something fails or plain Spark gives another answer."""
    from sparkrules.demo.show import show  # it needs PySpark, which importing sparkrules must not

    return show(arguments)
