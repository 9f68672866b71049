"""Rules read from any source are the same."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from sparkrules.rules.sources import RuleRow, read_rules

HOT = RuleRow("hot", "temperature > 30", 5, {"owner": "ops"})
COLD = RuleRow("cold", "temperature < 0")


@dataclass
class Kept:
    id: str
    where: str


def rows(source: object) -> list[RuleRow]:
    return list(read_rules(source))


def written(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


@pytest.mark.parametrize(
    "source",
    [
        [tuple(HOT), tuple(COLD)],
        [HOT, {"id": "cold", "where": "temperature < 0", "other": "ignored"}],
        [HOT, Kept("cold", "temperature < 0")],
        {"hot": {"where": "temperature > 30", "priority": 5, "metadata": {"owner": "ops"}}, "cold": "temperature < 0"},
    ],
)
def test_python_objects(source: object) -> None:
    assert rows(source) == [HOT, COLD]


def test_a_generator_is_read() -> None:
    def generate() -> Iterator[tuple[str, str]]:
        yield "cold", "temperature < 0"

    assert rows(generate()) == [COLD]


def test_a_row_of_the_wrong_shape_is_rejected_with_the_right_shape() -> None:
    made = RuleSet("r")
    odd = [("a",), (), "text", None, {"name": "x", "condition": "y"}, ("b", "x > 1", *[None] * 8)]
    assert made.subscribe_all([*odd, ("c", "x > 1")]) == 1
    assert [found.id for found in made.rejected] == ["a", "", "", "", "", "b"]
    reasons = [found.reason for found in made.rejected]
    assert reasons[0] == (
        "a rule has 2 to 9 fields (id, where, priority, metadata, valid_from, valid_until, status, tags, exemptions), "
        "but this has 1"
    )
    assert reasons[2] == "a rule is a pair (id, where), or has fields with these names, not 'text'"
    assert reasons[4] == "a rule has the fields id and where, but this has name, condition"
    assert reasons[5].endswith("but this has 10")


def test_one_rule_is_not_taken_for_a_mapping_of_ids() -> None:
    with pytest.raises(RuleSetError, match="this is one rule"):
        rows({"id": "hot", "where": "temperature > 30"})


@pytest.mark.parametrize("source", ["temperature > 30", "a = 1 AND b = 2"])
def test_a_text_is_not_taken_for_a_path(source: str) -> None:
    with pytest.raises(RuleSetError, match=r"subscribe\(id, where\)"):
        rows(source)


def test_ids_and_fields_as_numpy_and_pandas_have_them() -> None:
    made = RuleSet("r")
    found = made.subscribe_all([(np.int64(7), "x > 1", 5.0), (float("nan"), "x > 1"), ("b", float("nan")), (True, "x")])
    assert found == 1
    assert (made.subscriptions["7"].priority, len(made.rejected)) == (5, 3)
    frame = pd.DataFrame({"ID": [1, 2], "Where ": ["x > 1", None], "priority": [3, None]}, index=[5, 6])
    assert made.subscribe_all(frame) == 1
    assert made.subscriptions["1"].priority == 3
    assert made.subscribe_all(pl.DataFrame({"id": ["p"], "where": ["x > 1"]})) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.json", '[{"id": "cold", "where": "temperature < 0"}]'),
        ("r.json", '{"cold": "temperature < 0"}'),
        ("r.json", '{"rules": [{"id": "cold", "where": "temperature < 0"}]}'),
        ("r.json", '{"id": "cold",\n "where": "temperature < 0"}'),
        ("r.yaml", "rules:\n- id: cold\n  where: temperature < 0\n"),
        ("r.yaml", "id: cold\nwhere: temperature < 0\n"),
        ("r.csv", "ID, Where\ncold,temperature < 0\n"),
    ],
)
def test_files_as_people_write_them(tmp_path: Path, name: str, text: str) -> None:
    assert rows(written(tmp_path, name, text)) == [COLD]


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("r.csv", 'id,where\na,x > 1\n"b","x >\n1 AND"\n\n,\nc,x >\n', ["line 3", "line 6", "line 7"]),
        ("r.jsonl", '{"id": "a", "where": "x > 1"}\n\n{"id": "b", "where": "x >"}\n5\n', ["line 3", "line 4"]),
        ("r.yaml", "- {id: a, where: x > 1}\n- {id: b, where: x >}\n- 5\n", ["rule 2", "rule 3"]),
        ("r.json", '{"a": "x > 1", "b": "x >"}', ["rule 2"]),
        ("r.csv", "id,where\na,x > 1\na,x > 2\n", ["line 3"]),
    ],
)
def test_a_rejected_rule_says_where_it_stands(tmp_path: Path, name: str, text: str, places: list[str]) -> None:
    made, file = RuleSet("r"), written(tmp_path, name, text)
    made.subscribe_all(file)
    assert [found.source for found in made.rejected] == [f"{file}, {place}" for place in places]


def test_csv(tmp_path: Path) -> None:
    text = (
        "\ufeffid,where,priority,metadata,extra\n"
        'hot,temperature > 30,5,"{""owner"": ""ops""}",x\n'
        '"a,b","x = \'\n\'",,,\n'
    )
    assert rows(written(tmp_path, "rules.csv", text)) == [
        RuleRow("hot", "temperature > 30", "5", '{"owner": "ops"}'),
        RuleRow("a,b", "x = '\n'", None, None),
    ]


def test_a_csv_may_have_very_long_rules(tmp_path: Path) -> None:
    where = " OR ".join(["a = 1"] * 50_000)
    assert rows(written(tmp_path, "rules.csv", f"id,where\nlong,{where}\n")) == [RuleRow("long", where)]


@pytest.mark.parametrize("name", ["rules.jsonl", "rules.ndjson", "rules.json", "RULES.JSONL"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    text = (
        '{"id": "hot", "where": "temperature > 30", "priority": 5, "metadata": {"owner": "ops"}}\n\n'
        '{"id": "cold", "where": "temperature < 0"}\n'
    )
    assert rows(str(written(tmp_path, name, text))) == [HOT, COLD]


def test_yaml_as_a_list_or_by_id(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    hot = "{id: hot, where: temperature > 30, priority: 5, metadata: {owner: ops}}"
    listed = f"- {hot}\n- {{id: cold, where: temperature < 0}}\n"
    by_id = "hot:\n  where: temperature > 30\n  priority: 5\n  metadata: {owner: ops}\ncold: temperature < 0\n"
    assert rows(written(tmp_path, "a.yaml", listed)) == rows(written(tmp_path, "b.yml", by_id)) == [HOT, COLD]


def test_yaml_builds_no_objects(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(RuleSetError, match="is not YAML"):
        rows(written(tmp_path, "a.yaml", "!!python/object/apply:os.getcwd []"))


def test_without_pyyaml_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_yaml(name: str, *arguments: Any) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_yaml)
    with pytest.raises(RuleSetError, match=r'pip install "pyyaml>=6"'):
        rows(written(tmp_path, "a.yaml", "a: b"))


def test_arrow_tables_with_names_in_any_case(tmp_path: Path) -> None:
    table = pa.table({"ID": ["cold"], "Where": ["temperature < 0"], "other": [1]})
    assert rows(table) == [COLD]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "name,where\n", "has no column id; it has: name, where"),
        ("a.csv", "", "has no column id and no column where; it has no columns"),
        ("a.csv", "id;where\na;x > 1\n", "Separate the fields with a comma, not ';'"),
        ("a.jsonl", "[1, 2", "line 1 is not JSON"),
        ("a.json", "[1, 2", "line 1 is not JSON"),
        ("a.json", '"text"', "a list of rules"),
        ("a.yaml", "5", "a list of rules"),
        ("a.jsonl", '{"id": "a", "where": "b"}\n{"id": ', "line 2 is not JSON"),
        ("a.yaml", "a: [", "is not YAML"),
        ("a.yaml", "just text", "a list of rules"),
        ("a.txt", "", r"rules are read from \.csv, \.jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(RuleSetError, match=rf"{name}.*{message}"):
        rows(written(tmp_path, name, text))


def test_a_missing_file_and_bad_bytes_are_named(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match=r"none\.csv cannot be read"):
        rows(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("id,where\né,x\n".encode("latin-1"))
    with pytest.raises(RuleSetError, match=r"latin\.csv cannot be read: it is not UTF-8 \(byte 0xe9 on line 2\)"):
        rows(tmp_path / "latin.csv")
    (tmp_path / "wide.csv").write_bytes("id,where\na,x\n".encode("utf-16"))
    with pytest.raises(RuleSetError, match=r"wide\.csv cannot be read: it is UTF-16.*iconv"):
        rows(tmp_path / "wide.csv")
    with pytest.raises(RuleSetError, match=r"did you mean .*latin\.csv"):
        rows(tmp_path / "latn.csv")
    (tmp_path / "directory.csv").mkdir()
    with pytest.raises(RuleSetError, match="Is a directory"):
        rows(tmp_path / "directory.csv")


def test_what_is_no_source_is_refused() -> None:
    with pytest.raises(RuleSetError, match="rules cannot be read from int"):
        rows(7)
