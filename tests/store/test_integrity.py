"""Whatever happens to a file of the store, the answer is the same, or an error names the file.

Tests all bytes of all files with SPARKRULES_HOSTILE=1, otherwise a sample.
"""

from __future__ import annotations

import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.errors import CorruptStore, NewerFormat, SparkRulesError, StoreError
from sparkrules.store import Store
from sparkrules.store.checksum import BLOCK, FileSum, SummedFile
from tests.store.resealed import reseal, reseal_manifest, unverified
from tests.store.small_store import NAME, answer_of, files_of, make_small_store, sampled

EVERY = 1 if os.environ.get("SPARKRULES_HOSTILE") else 131


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A store, a ticket and the answer; whoever changes the store puts it right again."""
    path = tmp_path_factory.mktemp("small")
    ticket = make_small_store(path)
    return path, ticket, answer_of(path, ticket)


def assert_same_or_named(small: tuple[Path, str, str], file: Path, content: bytes) -> bool:
    """Whether it was an error."""
    path, ticket, answer = small
    whole = file.read_bytes()
    file.write_bytes(content)
    try:
        found = answer_of(path, ticket)
    except StoreError as error:
        # The manifest of a rule set of the same name in another store refers to files of that.
        is_named = str(file) in str(error) or "is missing from the store" in str(error)
        is_known = isinstance(error, (CorruptStore, NewerFormat)) or file.name == "tickets.key"
        assert is_named and is_known, f"{file}: {error}"  # noqa: PT017, PT018
        return True
    finally:
        file.write_bytes(whole)
    assert found == answer, f"a silent difference: {file}"
    return False


def test_flipped_bits(small: tuple[Path, str, str]) -> None:
    flips = errors = 0
    turn = count()
    for file in files_of(small[0]):
        whole = file.read_bytes()
        for at in sampled(len(whole), EVERY, next(turn) * 7):
            for bits in (1 << at % 8,) if at % 16 else (1 << at // 16 % 8, 0xFF):
                flips += 1
                errors += assert_same_or_named(small, file, whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])
    assert errors == flips > 150, "a byte that nobody has a checksum of"
    assert answer_of(small[0], small[1]) == small[2]


def test_cut_and_lengthened_files(small: tuple[Path, str, str]) -> None:
    for file in files_of(small[0]):
        whole = file.read_bytes()
        cuts = {0, 1, len(whole) // 2, len(whole) - 8, len(whole) - 1}
        for content in [
            *(whole[:cut] for cut in cuts),
            whole + b"\0",
            whole + b"\n",
            whole + whole,
            whole + b"\0" * 256,
        ]:
            assert assert_same_or_named(small, file, content)
        file.write_bytes(whole)


def test_files_in_each_others_place(small: tuple[Path, str, str], tmp_path: Path) -> None:
    make_small_store(tmp_path)
    everything = files_of(small[0]) + files_of(tmp_path)
    for file in files_of(small[0]):
        whole = file.read_bytes()
        others = [own for own in everything if own.parent.parent == file.parent.parent or own.name == file.name]
        for another in {own.read_bytes() for own in others if own.suffix == file.suffix} - {whole}:
            # With the key of another store the tickets are refused, as they should be.
            assert file.suffix == ".key" or assert_same_or_named(small, file, another)


def test_manifests_of_others(tmp_path: Path) -> None:
    for name in ("alerts", "alarms"):
        rules = RuleSet(name)
        for id in ("a", "b"):
            rules.subscribe(id, f"{name} > 1")
            rules.store = tmp_path
            rules.publish()
    store, versions = Store(tmp_path), tmp_path / "alerts" / "versions"
    shutil.copytree(tmp_path / "alarms" / "segments", tmp_path / "alerts" / "segments", dirs_exist_ok=True)
    for mark in (lambda: None, lambda: (unverified(tmp_path / "alerts"), unverified(tmp_path / "alarms"))):
        mark()
        shutil.copy(tmp_path / "alarms" / "versions" / "2.json", versions / "3.json")
        with pytest.raises(CorruptStore, match=r"3\.json is the manifest of version 2 of rule set 'alarms', not of"):
            RuleSet.load("alerts", tmp_path)
        shutil.copy(versions / "1.json", versions / "3.json")
        with pytest.raises(CorruptStore, match=r"3\.json is the manifest of version 1 of rule set 'alerts', not of"):
            store.manifest("alerts")
        (versions / "3.json").unlink()
    assert [rule.id for rule in RuleSet.load("alerts", tmp_path)] == ["a", "b"]


def test_a_manifest_does_not_pass_for_one_without_checksums(small: tuple[Path, str, str]) -> None:
    file = small[0] / NAME / "versions" / "2.json"
    whole = file.read_bytes()
    for content in (whole.replace(b'"format": 3', b'"format": 2'), whole.replace(b'"format": 3', b'"format": 4')):
        assert assert_same_or_named(small, file, content)
    reseal_manifest(file, lambda fields: fields | {"files": {}})
    try:
        with pytest.raises(CorruptStore, match=r"2\.json has no checksum of "):
            Store(small[0]).manifest(NAME)
    finally:
        file.write_bytes(whole)


def test_versions_of_an_older_sparkrules(small: tuple[Path, str, str], tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(small[0], old)
    unverified(old / NAME)
    store = Store(old)
    assert [store.manifest(NAME, number).verified for number in store.versions(NAME)] == [False, False]
    assert {rule.id for rule in RuleSet.load(NAME, old)} == {rule.id for rule in RuleSet.load(NAME, small[0])}
    rules = RuleSet.load(NAME, old)
    rules.subscribe("later", "temperature = 7")
    rules.publish(merge="none")
    manifest = store.manifest(NAME)
    assert manifest.verified
    store.verify(manifest)
    assert manifest.files.keys() == set(manifest.paths())
    assert store.rollback(NAME, 1, force=True) == 4
    assert store.manifest(NAME).verified


@pytest.mark.parametrize("sealed", [False, True], ids=["without checksums", "with checksums of the damage"])
def test_damage_that_no_checksum_finds_is_no_strange_error(
    small: tuple[Path, str, str], tmp_path: Path, sealed: bool
) -> None:
    """Then we can only expect a different answer, or a store error."""
    old = tmp_path / "old"
    shutil.copytree(small[0], old)
    if not sealed:
        unverified(old / NAME)
    turn, errors = count(), 0
    for file in files_of(old):
        whole = file.read_bytes()
        if sealed and file.suffix != ".arrow":
            continue
        for at in sampled(len(whole), EVERY, next(turn) * 11):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
            if sealed:
                reseal(old / NAME)
            try:
                answer_of(old, small[1])
            except SparkRulesError:
                errors += 1
        file.write_bytes(whole)
        if sealed:
            reseal(old / NAME)
    assert errors > 10


def test_the_checksum_of_a_file_is_that_of_its_blocks(tmp_path: Path) -> None:
    content = bytes(range(256)) * (BLOCK // 128) + b"end"
    for size in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, len(content)):
        with (tmp_path / "file").open("wb") as out:
            summed = SummedFile(out)
            for start in range(0, size, 100_000):
                summed.write(content[start : min(start + 100_000, size)])
        assert (tmp_path / "file").read_bytes() == content[:size]
        assert summed.sum == FileSum.of(content[:size])
        assert len(summed.sum.crc32) == 8 * -(-size // BLOCK)
    flipped = bytearray(content)
    flipped[BLOCK] ^= 1
    with pytest.raises(CorruptStore, match="its checksum"):
        FileSum.of(content).check(bytes(flipped), tmp_path, "publish")
