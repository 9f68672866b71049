"""A process that dies while publishing leaves the old version or the new one, and nothing that cannot be cleaned up."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.index import SCHEMAS
from sparkrules.store import Store
from tests.store.conformance import check_conformance
from tests.store.crash_points import SCENARIOS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="processes are forked and killed")]
OLD = {f"r{number}" for number in range(1_500)}
FIRST = OLD - {"r1499"}
AFTER = {
    "delta": OLD - {"r7"} | {"new"},
    "merge": OLD - {"r7"} | {"new"},
    "replace": {"new"},
    "advertise": OLD,
    "rollback": FIRST,
    "collect": OLD,
}
STEPS = {"delta": 50, "merge": 28, "replace": 26, "advertise": 30, "rollback": 12, "collect": 16}  # at least, on Linux


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copied for every crash."""
    store = tmp_path_factory.mktemp("crashes") / "pristine"
    rules = RuleSet("alerts")
    rules.subscribe_all((id, f"a = {id[1:]}") for id in sorted(FIRST))
    rules.store = store
    rules.publish()
    rules.subscribe("r1499", "a = 1499")
    rules.publish(merge="all")
    return store


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_whenever_it_dies_the_store_is_whole(scenario: str, pristine: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    program = Path(__file__).with_name("crash_points.py")
    subprocess.run([sys.executable, program, scenario, pristine, made], check=True)
    stores = sorted(made.iterdir(), key=lambda store: int(store.name))
    assert len(stores) > STEPS[scenario]
    seen = [check_survivor(store, scenario) for store in stores]
    assert seen == sorted(seen), "once the new version is there, it stays"
    if scenario != "collect":
        assert (seen[0], seen[-1]) == (2, 3)


def check_survivor(path: Path, scenario: str) -> int:
    """The newest version in the store, after everything that can be done with it has been done."""
    check_conformance(path, "alerts", finished=False)  # every file is there, and every segment checked
    store = Store(path)
    newest = store.versions("alerts")[-1]
    expected = AFTER[scenario] if newest == 3 else OLD
    for version in store.versions("alerts"):
        assert ids(path, version) == {1: FIRST, 2: OLD, 3: AFTER[scenario]}[version]
    loaded = RuleSet.load("alerts", path)
    assert set(loaded.subscriptions) == expected
    assert [rejected.id for rejected in loaded.rejected] == (["bad"] if (scenario, newest) == ("delta", 3) else [])

    pairs = [pair.subscription for pair in loaded.advertisements.overlaps()]
    assert pairs == ([f"r{number}" for number in range(1491, 1500)] if (scenario, newest) == ("advertise", 3) else [])

    gone = "new" if "new" in loaded else "r1"
    loaded.subscribe("after", "c = 1", ticket=True)
    loaded.unsubscribe(gone, force=True)
    assert loaded.publish() == newest + 1
    assert ids(path) == expected - {gone} | {"after"}

    loaded.collect_garbage(keep=1, older_than=timedelta(0))
    manifest = store.manifest("alerts")
    needed = {f"versions/{manifest.version}.json", "tickets.key"}
    segments = [entry.name for entry in manifest.segments]
    segments += [manifest.advertisements] if manifest.advertisements else []
    needed |= {f"segments/{name}/{table}.arrow" for name in segments for table in SCHEMAS}
    needed |= {f"overlaps/{entry.overlaps}.arrow" for entry in manifest.segments if entry.overlaps}
    needed |= {f"removed/{entry.removed}.arrow" for entry in manifest.segments if entry.removed}
    needed |= {f"rejected/{manifest.rejected}.arrow"} if manifest.rejected else set()
    assert {str(file.relative_to(path / "alerts")) for file in path.rglob("*") if file.is_file()} == needed
    store.load("alerts")
    assert ids(path) == expected - {gone} | {"after"}
    return newest


def ids(store: Path, version: int | None = None) -> set[str]:
    return set(RuleSet.load("alerts", store, version).subscriptions)
