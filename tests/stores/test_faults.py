"""Publishers at once, publishers that die, and requests that fail: nothing is lost, and nothing is mixed."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.store import ObjectPath, Store, garbage
from tests.store.conformance import check_conformance
from tests.stores.crash_requests import SCENARIOS
from tests.stores.faults import FAULTS, failing_proxy
from tests.stores.s3_server import BUCKET, S3Server, environment

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="processes are forked and killed")]
AT_LENGTH = pytest.mark.skipif("SPARKRULES_TEST_STORES" not in os.environ, reason="takes long: run `make test-stores`")
PUBLISHERS, TIMES = 3, 5
OLD = {f"r{number}" for number in range(30)}
FIRST = OLD - {"r29"}
AFTER = {"delta": OLD - {"r7"} | {"new"}, "replace": {"new"}, "rollback": FIRST, "collect": OLD}
CHANGES = {"delta": 9, "replace": 6, "rollback": 1, "collect": 20}  # at least


def ids(store: str | Path, version: int | None = None) -> set[str]:
    return set(RuleSet.load("alerts", store, version).subscriptions)


def published_at_once(s3: S3Server, prefix: str, endpoint: str, tmp_path: Path) -> None:
    """Several processes add rules to a store, through an endpoint."""
    url = f"s3://{BUCKET}/{prefix}"
    rules = RuleSet("alerts")
    rules.subscribe("first", "a = 0")
    rules.publish(store=url)
    names = [f"p{number}" for number in range(PUBLISHERS)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.stores.publisher", url, name, str(TIMES)],
            env=os.environ | environment(endpoint),
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    said = [process.communicate(timeout=600)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * PUBLISHERS
    numbers = [[int(number) for number in own] for own in said]
    assert all(own == sorted(own) for own in numbers)
    every = sorted(number for own in numbers for number in own)
    assert every == list(range(2, 2 + PUBLISHERS * TIMES)), "each version has one publisher, and none is missing"
    local = s3.download(prefix, tmp_path / prefix)
    check_conformance(local, "alerts")
    assert ids(local) == {"first"} | {f"{name}-{number}" for name in names for number in range(TIMES)}
    # A version has what was published up to it, and nothing else.
    seen = {"first"}
    made = {
        number: f"{name}-{place}" for name, own in zip(names, numbers, strict=True) for place, number in enumerate(own)
    }
    for number in every:
        seen |= {made[number]}
        assert ids(local, number) == seen


@AT_LENGTH
def test_publishers_at_once(s3: S3Server, prefix: str, tmp_path: Path) -> None:
    published_at_once(s3, prefix, s3.endpoint, tmp_path)


def test_publishers_at_once_and_every_tenth_request_fails(s3: S3Server, prefix: str, tmp_path: Path) -> None:
    with failing_proxy(s3.endpoint) as proxy:
        published_at_once(s3, prefix, proxy.endpoint, tmp_path)
    assert {fault.split(" ", 1)[1] for fault in proxy.faults} == set(FAULTS)
    assert proxy.faults.total() == proxy.total.total() // 10


def test_every_way_to_lose_the_one_request_that_counts(
    s3: S3Server, prefix: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request that creates the manifest: its publisher knows whether it has won, whatever happens to it."""
    rules = RuleSet("alerts")
    rules.store = url

    def creates_a_version(method: str, path: str) -> bool:
        return method == "PUT" and path.endswith(".json")

    with failing_proxy(s3.endpoint, every=2, only=creates_a_version) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        rules.store = url
        for number in range(1, 13):
            rules.subscribe(f"r{number}", f"a = {number}")
            assert rules.publish() == number
    assert {fault for fault, _ in proxy.faults.items()} >= {f"PUT {fault}" for fault in FAULTS}
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.endpoint)
    assert [len(ids(url, number)) for number in range(1, 13)] == list(range(1, 13))


def test_a_lost_response_is_not_taken_for_a_rival(s3: S3Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ObjectPath.of(f"{url}/1.json")
    path.create(b"mine")
    path.create(b"mine")  # the request is repeated
    with pytest.raises(FileExistsError):
        path.create(b"a rival's")
    assert path.read_bytes() == b"mine"


@pytest.fixture(scope="module")
def pristine(server: S3Server) -> str:
    """Copied for every crash."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(server.endpoint).items():
            patch.setenv(name, value)
        rules = RuleSet("alerts")
        rules.subscribe_all((id, f"a = {id[1:]}") for id in sorted(FIRST))
        rules.publish(store=f"s3://{BUCKET}/pristine")
        rules.subscribe("r29", "a = 29")
        rules.publish(merge="all")
    return "pristine"


@pytest.mark.parametrize(
    "scenario", [pytest.param(own, marks=AT_LENGTH if own in ("collect", "replace") else ()) for own in SCENARIOS]
)
def test_whenever_it_dies_the_store_is_whole(
    scenario: str, s3: S3Server, pristine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "_LONGEST_RUN", 0.0)
    program = [sys.executable, "-m", "tests.stores.crash_requests", scenario, s3.endpoint, pristine]
    made = int(subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout)
    assert made > CHANGES[scenario]
    seen = [check_survivor(s3, f"{pristine}-{scenario}-{number}", scenario, tmp_path) for number in range(made)]
    assert seen == sorted(seen), "once the new version is there, it stays"
    if scenario != "collect":
        assert (seen[0], seen[-1]) == (2, 3)


def check_survivor(s3: S3Server, prefix: str, scenario: str, tmp_path: Path) -> int:
    """The newest version in the store, after everything that can be done with it has been done."""
    url = f"s3://{BUCKET}/{prefix}"
    local = s3.download(prefix, tmp_path / prefix)
    check_conformance(local, "alerts", finished=False)
    store = Store(url)
    newest = store.versions("alerts")[-1]
    expected = AFTER[scenario] if newest == 3 else OLD
    for version in store.versions("alerts"):
        assert ids(local, version) == {1: FIRST, 2: OLD, 3: AFTER[scenario]}[version]
    loaded = RuleSet.load("alerts", url)
    assert set(loaded.subscriptions) == expected
    gone = "new" if "new" in loaded else "r1"
    loaded.subscribe("after", "c = 1")
    loaded.unsubscribe(gone, force=True)
    assert loaded.publish() == newest + 1
    for _ in range(2):  # a copy that was put aside and its original
        loaded.collect_garbage(keep=1, older_than=timedelta(0))
    manifest = store.manifest("alerts")
    needed = {f"versions/{manifest.version}.json", *manifest.paths()}
    home = f"{prefix}/alerts/"
    assert {key.removeprefix(home) for key in s3.keys(home)} - {"tickets.key"} == needed
    assert ids(url) == expected - {gone} | {"after"}
    return newest
