"""Spark's own Thrift server with the plugin: the command that starts it, and running it in the foreground.

Tables and views that clients create must outlive the server, but by default Spark puts them in the current directory.
So the server has a directory of its own for them, unless the user's Spark already has a metastore.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparkrules.catalyst.jar import jar_path
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.session import ALLOWED_SETTING, FIXED_STORE_SETTING, RULE_SET_SETTING, STORE_SETTING
from sparkrules.catalyst.spark_defaults import conf_directory, spark_defaults
from sparkrules.catalyst.spark_home import find_spark_home
from sparkrules.catalyst.user_jars import jars_of_defaults, join_jars, split_jars
from sparkrules.errors import ServerError, SetupError

DEFAULT_PORT = 10000  # Hive's
_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
_WAREHOUSE = "spark.sql.warehouse.dir"
_METASTORE = "spark.hadoop.javax.jdo.option.ConnectionURL"
# Settings that suit a server better than Spark's defaults.
_DEFAULTS = {
    # At INFO a query logs some hundred lines, and at WARN one line that it need not be cancelled.
    "spark.log.level": "ERROR",
    # Below this many threads, each stage starts a new one, which lives for a minute after its last use. Spark's 1,024
    # in each pool lead to 1,500 threads, with 50 MB of heap, in a minute of short queries.
    "spark.sql.shuffleExchange.maxThreadThreshold": "128",
    "spark.sql.resultQueryStage.maxThreadThreshold": "128",
}
_GRACE = 30  # seconds between asking the server to end and killing it
_REMEMBERED = 400  # lines that explain why it did not start


@dataclass(frozen=True)
class ThriftServer:
    """What a Thrift server is started with. `settings` are Spark's, and Hive's, which begin with `hive.`.

    With `fixed_store`, clients cannot name another store; `allowed` has the names, or patterns, of the only rule sets
    that they can use.

    >>> server = ThriftServer("/data/rules", "alerts", host="0.0.0.0", port=10001)
    >>> server.address
    ('127.0.0.1', 10001)
    """

    store: str
    rule_set: str
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    master: str | None = None
    warehouse: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    fixed_store: bool = False
    allowed: Sequence[str] = ()

    @property
    def address(self) -> tuple[str, int]:
        """Where a client on this machine connects."""
        return ("127.0.0.1" if self.host == "0.0.0.0" else self.host), self.port

    @property
    def jdbc_url(self) -> str:
        """The URL for a JDBC client, on this machine or, if the server listens on all addresses, on others."""
        return f"jdbc:hive2://{socket.gethostname() if self.host == '0.0.0.0' else self.host}:{self.port}"

    @property
    def directory(self) -> Path:
        """The directory of tables, views and Derby's files, unless the user's Spark has a metastore."""
        return (self.warehouse or Path.home() / ".sparkrules" / "warehouse").expanduser().absolute()

    def command(self) -> list[str]:
        """The arguments of the `spark-submit` that starts it."""
        users = spark_defaults()
        settings = {name: value for name, value in _DEFAULTS.items() if name not in users} | dict(self.settings)
        jars = split_jars(settings.pop("spark.jars", None)) or jars_of_defaults()
        spark = {name: value for name, value in settings.items() if not name.startswith("hive.")}
        hive = {name: value for name, value in settings.items() if name.startswith("hive.")}
        spark = self.metastore() | spark | {STORE_SETTING: self.store, RULE_SET_SETTING: self.rule_set}
        if self.fixed_store:
            spark[FIXED_STORE_SETTING] = "true"
        if self.allowed:
            spark[ALLOWED_SETTING] = ",".join(self.allowed)
        hive |= {"hive.server2.thrift.bind.host": self.host, "hive.server2.thrift.port": str(self.port)}
        return [
            str(find_spark_home().path / "bin" / ("spark-submit.cmd" if os.name == "nt" else "spark-submit")),
            *("--class", _CLASS),
            *(("--master", self.master) if self.master else ()),
            *("--jars", join_jars([*jars, jar_path()])),
            *(word for name, value in spark.items() for word in ("--conf", f"{name}={value}")),
            "spark-internal",
            *(word for name, value in hive.items() for word in ("--hiveconf", f"{name}={value}")),
        ]

    def metastore(self) -> dict[str, str]:
        """The settings that put tables and views into `directory`, except those that the user has set."""
        own = {
            _WAREHOUSE: str(self.directory / "tables"),
            _METASTORE: f"jdbc:derby:;databaseName={self.directory / 'metastore'};create=true",
        }
        if self.warehouse:
            return own
        if (conf_directory() / "hive-site.xml").exists():
            return {}
        users = spark_defaults() | dict(self.settings)
        if any("javax.jdo.option." in name or "hive.metastore." in name for name in users):
            del own[_METASTORE]
        return {name: value for name, value in own.items() if name not in users}


def serve(server: ThriftServer, ready: Callable[[int], None]) -> None:
    """Run a server until it is interrupted (`KeyboardInterrupt`).

    When it accepts connections, `ready` is called with its process id; from then on, its log goes to stderr. Raises
    `SetupError` if something is not installed, and `ServerError` if the server cannot start or ends by itself. The
    server has always ended when this returns.
    """
    find_java()
    if not list(find_spark_home().jars.glob("spark-hive-thriftserver_*.jar")):
        raise SetupError(f"the Spark in {find_spark_home().path} was built without its Thrift server; PySpark has it")
    _bind(server.host, server.port)
    command = server.command()
    if server.metastore():
        _make(server.directory)
    process = subprocess.Popen(
        command,
        env=_environment(server),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    output = _Output(process)
    try:
        while not _accepts(server.address):
            if process.poll() is not None:
                raise ServerError(_reason(server, output.until_its_end()))
            time.sleep(0.2)
        output.shown = True
        ready(process.pid)
        raise ServerError(f"the Thrift server has ended by itself, with exit code {process.wait()}")
    except KeyboardInterrupt:
        pass
    finally:
        output.shown = False
        _stop(process)


def free_port(host: str) -> int:
    """A free port on this machine."""
    return _bind(host, 0)


class _Output:
    """The server's output: passed on while it is `shown`, and remembered otherwise."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: deque[str] = deque(maxlen=_REMEMBERED)
        self.shown = False
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def until_its_end(self) -> list[str]:
        self._thread.join(_GRACE)
        return [*self._lines]

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if self.shown:
                sys.stderr.write(line)
            else:
                self._lines.append(line)


def _bind(host: str, port: int) -> int:
    """The port, after checking that a server can listen on it; a free port for 0."""
    with socket.socket() as asking:
        # Like the server, so that a port that a client has just left counts as free.
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asking.bind((host, port))
        except OSError as error:
            raise ServerError(
                f"the Thrift server cannot listen on {host}:{port}: {error.strerror}. "
                "Name another port with --port (0: any free one), or another address of this machine with --host."
            ) from error
        bound: int = asking.getsockname()[1]
        return bound


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ServerError(f"{directory} cannot be made: {error}. Name another directory with --warehouse.") from error


def _environment(server: ThriftServer) -> dict[str, str]:
    # CALL runs the Python that has this package.
    python = os.environ.get("PYSPARK_DRIVER_PYTHON") or sys.executable
    own = {"SPARK_HOME": str(find_spark_home().path), "PYSPARK_DRIVER_PYTHON": python}
    if _METASTORE in server.metastore():
        log = f"-Dderby.stream.error.file={server.directory / 'derby.log'}"
        own["SPARK_SUBMIT_OPTS"] = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {shlex.quote(log)}".strip()
    return {**os.environ, **own}


def _accepts(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=5) as connection:
            # While no one listens, the system may connect the port to itself.
            return bool(connection.getsockname() != connection.getpeername())
    except OSError:
        return False


def _reason(server: ThriftServer, lines: list[str]) -> str:
    """Why it did not start, from its output; the end of the output if the cause is not a known one."""
    said = "".join(lines)
    if "Another instance of Derby" in said and _METASTORE in server.metastore():
        return f"another server uses the tables in {server.directory}. Name another directory with --warehouse."
    return "the Thrift server ended before it accepted connections. The end of its log:\n" + "".join(lines[-40:])


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_GRACE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):  # it hangs, or the user is in a hurry
        process.kill()
        process.wait()
