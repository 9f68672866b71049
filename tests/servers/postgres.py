"""A private PostgreSQL server: a new cluster in its own directory, reached through a socket in it, or over loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

_GRACE = 20  # seconds


def programs() -> Path:
    """Where `initdb` and `postgres` are: Debian keeps them off the path. Skips the test where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        pytest.skip("there is no PostgreSQL server here; on Debian and Ubuntu: apt-get install postgresql")
    return found[-1].parent if found else Path(str(on_path)).resolve().parent


@contextmanager
def server(port: int | None = None) -> Iterator[Any]:
    """A connection of psycopg to a new server, which ends with the block. With a port, it listens on loopback, too."""
    psycopg = pytest.importorskip("psycopg", reason="there is no psycopg here: pip install 'psycopg[binary]'")
    binaries = programs()
    directory = Path(tempfile.mkdtemp(prefix="sparkrules-pg-"))
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            user = pwd.getpwnam("nobody")
        os.chown(directory, user.pw_uid, user.pw_gid)
        owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    data = directory / "data"
    common: dict[str, Any] = {"cwd": directory, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **owner}
    process = None
    try:
        options = ["-U", "test", "--auth=trust", "--locale=C", "-E", "UTF8", "--no-sync"]
        subprocess.run(
            [binaries / "initdb", "-D", data, *options], check=True, stderr=subprocess.STDOUT, timeout=120, **common
        )
        listens = {"listen_addresses": ""} if port is None else {"listen_addresses": "127.0.0.1", "port": str(port)}
        settings = {**listens, "fsync": "off", "timezone": "UTC", "shared_buffers": "16MB"}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        process = subprocess.Popen(
            [binaries / "postgres", "-D", data, "-k", directory, *options],
            **{**common, "stdout": subprocess.DEVNULL},
            stderr=subprocess.DEVNULL,
        )
        with _connected(psycopg, directory, port, process) as connection:
            yield connection
    finally:
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)  # ends now, without waiting for clients
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _connected(psycopg: Any, directory: Path, port: int | None, process: subprocess.Popen[bytes]) -> Iterator[Any]:
    until = time.monotonic() + 60
    address: dict[str, Any] = {"host": str(directory)} | ({} if port is None else {"port": port})
    while True:
        with suppress(psycopg.OperationalError):
            connection = psycopg.connect(**address, user="test", dbname="postgres", autocommit=True)
            break
        if process.poll() is not None or time.monotonic() > until:
            raise AssertionError(f"the server cannot be reached; it ended with {process.poll()}")
        time.sleep(0.1)
    with connection:
        yield connection
