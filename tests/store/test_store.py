"""A version appears whole or not at all and keeps its number. Errors about damage name the file."""

from __future__ import annotations

import json
import threading
import zlib
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pytest

from sparkrules.errors import CorruptStore, NewerFormat, StoreError
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.sql.tree import Constant, Predicate
from sparkrules.store import Store, default_store, location, place
from tests.specification.publish_tables import publish_tables
from tests.store.resealed import reseal, reseal_manifest


def tables(limit: int = 5) -> dict[str, pa.Table]:
    cheap = Predicate("price", "<", (Constant("integer", str(limit)),))
    return to_tables(build_segment([Rule("cheap", f"price < {limit}", cheap, 3, {"owner": "ops"})]))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def only_segment(store: Store, rule_set: str = "alerts") -> Path:
    (segment,) = (store.path / rule_set / "segments").iterdir()
    return segment


def test_what_was_published_is_read_back(store: Store) -> None:
    assert publish_tables(store, "alerts", tables()) == 1
    manifest, segments = store.read("alerts")
    assert segments == [tables()]
    assert (manifest.rule_set, manifest.version, manifest.subscriptions, manifest.predicates) == ("alerts", 1, 1, 1)


def test_the_files_are_those_of_the_documented_format(store: Store) -> None:
    publish_tables(store, "alerts", tables())
    manifest = json.loads((store.path / "alerts" / "versions" / "1.json").read_text())
    assert list(manifest) == [
        "format", "rule_set", "version", "created", "publisher", "action", "parent", "segments", "rejected",
        "default_validity", "subscriptions", "predicates", "nodes", "advertisements", "costs", "files", "general",
        "max_calls", "patterns", "conditions", "checksum",
    ]  # fmt: skip
    assert manifest["segments"] == [
        {"name": only_segment(store).name, "subscriptions": 1, "removed": None, "live": 1, "overlaps": None}
    ]
    attributes = f"segments/{only_segment(store).name}/attributes.arrow"
    content = (store.path / "alerts" / attributes).read_bytes()
    assert manifest["files"][attributes] == {"length": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    before, _, after = (store.path / "alerts" / "versions" / "1.json").read_bytes().rpartition(b'"checksum": "')
    assert after == f'{zlib.crc32(before):08x}"\n}}\n'.encode()
    with pa.memory_map(str(only_segment(store) / "subscriptions.arrow")) as file:
        read = pa.ipc.open_file(file).read_all()
    assert read.to_pylist() == [
        {"id": "cheap", "node": 0, "priority": 3, "where": "price < 5", "metadata": '{"owner": "ops"}', "sql": None}
        | {"valid_from": None, "valid_until": None, "ticket": None}
    ]


def test_an_empty_rule_set_can_be_published(store: Store) -> None:
    publish_tables(store, "empty", to_tables(build_segment([])))
    _, (segment,) = store.load("empty")
    assert len(segment.rules.id) == 0


def test_versions_count_up_and_old_ones_stay(store: Store) -> None:
    assert [publish_tables(store, "alerts", tables(limit)) for limit in (5, 6, 7)] == [1, 2, 3]
    assert store.versions("alerts") == [1, 2, 3]
    assert store.read("alerts", 2)[1][0]["constants"].column("text").to_pylist() == ["6"]
    assert store.manifest("alerts").version == 3


def test_version_ten_is_newer_than_nine(store: Store) -> None:
    for _ in range(10):
        publish_tables(store, "alerts", tables())
    assert store.manifest("alerts").version == 10


def test_rule_sets_are_listed(store: Store) -> None:
    assert store.rule_sets() == []
    publish_tables(store, "b", tables())
    publish_tables(store, "a", tables())
    (store.path / "unfinished" / "segments").mkdir(parents=True)
    (store.path / ".hidden").mkdir()
    assert store.rule_sets() == ["a", "b"]


def test_a_publish_that_dies_before_the_manifest_is_invisible(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    publish_tables(store, "alerts", tables(5))
    with monkeypatch.context() as patch:
        patch.setattr(place, "link", die)
        with pytest.raises(KeyboardInterrupt):
            publish_tables(store, "alerts", tables(6))
    assert store.versions("alerts") == [1]
    assert publish_tables(store, "alerts", tables(7)) == 2
    assert [file.name for file in sorted((store.path / "alerts" / "versions").iterdir())] == ["1.json", "2.json"]


@pytest.mark.parametrize("kind", ["fuse.gcsfuse", "fuse"])
def test_a_mounted_object_store_is_refused_rather_than_trusted(
    store: Store, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no hard links, and two machines may both succeed in making the same directory."""

    def no_links(*_: object) -> None:
        raise PermissionError("this file system has no links")

    publish_tables(store, "alerts", tables(5))
    mounts = f"/dev/sda1 / ext4 rw 0 0\nbucket {store.path} {kind} rw 0 0\n"
    mounted = place.object_store_mounted_at
    with monkeypatch.context() as patch:
        patch.setattr(place.os, "link", no_links)
        patch.setattr(place, "object_store_mounted_at", lambda path: mounted(path, mounts))
        with pytest.raises(
            StoreError, match=f"cannot be created safely: the {kind} file system at .* has no hard links"
        ):
            publish_tables(store, "alerts", tables(6))
    assert store.versions("alerts") == [1]
    assert [file.name for file in sorted((store.path / "alerts" / "versions").iterdir())] == ["1.json"]
    assert publish_tables(store, "alerts", tables(7)) == 2, "with links it works, whatever is mounted"


@pytest.mark.parametrize("path", ["/Volumes/main/rules/alerts/versions/1.json", "/dbfs/rules/alerts/versions/1.json"])
def test_the_file_systems_of_databricks_are_mounted_object_stores(path: str) -> None:
    assert "Databricks" in str(place.object_store_mounted_at(PurePosixPath(path), ""))


def test_paths_of_databricks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "_DATABRICKS", tmp_path / "dbfs")
    with pytest.raises(StoreError, match=r"is a path of Databricks, and .*dbfs is not mounted here"):
        Store("dbfs:/rules")
    (tmp_path / "dbfs").mkdir()
    assert Store("dbfs:/rules/a").path == tmp_path / "dbfs" / "rules" / "a"
    assert location.path_in_spark(Store("dbfs:/rules/a").path) == "dbfs:/rules/a"


@pytest.mark.parametrize("url", ["hdfs://cluster/rules", "webhdfs://cluster:9870/rules", "unheard-of://x/y"])
def test_a_file_system_without_a_client_in_python(url: str) -> None:
    with pytest.raises(StoreError, match=f"Python has no client for {url.partition(':')[0]}://: publish to s3://"):
        Store(url)


def test_an_azure_container_needs_its_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(StoreError, match=r"Write abfss://rules@ACCOUNT\.dfs\.core\.windows\.net/alerts, or set AZURE"):
        Store("az://rules/alerts")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    assert str(Store("az://rules/alerts").path) == "abfss://rules@account.dfs.core.windows.net/alerts"


@pytest.mark.parametrize("links", [True, False])
def test_publishers_at_once_all_get_a_number_of_their_own(
    store: Store, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError("this file system has no links")

    if not links:
        monkeypatch.setattr(place.os, "link", no_links)
    numbers: list[int] = []
    threads = [
        threading.Thread(target=lambda: numbers.append(publish_tables(store, "alerts", tables()))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == store.versions("alerts") == list(range(1, 9))
    assert all(store.read("alerts", number)[1] == [tables()] for number in numbers)


def test_what_is_not_there_is_said(store: Store) -> None:
    with pytest.raises(StoreError, match=r"no rule set 'alerts' in .*store; there are: none"):
        store.read("alerts")
    publish_tables(store, "alerts", tables())
    with pytest.raises(StoreError, match="no version 7 of rule set 'alerts'"):
        store.read("alerts", 7)
    with pytest.raises(StoreError, match="there are: alerts"):
        store.read("alarms")


@pytest.mark.parametrize("name", ["", ".hidden", "..", "a/b", "a b", "a'b", "é", "a@1", "a\n"])
def test_a_name_that_could_leave_its_place_is_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="is not a name"):
        publish_tables(store, name, tables())
    with pytest.raises(StoreError, match="is not a name"):
        store.read(name)


@pytest.mark.parametrize("file", ["attributes", "constants", "predicates", "nodes", "subscriptions", "functions"])
def test_a_missing_or_damaged_file_is_named(store: Store, file: str) -> None:
    publish_tables(store, "alerts", tables())
    path = only_segment(store) / f"{file}.arrow"
    whole = path.read_bytes()
    for part in (whole[: len(whole) // 2], whole[:10], b"", b"x" * len(whole)):
        path.write_bytes(part)
        with pytest.raises(CorruptStore, match=rf"{file}\.arrow is damaged .*publish the rule set again"):
            store.read("alerts")
    path.unlink()
    with pytest.raises(CorruptStore, match=rf"{file}\.arrow is missing"):
        store.read("alerts")


def test_files_of_different_segments_do_not_mix(store: Store) -> None:
    publish_tables(store, "alerts", tables())
    path = only_segment(store) / "constants.arrow"
    path.write_bytes((only_segment(store) / "attributes.arrow").read_bytes())
    with pytest.raises(CorruptStore, match=r"constants\.arrow is damaged"):
        store.read("alerts")
    reseal(store.path / "alerts")
    with pytest.raises(
        CorruptStore, match=r"constants\.arrow has the columns sql string, not kind string, text string"
    ):
        store.read("alerts")


def test_tables_that_contradict_each_other_are_refused_with_the_file(store: Store) -> None:
    publish_tables(store, "alerts", tables())
    other = Store(store.path.parent / "other")
    publish_tables(other, "alerts", to_tables(build_segment([])))
    (only_segment(store) / "attributes.arrow").write_bytes((only_segment(other) / "attributes.arrow").read_bytes())
    with pytest.raises(CorruptStore, match=r"attributes\.arrow is damaged"):
        store.load("alerts")
    reseal(store.path / "alerts")
    with pytest.raises(CorruptStore, match=r"predicates\.arrow is damaged \(predicates, row 0: attribute 0"):
        store.load("alerts")


def test_a_newer_format_is_refused(store: Store) -> None:
    publish_tables(store, "alerts", tables())
    file = store.path / "alerts" / "versions" / "1.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 6}))
    with pytest.raises(NewerFormat, match=r"1\.json has format 6, and this sparkrules reads the formats 2 to 5"):
        store.read("alerts")


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"format": 2}', '{"format": "x"}'])
def test_a_damaged_manifest_is_named(store: Store, text: str) -> None:
    publish_tables(store, "alerts", tables())
    (store.path / "alerts" / "versions" / "1.json").write_text(text)
    with pytest.raises(CorruptStore, match=r"1\.json is not a manifest"):
        store.read("alerts")


def test_a_segment_outside_of_the_store_is_not_read(store: Store) -> None:
    publish_tables(store, "alerts", tables())
    file = store.path / "alerts" / "versions" / "1.json"
    outside = {"name": "../../elsewhere", "subscriptions": 1, "removed": None, "live": 1}
    reseal_manifest(file, lambda fields: fields | {"segments": [outside]})
    with pytest.raises(StoreError, match="is not a name"):
        store.read("alerts")


def test_a_store_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file, not a directory")
    with pytest.raises(StoreError, match=r"rule set 'alerts' cannot be published to .*store"):
        publish_tables(Store(tmp_path / "store"), "alerts", tables())


def test_the_default_store_is_that_of_the_environment_or_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARKRULES_STORE", str(tmp_path))
    assert Store().path == tmp_path
    monkeypatch.delenv("SPARKRULES_STORE")
    assert default_store() == str(Path.home() / ".sparkrules" / "store")


def test_a_file_uri_is_a_path(tmp_path: Path) -> None:
    publish_tables(Store(f"file://{tmp_path}/a b"), "alerts", tables())
    assert Store(tmp_path / "a b").versions("alerts") == [1]
    assert Store(f"file:{tmp_path}/a b").versions("alerts") == [1]
