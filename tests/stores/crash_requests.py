"""Repeats an operation on a store in a bucket, killing itself one change later each time: a program for test_faults.

    python -m tests.stores.crash_requests SCENARIO ENDPOINT PRISTINE

`PRISTINE-SCENARIO-<k>` is the store PRISTINE after the scenario was killed before its k-th request that changes the
bucket. The last one is not killed. Prints how many stores there are.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

from sparkrules import RuleSet
from sparkrules.store.object_path import Bucket
from tests.stores.s3_server import BUCKET, S3Server


def delta(store: str) -> None:
    rules = RuleSet.load("alerts", store)
    rules.subscribe("new", "b = 1", ticket=True)
    rules.subscribe_all({"bad": "a >"})
    rules.unsubscribe("r7")
    rules.publish(merge="none")


def replace(store: str) -> None:
    rules = RuleSet("alerts")
    rules.subscribe("new", "b = 1")
    rules.publish(store=store)


def rollback(store: str) -> None:
    RuleSet.load("alerts", store).rollback(1)


def collect(store: str) -> None:
    RuleSet.load("alerts", store).collect_garbage(keep=1, older_than=timedelta(0))


SCENARIOS: dict[str, Callable[[str], None]] = {own.__name__: own for own in (delta, replace, rollback, collect)}


def die_before_change(number: int) -> None:
    left = count(number, -1)

    class CountedClient:
        def __init__(self, client: Any) -> None:
            self.client = client

        def __getattr__(self, name: str) -> Any:
            if name in ("put", "copy", "delete") and next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return getattr(self.client, name)

    opened = Bucket.client.func
    Bucket.client = property(lambda own: CountedClient(opened(own)))  # type: ignore[assignment,misc]


def import_everything() -> None:
    """Modules that are imported when they are first needed: once here, not in each of the children."""
    import obstore.exceptions
    import obstore.store  # noqa: F401

    rules = RuleSet("first")
    rules.subscribe("rule", "a = 1", ticket=True)


def main() -> None:
    scenario, server, pristine = sys.argv[1], S3Server(sys.argv[2]), sys.argv[3]
    import_everything()
    for number in count():
        store = f"{pristine}-{scenario}-{number}"
        server.copy(pristine, store)
        child = os.fork()  # before obstore has any thread: only children make requests with it
        if child == 0:
            die_before_change(number)
            SCENARIOS[scenario](f"s3://{BUCKET}/{store}")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            print(number + 1)
            sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
