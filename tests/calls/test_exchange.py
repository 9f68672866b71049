"""The conversation of the plugin with Python, without Spark: one call in, questions and an answer out."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sparkrules import RuleSet, RuleSetError
from sparkrules.calls import exchange


def answers(store: Path, procedure: str, arguments: dict[str, Any], *lines: object, **more: object) -> list[Any]:
    """What Python writes, line by line; `lines` are the plugin's answers to its questions."""
    call = {"protocol": 1, "procedure": procedure, "store": str(store), "arguments": arguments, **more}
    told = io.BytesIO(
        b"".join(json.dumps(line).encode() + b"\n" if line is not None else b"\n" for line in [call, *lines])
    )
    said = io.BytesIO()
    plugin = exchange.Plugin(told, said)
    plugin.write({"result": exchange._run(plugin)})
    return [json.loads(line) for line in said.getvalue().splitlines()]


def test_rows_are_asked_for_by_their_columns(tmp_path: Path) -> None:
    rows = [{"Id": 1, "WHERE": "x > 1"}, {"Id": 2, "WHERE": "x >"}, {"WHERE": "x"}]
    columns = ["note", "Id", "WHERE", "password"]
    asked, result = answers(tmp_path, "publish", {"rule_set": "a", "table": "t"}, *rows, None, columns=columns)
    assert asked == {"columns": ["Id", "WHERE"]}, "and for nothing else"
    assert [row[1:3] for row in result["result"]] == [["rejected", "2"], ["rejected", ""], ["added", "1"]]


def test_a_table_that_ends_too_early_removes_nothing(tmp_path: Path) -> None:
    """A driver that dies while it sends rows."""
    rules = RuleSet("a", store=tmp_path)
    rules.sync({"1": "x > 1", "2": "x > 2"})
    arguments = {"rule_set": "a", "table": "t", "empty": True}
    for sent in ([], [{"id": "1", "where": "x > 1"}]):
        with pytest.raises(RuleSetError, match="before its call was complete"):
            answers(tmp_path, "publish", dict(arguments), *sent, columns=["id", "where"])
    assert rules.versions()[-1].version == 1
    answers(tmp_path, "publish", dict(arguments), None, columns=["id", "where"])
    assert len(RuleSet.load("a", tmp_path)) == 0


def test_long_answers_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparkrules.calls import procedures

    monkeypatch.setattr(procedures, "_MOST_ROWS", 3)
    rows = [{"id": str(number), "where": f"x > {number}"} for number in range(10)]
    _, result = answers(tmp_path, "publish", {"rule_set": "a", "table": "t"}, *rows, None, columns=["id", "where"])
    assert [row[1] for row in result["result"]] == ["added", "added", "added", "more"]
    assert result["result"][-1][3] == "and 7 more rows"


def test_predicates_are_asked_for(tmp_path: Path) -> None:
    RuleSet("a", store=tmp_path).sync({"hot": "t > 30 AND NOT upper(x) = 'A'"})
    asked, result = answers(tmp_path, "explain", {"rule_set": "a", "id": "hot"}, [True, True])
    assert len(asked["predicates"]) == 2
    assert result["result"][0][:2] == ["hot", True]
    with pytest.raises(RuleSetError, match="has not evaluated"):
        answers(tmp_path, "explain", {"rule_set": "a"}, [True])


def test_functions_of_the_deployment(tmp_path: Path) -> None:
    fields = {"rule_set": "a", "id": "r", "where": "my_udf(x) > 1"}
    with pytest.raises(Exception, match="my_udf"):
        answers(tmp_path, "subscribe", dict(fields))
    (made,) = answers(tmp_path, "subscribe", dict(fields), functions=["My_UDF"])
    assert made == {"result": [["a", 1, 1, None]]}


def test_another_protocol_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match="different versions"):
        answers(tmp_path, "subscribe", {}, protocol=2)


def test_the_program_prints_nothing_else(tmp_path: Path) -> None:
    call = {"protocol": 1, "procedure": "subscribe", "store": str(tmp_path)}
    call |= {"arguments": {"rule_set": "a", "id": "é\udc80", "where": "x >"}}
    program = "from sparkrules.calls import main; main(); print('noise')"
    ran = subprocess.run([sys.executable, "-c", program], input=json.dumps(call) + "\n", capture_output=True, text=True)
    (line,) = ran.stdout.splitlines()
    assert "error" in json.loads(line)
    assert ran.returncode == 0
