"""One call: read from stdin, run, answered on stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from sparkrules.errors import RuleSetError, SparkRulesError

PROTOCOL = 1


class Plugin:
    """The other side: what only Spark knows."""

    def __init__(self, source: IO[bytes], target: IO[bytes]) -> None:
        self.source, self.target = source, target

    def read(self) -> Any:
        """The next line of the plugin; None if it is empty."""
        line = self.source.readline()
        if not line.endswith(b"\n"):
            # Never the end of a table: a driver that dies must not remove the rules that it has not sent.
            raise RuleSetError("the plugin has ended before its call was complete")
        return json.loads(line) if line.strip() else None

    def write(self, message: object) -> None:
        # ASCII, so that no character of a text can end the line, and half a character does not fail.
        self.target.write(json.dumps(message).encode("ascii") + b"\n")
        self.target.flush()

    def rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """These columns of the call's table."""
        self.write({"columns": list(columns)})
        while (row := self.read()) is not None:
            yield row

    def truth(self, predicates: Sequence[str]) -> list[bool]:
        """Whether each predicate is true for the call's row."""
        self.write({"predicates": list(predicates)})
        found = self.read()
        if not isinstance(found, list) or len(found) != len(predicates):
            raise RuleSetError("the plugin has not evaluated the predicates")
        return [bool(value) for value in found]


def main() -> None:
    """Run one call. Whatever other code prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    plugin = Plugin(sys.stdin.buffer, answers)
    try:
        plugin.write({"result": _run(plugin)})
    except SparkRulesError as error:
        plugin.write({"error": str(error)})


def _run(plugin: Plugin) -> object:
    from sparkrules.calls.procedures import PROCEDURES

    call = plugin.read()
    if call["protocol"] != PROTOCOL:
        raise RuleSetError(
            "the plugin and the Python package sparkrules of the driver have different versions: install the same"
        )
    arguments = {name: value for name, value in call["arguments"].items() if value is not None}
    return PROCEDURES[call["procedure"]](plugin, call, arguments)
