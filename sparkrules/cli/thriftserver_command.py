"""`sparkrules thriftserver`: Spark's Thrift server with the plugin, in the foreground until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import json
import re
import signal
from pathlib import Path

from sparkrules.catalyst import DEFAULT_PORT, ThriftServer, free_port, serve
from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.engine import note
from sparkrules.cli.options import add_conf, add_json, add_ruleset, add_store
from sparkrules.cli.rules import load_rules
from sparkrules.errors import StoreError
from sparkrules.store import default_store, local_path, path_in_spark


def add_thriftserver(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "thriftserver",
        "start Spark's Thrift server with a rule set, for BI tools and other JDBC and ODBC clients",
        "Start Spark's own Thrift server with the plugin, print a line when it accepts connections, and run until "
        "Ctrl-C or SIGTERM. By default the Thrift server needs no password: see docs/bi.md.",
        examples=[
            "sparkrules thriftserver --ruleset alerts",
            "sparkrules thriftserver --ruleset alerts@12 --port 10001 --conf spark.driver.memory=4g",
            "sparkrules thriftserver --ruleset alerts --store /data/rules --fix-store --allow alerts --allow 'fraud*'",
        ],
    )
    add_ruleset(command, "the rule set of calls that name none: alerts, or alerts@12")
    add_store(command)
    command.add_argument("--fix-store", action="store_true", help="clients cannot choose another store")
    command.add_argument(
        "--allow",
        action="append",
        default=[],
        type=_pattern,
        metavar="NAME",
        help="a rule set that clients can use, or several with *: 'fraud*'; can be repeated (default: all)",
    )
    command.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all (default: %(default)s)"
    )
    command.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        metavar="N",
        help="port to listen on; 0 for any free one (default: %(default)s)",
    )
    command.add_argument(
        "--warehouse",
        type=Path,
        metavar="DIR",
        help="where tables and views are kept (default: the metastore of your Spark, or ~/.sparkrules/warehouse)",
    )
    command.add_argument("--master", help="Spark master (default: that of your Spark, or local[*])")
    add_conf(
        command,
        "a setting of Spark, or of the server: spark.driver.memory=4g, hive.server2.authentication=LDAP",
        prefixes=("spark.", "hive."),
    )
    add_json(command)
    command.set_defaults(run=_thriftserver)


def server_of(arguments: argparse.Namespace) -> ThriftServer:
    """The server that the options describe."""
    store = arguments.store or default_store()
    return ThriftServer(
        store=path_in_spark(store) if _is_elsewhere(store) else str(local_path(store)),
        rule_set=arguments.ruleset,
        host=arguments.host,
        port=arguments.port or free_port(arguments.host),
        master=arguments.master,
        warehouse=arguments.warehouse,
        settings=dict(arguments.conf),
        fixed_store=arguments.fix_store,
        allowed=arguments.allow,
    )


def ready_line(server: ThriftServer, version: int | None) -> str:
    """What is printed when the server accepts connections.

    >>> ready_line(ThriftServer("/data/rules", "alerts"), 3)
    'ready on 127.0.0.1:10000 with rule set alerts version 3: jdbc:hive2://127.0.0.1:10000'
    """
    rules = server.rule_set.partition("@")[0] + ("" if version is None else f" version {version}")
    return f"ready on {server.host}:{server.port} with rule set {rules}: {server.jdbc_url}"


def _thriftserver(arguments: argparse.Namespace) -> int:
    server = server_of(arguments)
    name = server.rule_set.partition("@")[0]
    if server.allowed and not any(_matches(name, pattern) for pattern in server.allowed):
        raise StoreError(
            f"--ruleset {server.rule_set} is not among the rule sets of --allow: {', '.join(server.allowed)}"
        )
    version: int | None = None
    if not _is_elsewhere(server.store):
        version = load_rules(server.rule_set, server.store).version

    def ready(pid: int) -> None:
        if arguments.json:
            fields = {"host": server.host, "port": server.port, "jdbc_url": server.jdbc_url, "pid": pid}
            rules = {"rule_set": server.rule_set.partition("@")[0], "version": version, "store": server.store}
            print(json.dumps(fields | rules), flush=True)
        else:
            print(ready_line(server, version), flush=True)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        note("starting the Thrift server; Ctrl-C stops it")
        serve(server, ready)
    except KeyboardInterrupt:  # before the server had started
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _is_elsewhere(store: str) -> bool:
    """Whether only the plugin can read the store, through Hadoop.

    >>> [_is_elsewhere(store) for store in ("/data/rules", "file:/data/rules", "s3a://bucket/rules")]
    [False, False, True]
    """
    try:
        local_path(store)
    except StoreError:
        return True
    return False


def _pattern(text: str) -> str:
    """
    >>> _pattern("fraud*")
    'fraud*'
    """
    if not re.fullmatch(r"[A-Za-z0-9_.*-]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a rule set or a pattern with *")
    return text


def _matches(name: str, pattern: str) -> bool:
    """
    >>> _matches("fraud.eu", "fraud*"), _matches("fraud", "fraud.*"), _matches("frauds", "fraud")
    (True, False, False)
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def _port(text: str) -> int:
    """
    >>> _port("10001")
    10001
    """
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: write a number up to 65535")
    return int(text)
