"""Rules are read the same from wherever they are kept."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sparkrules.errors import RuleSetError
from sparkrules.rule_sources import RuleRow, read_rules

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


def test_a_row_of_the_wrong_shape_is_handed_on_to_be_set_aside() -> None:
    assert rows([("a",), (), "text", None])[:2] == [RuleRow("a", None), RuleRow(None, None)]


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
    with pytest.raises(RuleSetError, match=r'pip install "sparkrules\[yaml\]"'):
        rows(written(tmp_path, "a.yaml", "a: b"))


def test_arrow_tables_with_names_in_any_case(tmp_path: Path) -> None:
    table = pa.table({"ID": ["cold"], "Where": ["temperature < 0"], "other": [1]})
    assert rows(table) == [COLD]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "name,where\n", "has no column id; it has: name, where"),
        ("a.csv", "", "has no column id and no column where"),
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
    with pytest.raises(RuleSetError, match=r"latin\.csv cannot be read"):
        rows(tmp_path / "latin.csv")


def test_what_is_no_source_is_refused() -> None:
    with pytest.raises(RuleSetError, match="rules cannot be read from int"):
        rows(7)
