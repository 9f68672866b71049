"""Whatever happens to a file of the store, the plugin gives the same answer, or an error names the file.

Tests all bytes of all files with SPARKRULES_HOSTILE=1, otherwise a sample.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from sparkrules import RuleSet
from sparkrules.store import Store
from sparkrules.store.checksum import BLOCK
from tests.spark.java_errors import plain_java_errors
from tests.spark.oracle import settings
from tests.store.resealed import reseal, unverified
from tests.store.small_store import NAME, files_of, make_small_store, sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY = 1 if os.environ.get("SPARKRULES_HOSTILE") else 97
ROWS = "VALUES (35, false, 'Rome'), (-5, true, 'Oslo'), (1, NULL, NULL) AS t(temperature, indoors, city)"
_FOR_USERS = "org.apache.spark.SparkThrowable"
TABLES = (
    "subscriptions",
    "predicates",
    "rejected",
    "advertisements",
    "overlaps",
    "selectivity",
    "statistics",
    "versions",
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store; whoever changes it puts it right again."""
    path = tmp_path_factory.mktemp("small")
    make_small_store(path)
    return path


def read_all(spark: SparkSession, path: Path) -> None:
    """Read all files of the store with the plugin's own reader, past Spark and what it has cached."""
    # Names that Python holds on to: each dot is a question to Java, and the store is read hundreds of times.
    jvm: Any = spark.sparkContext._jvm
    room = jvm.sparkrules.store
    store = room.Store(str(path), spark._jsc.hadoopConfiguration(), jvm.sparkrules.conf.AllowedRuleSets.All())
    files, of_version = room.OpenFiles(store), room.Version
    try:
        for number in Store(path).versions(NAME):
            manifest = store.manifest(of_version(str(path), NAME, number))
            own = manifest.files()
            for i in range(own.length()):
                files.rowCount(NAME, own.apply(i))
            segments = manifest.segments()
            for i in range(segments.length()):
                segment = segments.apply(i)
                store.segment(NAME, segment)
                store.removed(NAME, segment, segment.subscriptions())
        statistics = store.newestStatistics(NAME).get()
        store.statistics(NAME, statistics)
        store.countedTests(NAME, statistics)
    finally:
        files.close()


def error_of(spark: SparkSession, path: Path) -> str:
    """What the reader says, "" if nothing is wrong; an error that is not meant for users fails the test."""
    try:
        with plain_java_errors():
            read_all(spark, path)
    except Py4JJavaError as error:
        said = str(error.java_exception.getMessage())
        if "[SPARKRULES]" not in said or not is_instance_of(spark._sc._gateway, error.java_exception, _FOR_USERS):
            raise AssertionError(str(error)) from error
        return said
    return ""


def test_flipped_bits(spark: SparkSession, small: Path) -> None:
    assert error_of(spark, small) == ""
    turn, flips = count(), 0
    for file in files_of(small):
        if file.name == "tickets.key":
            continue
        whole = file.read_bytes()
        for at in sampled(len(whole), EVERY, next(turn) * 7):
            for bits in (1 << at % 8,) if at % 16 else (1 << at // 16 % 8, 0xFF):
                file.write_bytes(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])
                flips += 1
                assert str(file) in error_of(spark, small), (file, at, bits)
        file.write_bytes(whole)
    assert flips > 200
    assert error_of(spark, small) == ""


def test_cut_lengthened_and_swapped_files(spark: SparkSession, small: Path, tmp_path: Path) -> None:
    make_small_store(tmp_path)
    for file in files_of(small):
        if file.name == "tickets.key":
            continue
        whole = file.read_bytes()
        others = [own for own in files_of(small) + files_of(tmp_path) if own.name == file.name]
        others += [own for own in files_of(small) if own.suffix == file.suffix][:3]
        damages = {whole[:-1], whole[: len(whole) // 2], b"", whole + b"\0", whole + whole}
        for content in damages | {own.read_bytes() for own in others} - {whole}:
            file.write_bytes(content)
            error = error_of(spark, small)
            # The manifest of a rule set of the same name in another store refers to files of that.
            assert str(file) in error or "is missing from the store" in error, (file, content)
        file.write_bytes(whole)


def test_manifests_of_others(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("alerts", "alarms"):
        rules = RuleSet(name)
        for id in ("a", "b"):
            rules.subscribe(id, "temperature > 1")
            rules.store = tmp_path
            rules.publish()
    shutil.copytree(tmp_path / "alarms" / "segments", tmp_path / "alerts" / "segments", dirs_exist_ok=True)
    query = f"SELECT match_subscriptions('alerts', *) FROM {ROWS}"
    with settings(spark, **{"spark.sparkrules.store": str(tmp_path)}):
        for old in (False, True):
            for name in ("alerts", "alarms") if old else ():
                unverified(tmp_path / name)
            for source, said in (
                ("alarms/versions/2", "version 2 of rule set 'alarms'"),
                ("alerts/versions/1", "version 1"),
            ):
                shutil.copy(tmp_path / f"{source}.json", tmp_path / "alerts" / "versions" / "3.json")
                with pytest.raises(PySparkException, match=rf"3\.json is damaged \(it is the manifest of {said}"):
                    spark.sql(query).collect()
            (tmp_path / "alerts" / "versions" / "3.json").unlink()


@pytest.fixture
def copies(small: Path, tmp_path: Path) -> Iterator[Path]:
    """Copies of the store, each of which no query has seen."""
    return (shutil.copytree(small, tmp_path / str(number)) for number in count())


def answers(spark: SparkSession, path: Path) -> dict[str, Any]:
    """What queries say; an error in place of an answer."""
    queries = {table: f"SELECT * FROM sparkrules.{NAME}.{table} ORDER BY ALL" for table in TABLES}
    queries["match"] = f"SELECT match_subscriptions('{NAME}', *).ids FROM {ROWS}"
    queries["overlap"] = f"SELECT overlap_subscriptions('{NAME}', *) FROM {ROWS}"
    found: dict[str, Any] = {}
    with settings(spark, **{"spark.sparkrules.store": str(path)}):
        for name, query in queries.items():
            try:
                found[name] = [tuple(row) for row in spark.sql(query).collect()]
            except PySparkException as error:
                found[name] = str(error)
    return found


def test_queries(spark: SparkSession, small: Path, copies: Iterator[Path]) -> None:
    expected = answers(spark, small)
    assert not any(isinstance(answer, str) for answer in expected.values()), expected
    chance, errors = random.Random(5), 0
    for number, path in zip(range(200 if EVERY == 1 else 8), copies, strict=False):
        file = files_of(path)[number % len(files_of(path)) if EVERY == 1 else chance.randrange(len(files_of(path)))]
        content = bytearray(file.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        file.write_bytes(content)
        for query, answer in answers(spark, path).items():
            if isinstance(answer, str):
                errors += 1
                assert str(file) in answer and "[SPARKRULES]" in answer, (query, answer)  # noqa: PT018
            else:
                assert answer == expected[query], f"a silent difference: {query} {file}"
    assert errors > 3


@pytest.mark.parametrize("sealed", [False, True], ids=["without checksums", "with checksums of the damage"])
def test_damage_that_no_checksum_finds_is_no_strange_error(
    spark: SparkSession, small: Path, tmp_path: Path, sealed: bool
) -> None:
    """Then we can only expect a different answer, or a store error."""
    old = tmp_path / "old"
    shutil.copytree(small, old)
    if not sealed:
        unverified(old / NAME)
    turn, errors = count(), 0
    for file in files_of(old):
        whole = file.read_bytes()
        if file.name == "tickets.key" or (sealed and file.suffix != ".arrow"):
            continue
        for at in sampled(len(whole), 2 * EVERY, next(turn) * 11):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
            if sealed:
                reseal(old / NAME)
            errors += error_of(spark, old) != ""
        file.write_bytes(whole)
        if sealed:
            reseal(old / NAME)
    assert errors > 10


def test_files_of_several_blocks(spark: SparkSession, tmp_path: Path) -> None:
    """Only the blocks that are read are checked, and reads across their edges are correct."""
    rules = RuleSet(NAME)
    texts = {f"r{i:05}": f"city = '{'x' * 300}{i}' OR temperature > {i}" for i in range(4_000)}
    rules.subscribe_all(texts)
    rules.store = tmp_path
    rules.publish()
    (segment,) = (tmp_path / NAME / "segments").iterdir()
    file = segment / "subscriptions.arrow"
    whole = file.read_bytes()
    assert len(whole) > 4 * BLOCK
    table = f"sparkrules.{NAME}.subscriptions"
    with settings(spark, **{"spark.sparkrules.store": str(tmp_path)}):
        assert dict(spark.sql(f"SELECT id, `where` FROM {table}").collect()) == texts
        assert spark.sql(f"SELECT count(*) FROM {table} WHERE `where` LIKE '%x39%'").first() == (111,)
        at = whole.index(b"x2000' OR temperature > 2000")
        file.write_bytes(whole[:at] + b"y" + whole[at + 1 :])
        assert [row.id for row in spark.sql(f"SELECT id FROM {table} ORDER BY id").collect()] == sorted(texts)
        with pytest.raises(PySparkException, match=r"subscriptions\.arrow is damaged \(its checksum is not the one"):
            spark.sql(f"SELECT `where` FROM {table}").collect()
        found = spark.sql(f"SELECT match_subscriptions('{NAME}', *).ids FROM VALUES (3, 'z') AS t(temperature, city)")
        assert found.first() == (["r00000", "r00001", "r00002"],)
