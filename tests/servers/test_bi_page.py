"""docs/bi.md works as written: beeline, PyHive, SQLAlchemy, pandas and impyla against one server."""

from __future__ import annotations

import re
import shlex

import pytest

from sparkrules.catalyst.jar import jar_path
from tests.docs.blocks import blocks_of
from tests.servers.processes import spark_command
from tests.servers.served_page import BI_PAGE, ServedPage
from tests.servers.thrift import Thrift, parsed


def test_the_page_does_what_it_says(thrift: Thrift, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(thrift.store.parent)  # so that the page's `--store rules` is the server's
    page = ServedPage(BI_PAGE, None, server=thrift)  # type: ignore[arg-type]
    for block in blocks_of(BI_PAGE.read_text(encoding="utf-8")):
        page.run(block)


def test_the_command_runs_the_spark_submit_of_the_page() -> None:
    text = BI_PAGE.read_text(encoding="utf-8")
    short = re.search(r"`sparkrules thriftserver (.*?)` does the same as", text)
    long = re.search(r"^spark-submit (.*?)^```", text.replace("\\\n", " "), re.MULTILINE | re.DOTALL)
    assert short
    assert long
    own = [jar_path() if word == "$(sparkrules jar-path)" else word for word in shlex.split(long.group(1))]
    assert parsed(shlex.split(short.group(1))).command() == [spark_command("spark-submit"), *own]
