"""Eight clients for a minute: no error, the same answers, and no more memory at the end than before."""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.servers.thrift import Client, Thrift

CLIENTS, SECONDS = 8, 60
GROWTH = 24 << 20  # bytes of heap; what Spark keeps for a while is some 5 MB, a leak of a plan per query hundreds
QUERIES = (
    "SELECT subscription_id, count(*) FROM alerts_raised GROUP BY subscription_id ORDER BY subscription_id",
    "SELECT count(*) FROM readings WHERE array_contains(match_subscriptions(*).ids, 'frost')",
    "SELECT city, sum(size(match_subscriptions('alerts', *).ids)) FROM readings GROUP BY city ORDER BY city",
)


def test_eight_clients_for_a_minute(
    thrift: Thrift, client: Client, expected: dict[str, int], metrics_port: int
) -> None:
    answers = {query: client.rows(query) for query in QUERIES}
    assert dict(answers[QUERIES[0]]) == expected

    def ask(until: float) -> int:
        asked = 0
        while asked == 0 or time.monotonic() < until:
            own = thrift.connect()  # clients come and go: sessions must not stay
            for query in QUERIES * 3:
                assert own.rows(query) == answers[query]
                asked += 1
            own.close()
        return asked

    def load(seconds: float) -> int:
        with ThreadPoolExecutor(CLIENTS) as pool:
            return sum(pool.map(ask, [time.monotonic() + seconds] * CLIENTS))

    load(0)  # more queries than the UI remembers
    before, resident_before = _heap(client, metrics_port), _resident(thrift.pid)
    asked = load(SECONDS)
    after, resident_after = _heap(client, metrics_port), _resident(thrift.pid)
    sys.stdout.write(
        f"{asked} queries in {SECONDS} s; heap {before >> 20} -> {after >> 20} MiB, "
        f"resident {resident_before >> 20} -> {resident_after >> 20} MiB\n"
    )
    assert asked >= CLIENTS * len(QUERIES) * 3
    assert after - before < GROWTH


def _heap(client: Client, metrics_port: int) -> int:
    """Bytes in use once garbage is collected; the least of a few times, as cleaners work beside."""
    used = []
    for _ in range(4):
        client.rows("SELECT reflect('java.lang.System', 'gc')")
        time.sleep(1)
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics_port}/metrics/json/") as answer:
            gauges = json.load(answer)["gauges"]
        used += [gauge["value"] for name, gauge in gauges.items() if name.endswith(".jvm.heap.used")]
    return int(min(used))


def _resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(kilobytes) << 10
