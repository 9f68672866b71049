"""A store in a bucket does everything that a store in a directory does."""

from __future__ import annotations

import json
import pickle
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.cli import main
from sparkrules.errors import CorruptStore, PublishConflict, SetupError, StoreError, WrongTicket
from sparkrules.store import ObjectPath, Store, garbage
from tests.store.conformance import check_conformance
from tests.store.small_store import NAME, answer_of, make_small_store
from tests.stores.faults import failing_proxy
from tests.stores.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server

NOW = timedelta(0)


def ids(store: str, version: int | None = None, name: str = "alerts") -> list[str]:
    return [rule.id for rule in RuleSet.load(name, store, version)]


def published(store: str, count: int = 5) -> RuleSet:
    """Version `n` has `n` rules."""
    rules = RuleSet("alerts")
    rules.store = store
    for number in range(count):
        rules.subscribe(f"r{number}", f"a = {number}")
        rules.publish()
    return rules


def test_every_kind_of_file_reads_as_a_copy_of_it_on_disk_does(
    s3: S3Server, prefix: str, url: str, tmp_path: Path
) -> None:
    ticket = make_small_store(url)
    local = s3.download(prefix, tmp_path)
    kinds = {key.split("/")[2] for key in s3.keys(f"{prefix}/{NAME}")}
    assert kinds == {"segments", "removed", "rejected", "overlaps", "versions", "statistics", "tickets.key"}
    check_conformance(local, NAME)
    assert answer_of(url, ticket) == answer_of(local, ticket)
    # The reverse: what was published to a directory can be copied to a bucket.
    for file in (file for file in local.rglob("*") if file.is_file()):
        s3.write(f"{prefix}-copied/{file.relative_to(local)}", file.read_bytes())
    assert answer_of(f"{url}-copied", ticket) == answer_of(local, ticket)


def test_versions_diff_and_rollback(url: str) -> None:
    rules = published(url)
    assert [manifest.version for manifest in rules.versions()] == [1, 2, 3, 4, 5]
    assert rules.diff(2, 4).added == ("r2", "r3")
    assert rules.rollback(2) == 6
    assert ids(url) == ["r0", "r1"]
    assert Store(url).rule_sets() == ["alerts"]
    assert repr(Store(url)) == f"Store('{url}')"


def test_a_ticket_protects_a_rule(url: str) -> None:
    rules = published(url, 1)
    ticket = rules.subscribe("mine", "a = 7", ticket=True)
    rules.publish()
    other = RuleSet.load("alerts", url)
    with pytest.raises(WrongTicket):
        other.unsubscribe("mine", ticket="guess")
    with pytest.raises(WrongTicket):
        Store(url).rollback("alerts", 1)
    replacement = RuleSet("alerts")
    replacement.subscribe("x", "a = 1")
    with pytest.raises(WrongTicket):
        replacement.publish(store=url)
    other.unsubscribe("mine", ticket=ticket)
    assert other.publish() == 3


def test_garbage_goes_and_what_is_needed_stays(s3: S3Server, prefix: str, url: str, tmp_path: Path) -> None:
    rules = published(url)
    s3.write(f"{prefix}/alerts/segments/half/nodes.arrow", b"")
    s3.write(f"{prefix}/alerts/removed/77aa.arrow", b"")
    found = rules.collect_garbage(keep=2, older_than=NOW)
    assert found.versions == (1, 2, 3)
    assert {"segments/half", "removed/77aa.arrow"} <= set(found.files)
    assert Store(url).versions("alerts") == [4, 5]
    assert ids(url) == [f"r{number}" for number in range(5)]
    check_conformance(s3.download(prefix, tmp_path), "alerts")
    rules.collect_garbage(keep=1, older_than=NOW)
    assert rules.collect_garbage(keep=1, older_than=NOW).files == ()
    kept = {f"{prefix}/alerts/{path}" for path in ("versions/5.json", *Store(url).manifest("alerts").paths())}
    assert set(s3.keys(f"{prefix}/")) == kept


def test_young_files_are_not_garbage(s3: S3Server, prefix: str, url: str) -> None:
    rules = published(url)
    s3.write(f"{prefix}/alerts/removed/77aa.arrow", b"")
    before = s3.keys(f"{prefix}/")
    assert str(rules.collect_garbage(keep=1)) == "0 versions, 0 files and segments"
    assert s3.keys(f"{prefix}/") == before


class TestGarbageBesidePublishers:
    def test_a_version_whose_files_are_gone_is_withdrawn(
        self, s3: S3Server, prefix: str, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rules = published(url)
        create = ObjectPath.create

        def collected_just_before(self: ObjectPath, content: bytes) -> None:
            Store(url).collect_garbage("alerts", older_than=NOW)
            create(self, content)

        rules.subscribe("new", "a = 7")
        with monkeypatch.context() as patch:
            patch.setattr(ObjectPath, "create", collected_just_before)
            with pytest.raises(StoreError, match=r"\.arrow was removed as garbage while version 6 .* was withdrawn"):
                rules.publish()
        assert Store(url).versions("alerts") == [1, 2, 3, 4, 5]
        assert f"{prefix}/alerts/versions/.6.withdrawn" in s3.keys(f"{prefix}/")
        assert rules.publish() == 7, "the number is not used again: somebody may have seen it"
        assert "new" in ids(url)

    def test_a_publisher_that_dies_while_it_withdraws_has_withdrawn(self, s3: S3Server, prefix: str, url: str) -> None:
        rules = published(url)
        s3.write(f"{prefix}/alerts/versions/.5.withdrawn", b"")
        assert Store(url).versions("alerts") == [1, 2, 3, 4]
        rules = RuleSet.load("alerts", url)
        rules.subscribe("new", "a = 7")
        assert rules.publish() == 6
        rules.collect_garbage(keep=3, older_than=NOW)
        assert Store(url).versions("alerts") == [3, 4, 6]
        assert not [key for key in s3.keys(f"{prefix}/alerts/versions") if "5" in key]

    def test_a_file_that_is_referred_to_meanwhile_is_put_back(
        self, s3: S3Server, prefix: str, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        published(url)
        store = Store(url)
        old = store.manifest("alerts", 1)
        s3.delete(f"{prefix}/alerts/versions/1.json")
        needed, calls = garbage._needed, []

        def published_meanwhile(versions: ObjectPath) -> set[str]:
            calls.append(needed(versions))
            if len(calls) == 1:
                assert store.commit(old, after=5) is not None
            return calls[-1]

        monkeypatch.setattr(garbage, "_needed", published_meanwhile)
        assert store.collect_garbage("alerts", keep=6, older_than=NOW).files == ()
        assert len(calls) == 2
        assert ids(url) == ["r0"]

    def test_what_a_run_that_died_has_put_aside_is_put_back_or_removed(
        self, s3: S3Server, prefix: str, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rules = published(url)
        home = ObjectPath.of(f"{url}/alerts/segments")
        needed = home / Store(url).manifest("alerts").segments[0].name
        needed.rename(home / f".{needed.name}.0123abcd.collecting")
        s3.write(f"{prefix}/alerts/segments/.half.0123abcd.collecting/nodes.arrow", b"")
        with pytest.raises(CorruptStore, match="is missing"):
            ids(url)
        assert rules.collect_garbage(older_than=NOW).files == (), "that run may still be at work"
        monkeypatch.setattr(garbage, "_LONGEST_RUN", 0.0)
        assert rules.collect_garbage(older_than=NOW).files == ("segments/half",)
        assert len(ids(url)) == 5


def test_the_command_line(s3: S3Server, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "alerts.csv"
    file.write_text("id,where\nhot,temperature > 30\ncold,temperature < 0\n", encoding="utf-8")
    (tmp_path / "rows.csv").write_text("temperature\n35\n5\n", encoding="utf-8")

    def said(*arguments: str) -> str:
        assert main([*arguments, "--store", url]) == 0, capsys.readouterr()
        return capsys.readouterr().out

    assert json.loads(said("publish", "--rules", str(file), "--ruleset", "alerts", "--json"))["store"] == url
    file.write_text("id,where\nhot,temperature > 31\n", encoding="utf-8")
    said("publish", "--rules", str(file), "--ruleset", "alerts")
    assert "2  " in said("versions", "--ruleset", "alerts")
    assert json.loads(said("diff", "--ruleset", "alerts", "1", "--json"))["removed"] == ["cold"]
    assert "version 3" in said("rollback", "--ruleset", "alerts", "1")
    assert "3" in said("versions")
    assert "hot" in said("match", "--ruleset", "alerts", str(tmp_path / "rows.csv"), "--engine", "python")
    assert "1 rule set" in said("doctor", "--no-spark")


def test_s3a_is_another_name_of_the_same_store(url: str) -> None:
    rules = published(url, 2)
    other = url.replace("s3://", "s3a://")
    assert Store(other).path == Store(url).path
    assert hash(Store(other).path) == hash(Store(url).path)
    assert str(Store(other).path) == other, "as Hadoop needs it"
    assert rules._publication.version_in(other) == 2
    rules.subscribe("more", "a = 1")
    assert rules.publish(store=other) == 3
    assert ids(other) == ids(url) == ["more", "r0", "r1"]


def test_a_path_survives_a_copy_to_another_process(url: str) -> None:
    published(url, 1)
    again = pickle.loads(pickle.dumps(Store(url).path))
    assert Store(again).versions("alerts") == [1]


def test_a_flipped_byte_is_an_error_that_names_the_file(s3: S3Server, prefix: str, url: str) -> None:
    make_small_store(url)
    store = Store(url)
    wrong = []
    for key in s3.keys(f"{prefix}/"):
        content = s3.read(key)
        s3.write(key, content[:-9] + bytes([content[-9] ^ 4]) + content[-8:])
        try:
            for version in store.versions(NAME):
                store.verify(store.load(NAME, version)[0])
            store.statistics(NAME), store.analysis(NAME)
            RuleSet.load(NAME, url).unsubscribe("mine", ticket="x")
            wrong.append(key)
        except StoreError as error:
            if key not in str(error):
                wrong.append(f"{key}: {error}")
        s3.write(key, content)
        s3.delete(key)
        s3.write(key, content)
    assert not wrong


def test_a_missing_object_is_named(s3: S3Server, prefix: str, url: str) -> None:
    published(url, 1)
    key = next(key for key in s3.keys(f"{prefix}/") if key.endswith("nodes.arrow"))
    s3.delete(key)
    with pytest.raises(CorruptStore, match=rf"s3://{BUCKET}/{key} is missing from the store: publish"):
        Store(url).load("alerts")


def test_statistics(url: str) -> None:
    published(url, 1)
    from sparkrules.store.statistics_file import STATISTICS

    row = {"attribute": "a", "position": 1, "lower": None, "upper": "3", "rows": 5, "total": 9, "nanoseconds": 0}
    table = pa.Table.from_pylist([row], STATISTICS)
    store = Store(url)
    assert [store.analyzed("alerts", table) for _ in range(2)] == [1, 2]
    found = store.statistics("alerts")
    assert found is not None
    assert found.to_pylist() == [row]


def test_a_large_segment_arrives_in_parts(url: str) -> None:
    """More than 5 MB: obstore uploads it in several requests, and it appears when the last one is done."""
    rules = RuleSet("alerts")
    rules.subscribe_all((f"r{number}", f"a = '{'x' * 700}{number}'") for number in range(9_000))
    rules.publish(store=url)
    sizes = [own.length for own in Store(url).manifest("alerts").files.values()]
    assert max(sizes) > 5 * 1024 * 1024
    assert len(ids(url)) == 9_000


class TestMessages:
    @pytest.fixture(autouse=True)
    def _no_waiting(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sparkrules.store.object_path._RETRIES", {"max_retries": 0})

    @pytest.mark.parametrize(
        "given",
        [
            f"s3://{ACCESS_KEY}:{SECRET_KEY}@rules/x",
            f"s3a://{ACCESS_KEY}@rules/x",
            f"s3a://{ACCESS_KEY}:a/{SECRET_KEY}@rules/x",
            f"s3://rules/x?secret={SECRET_KEY}{ACCESS_KEY}",
            f"abfss://{ACCESS_KEY}:{SECRET_KEY}@account.dfs.core.windows.net/x",
            f"abfss://c@account.dfs.core.windows.net/x?sig={SECRET_KEY}{ACCESS_KEY}",
        ],
    )
    def test_credentials_in_a_url_are_refused_and_not_repeated(
        self, given: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(StoreError, match="contains credentials: remove them") as error:
            Store(given)
        assert ACCESS_KEY not in str(error.value)
        assert SECRET_KEY not in str(error.value)
        assert main(["versions", "--store", given]) != 0
        printed = "".join(capsys.readouterr())
        assert "contains credentials" in printed
        assert ACCESS_KEY not in printed
        assert SECRET_KEY not in printed

    def test_what_a_server_says_about_keys_is_left_out(
        self, s3: S3Server, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with failing_proxy(s3.endpoint, denies=f"<Code>InvalidAccessKeyId</Code><Key>{ACCESS_KEY}</Key>") as proxy:
            monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
            with pytest.raises(StoreError, match=r"access denied \(403 Forbidden, InvalidAccessKeyId\)") as error:
                published(url, 1)
        assert ACCESS_KEY not in str(error.value)
        assert error.value.__suppress_context__

    def test_a_bucket_that_does_not_exist(self, s3: S3Server) -> None:
        with pytest.raises(StoreError, match="there is no bucket s3://nobody"):
            published("s3://nobody/rules", 1)
        with pytest.raises(StoreError, match="there is no bucket s3://nobody"):
            ids("s3://nobody/rules")

    def test_a_server_that_does_not_answer(self, s3: S3Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        with pytest.raises(StoreError, match=rf"{url}/alerts/.*: the request failed") as error:
            published(url, 1)
        assert SECRET_KEY not in str(error.value)

    def test_without_obstore(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in [name for name in sys.modules if name.split(".")[0] == "obstore"]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, "obstore", None)
        with pytest.raises(SetupError, match=r"pip install 'sparkrules-engine\[cloud\]'"):
            published(url, 1)

    def test_a_rule_set_that_does_not_exist(self, url: str) -> None:
        published(url, 1)
        with pytest.raises(StoreError, match=rf"there is no rule set 'alarms' in {url}; there are: alerts"):
            RuleSet.load("alarms", url)


def test_a_request_that_fails_is_not_taken_for_damage(s3: S3Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage may be overwritten. What cannot be read now may be somebody's rules."""
    rules = published(url, 1)
    rules.subscribe("mine", "a = 7", ticket=True)
    rules.publish()
    monkeypatch.setattr("sparkrules.store.object_path._RETRIES", {"max_retries": 0})
    other = RuleSet("alerts")
    other.subscribe("x", "a = 1")
    with failing_proxy(s3.endpoint, every=1, only=lambda how, what: how == "GET" and ".arrow" in what) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        with pytest.raises(StoreError, match="request failed"):
            other.publish(store=url)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.endpoint)
    assert ids(url) == ["mine", "r0"]


def test_a_server_that_ignores_conditions_is_refused(
    s3: S3Server, prefix: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_proxy(s3.endpoint, every=10**9, strips="if-none-match") as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        with pytest.raises(StoreError, match="cannot create an object only if there is none of its name"):
            published(url, 1)
    assert not [key for key in s3.keys(f"{prefix}/") if "/versions/" in key]


def test_those_who_change_the_same_rule_are_in_conflict(url: str) -> None:
    first = published(url, 2)
    second = RuleSet.load("alerts", url)
    for rules in (first, second):
        rules.unsubscribe("r0")
    first.subscribe("r0", "a = 100")
    second.subscribe("r0", "a = 200")
    first.publish()
    with pytest.raises(PublishConflict, match="'r0'"):
        second.publish()
