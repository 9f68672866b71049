"""The fenced blocks of a Markdown page, and how each is run.

| block | what happens |
|---|---|
| `python` | executed; the blocks of a page share their names, and `spark` is defined |
| `sql` | each statement (they end with `;`) goes to `spark.sql`; results of SELECT are shown |
| `bash` | lines of `sparkrules` with one of `_COMMANDS` go to `cli.main`; others, or with `&&` or a URL, are not run |
| `csv`, `json`, `jsonl`, `yaml` | written to the file that a line `<!-- file: name -->` before the block names |
| `text` | the output of the previous block, compared line by line; `...` in a line matches anything |
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkrules import cli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FENCED = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n\n?)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_RUN = ("publish", "match", "detect", "explain", "overlap", "lint", "versions", "diff", "rollback", "doctor", "report")
_RUN += ("test", "backtest", "list")
_COMMANDS = tuple(f"sparkrules {command} " for command in _RUN)


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line of text, counted from 1."""

    language: str
    text: str
    line: int
    file: str | None = None


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, in order.

    >>> blocks_of("Hello\\n\\n```python\\nprint(1)\\n```\\n")
    [Block(language='python', text='print(1)\\n', line=4, file=None)]
    """
    return [
        Block(found["language"], found["text"], page.count("\n", 0, found.start("text")) + 1, found["file"])
        for found in _FENCED.finditer(page)
    ]


@dataclass
class Page:
    """A page that is run: where it is, the names its blocks share, and what the last one has printed."""

    path: Path
    spark: SparkSession
    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""

    def run(self, block: Block) -> None:
        """Run a block, and fail if it fails or, for a `text` block, if something else was printed."""
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "text":
            self._compare(block)
        elif block.language in ("python", "sql", "bash"):
            self._print(getattr(self, f"_{block.language}"), block)

    def _print(self, run: Any, block: Block) -> None:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            run(block)
        self.printed = output.getvalue()

    def _python(self, block: Block) -> None:
        # Padded, so that a traceback shows the line of the page.
        code = compile("\n" * (block.line - 1) + block.text, str(self.path), "exec")
        exec(code, self.names)

    def _sql(self, block: Block) -> None:
        all_of_it = list(statements(block.text))
        for number, statement in enumerate(all_of_it, 1):
            result = self.spark.sql(statement)
            if statement.startswith("SELECT") or (statement.startswith("CALL") and number == len(all_of_it)):
                result.show(truncate=False)

    def _bash(self, block: Block) -> None:
        for line in block.text.splitlines():
            if line.startswith(_COMMANDS) and "&&" not in line and "://" not in line:
                with contextlib.redirect_stderr(sys.stdout):
                    code = cli.main(shlex.split(line, comments=True)[1:])
                failing = (1,) if line.startswith("sparkrules test ") else ()  # a page shows what a failure looks like
                assert code in (0, 3, *failing), f"{self.path.name}, line {block.line}: {line} ended with {code}"

    def _compare(self, block: Block) -> None:
        expected, got = _lines(block.text), _lines(self.printed)
        same = len(expected) == len(got) and all(map(_matches, expected, got))
        assert same, f"{self.path.name}, line {block.line}: expected\n{block.text}\nbut it prints\n{self.printed}"


def statements(sql: str) -> Iterator[str]:
    """The statements of a block.

    >>> list(statements("SELECT 1;\\nSELECT ';'"))
    ['SELECT 1', "SELECT ';'"]
    """
    for statement in re.split(r";[ \t]*(?:\n|$)", sql):
        if statement.strip():
            yield statement.strip()


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _matches(expected: str, got: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), got) is not None
