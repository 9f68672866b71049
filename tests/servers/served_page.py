"""Runs a page of the documentation whose blocks talk to a Thrift server against a running one."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from sparkrules import cli
from sparkrules.cli.thriftserver_command import ready_line
from tests.docs.blocks import Block, Page, statements
from tests.servers.processes import own_environment, spark_command
from tests.servers.thrift import Thrift, parsed

BI_PAGE = Path(__file__).resolve().parents[2] / "docs" / "bi.md"
_PROMPT = re.compile(r"^\d+: jdbc:hive2://\S*> ", re.MULTILINE)  # a terminal shows it before the query
_PORT = re.compile(r"\b10000\b")


@dataclass
class ServedPage(Page):
    """`sql` goes to the server, `bash` runs `sparkrules publish` and `beeline`, and the port is that of the server."""

    server: Thrift | None = None

    def run(self, block: Block) -> None:
        if block.file is not None:
            write_file(block, self._server.port, Path())
        elif block.language == "text":
            self._compare(block)
        else:
            super().run(replace(block, text=_PORT.sub(str(self._server.port), block.text)))

    @property
    def _server(self) -> Thrift:
        assert self.server is not None
        return self.server

    def _sql(self, block: Block) -> None:
        client = self._server.connect()
        for statement in statements(block.text):
            client.rows(statement)
        client.close()

    def _bash(self, block: Block) -> None:
        for line in block.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:2] == ["sparkrules", "publish"]:
                assert cli.main(words[1:]) == 0
            elif words[:2] == ["sparkrules", "thriftserver"]:
                print(ready_line(parsed(words[2:]), 1))  # noqa: T201
            elif words[:1] == ["beeline"]:
                ran = subprocess.run([spark_command("beeline"), *words[1:]], env=own_environment(), capture_output=True)
                assert ran.returncode == 0, ran.stderr.decode()
                print(_PROMPT.sub("", ran.stdout.decode()), end="")  # noqa: T201


def write_file(block: Block, port: int, directory: Path) -> None:
    """Write a block to the file that it names, with the port of a server."""
    assert block.file is not None
    file = directory / block.file
    file.parent.mkdir(exist_ok=True)
    file.write_text(_PORT.sub(str(port), block.text), encoding="utf-8")
