"""A private Apache Superset: set up, started, and used through its REST API."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

from sparkrules.catalyst.thrift_server import free_port
from tests.bi.conftest import VENVS
from tests.servers.processes import Program, started

_SETUP = (
    ("db", "upgrade"),
    (
        *("fab", "create-admin", "--username", "admin", "--password", "admin"),
        *("--firstname", "Test", "--lastname", "User", "--email", "admin@localhost"),
    ),
    ("init",),
)


class Superset:
    """A Superset that runs."""

    def __init__(self, program: Program, port: int) -> None:
        self._program = program
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> Any:
        return self._call(urllib.request.Request(self.url + path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        return self._call(urllib.request.Request(self.url + path, json.dumps(body).encode(), headers))

    def wait(self, seconds: float = 180) -> None:
        until = time.monotonic() + seconds
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/health").close()
                return
            except URLError as error:
                if self._program.process.poll() is not None or time.monotonic() > until:
                    raise AssertionError(f"Superset does not answer: {error}") from error
                time.sleep(0.5)

    def _call(self, request: urllib.request.Request) -> Any:
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(f"{request.full_url}: {error.code} {error.read().decode()}") from error


@contextmanager
def running(directory: Path) -> Iterator[Superset]:
    """A new Superset with its files in `directory`, until the end of the block."""
    port = free_port("127.0.0.1")
    own = {
        "FLASK_APP": "superset.app:create_app()",
        "PYTHONPATH": "",
        "SUPERSET_CONFIG_PATH": str(Path(__file__).with_name("superset_config.py")),
        "SUPERSET_HOME": str(directory),
    }
    superset = str(VENVS / "superset" / "bin" / "superset")
    for words in _SETUP:
        with started(f"superset-{words[0]}", [superset, *words], directory, own) as step:
            step.wait_until_it_ends(300)
    serve = [superset, "run", "--host", "127.0.0.1", "--port", str(port), "--with-threads"]
    with started("superset", serve, directory, own) as program:
        made = Superset(program, port)
        made.wait()
        yield made
