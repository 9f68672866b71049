"""A store in a container of Azure, as far as Azurite is one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.errors import StoreError
from sparkrules.store import ObjectPath, Store
from tests.store.small_store import NAME, answer_of, make_small_store
from tests.stores.azure_server import ACCOUNT, CONTAINER, KEY, azure_server, azurite, environment
from tests.stores.faults import failing_proxy

URL = f"abfss://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net"
PUBLISHERS, TIMES = 3, 4


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pytest.importorskip("obstore")
    program = azurite()
    if program is None:
        pytest.skip("Azurite is not installed: run `make test-stores`")
    with azure_server(program) as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def endpoint(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)
    return server


def copied(url: str, directory: Path) -> Path:
    """A store as a local directory."""
    home = ObjectPath.of(url)
    for path in home._inside():
        file = directory / path.key.removeprefix(f"{home.key}/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.read_bytes())
    return directory


def test_every_kind_of_file_reads_as_a_copy_of_it_on_disk_does(tmp_path: Path) -> None:
    ticket = make_small_store(f"{URL}/small")
    assert answer_of(f"{URL}/small", ticket) == answer_of(copied(f"{URL}/small", tmp_path), ticket)


def test_versions_rollback_diff_and_garbage() -> None:
    url = f"az://{CONTAINER}/life"
    rules = RuleSet("alerts")
    rules.store = url
    for number in range(4):
        rules.subscribe(f"r{number}", f"a = {number}")
        assert rules.publish() == number + 1
    assert str(Store(url).path) == f"{URL}/life", "as Hadoop needs it"
    assert rules.diff(2, 4).added == ("r2", "r3")
    assert rules.rollback(2) == 5
    assert rules.collect_garbage(keep=1, older_than=timedelta(0)).versions == (1, 2, 3, 4)
    assert list(RuleSet.load("alerts", url).subscriptions) == ["r0", "r1"]
    home = ObjectPath.of(f"{URL}/life/alerts")
    left = {path.key.removeprefix("life/alerts/") for path in home._inside()}
    assert left == {"versions/5.json", *Store(url).manifest("alerts").paths()}


def test_a_container_that_does_not_exist() -> None:
    with pytest.raises(StoreError, match="there is no bucket abfss://nobody@"):
        RuleSet.load("alerts", "az://nobody/rules")


def test_a_wrong_key_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "d3Jvbmc" + KEY[7:]
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", wrong)
    with pytest.raises(StoreError, match="access denied") as error:
        RuleSet.load("alerts", f"{URL}/small")
    assert wrong not in str(error.value)


def test_publishers_at_once_and_every_tenth_request_fails(endpoint: str) -> None:
    url = f"{URL}/busy"
    rules = RuleSet("alerts")
    rules.subscribe("first", "a = 0")
    rules.publish(store=url)
    names = [f"p{number}" for number in range(PUBLISHERS)]
    with failing_proxy(endpoint) as proxy:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.stores.publisher", url, name, str(TIMES)],
                env=os.environ | environment(proxy.endpoint),
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in names
        ]
        said = [process.communicate(timeout=600)[0].split() for process in processes]
    assert proxy.faults.total() > 10
    assert sorted(int(number) for own in said for number in own) == list(range(2, 2 + PUBLISHERS * TIMES))
    expected = {"first"} | {f"{name}-{number}" for name in names for number in range(TIMES)}
    assert set(RuleSet.load("alerts", url).subscriptions) == expected
    store = Store(url)
    for version in store.versions(NAME):
        store.verify(store.load(NAME, version)[0])
