"""A program that publishes to a store, for tests with several at once.

    python -m tests.stores.publisher STORE NAME COUNT

Adds rules NAME-0, NAME-1, ... to the rule set `alerts`, each in a version of its own, and prints the version's number.
"""

from __future__ import annotations

import sys

from sparkrules import RuleSet


def main() -> None:
    store, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rules = RuleSet.load("alerts", store)
    for number in range(count):
        rules.subscribe(f"{name}-{number}", f"a = {number} AND b = '{name}'")
        print(rules.publish(), flush=True)


if __name__ == "__main__":
    main()
