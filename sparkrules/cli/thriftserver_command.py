"""`sparkrules thriftserver`: Spark's Thrift server with the plugin, in the foreground until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

from sparkrules.catalyst.thrift_server import DEFAULT_PORT, ThriftServer, free_port, serve
from sparkrules.cli.files import load_rules
from sparkrules.cli.options import add_json, add_store
from sparkrules.store.location import default_store, local_path


def add_thriftserver(commands: argparse._SubParsersAction[Any]) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "thriftserver",
        help="start Spark's Thrift server with a rule set, for BI tools and other JDBC and ODBC clients",
        description="Starts Spark's own Thrift server with the plugin, says when it accepts connections, and runs until "
        "Ctrl-C or SIGTERM. The Thrift server asks nobody for a password unless it is told to: see docs/bi.md.",
    )
    command.add_argument("--ruleset", required=True, help="rule set of calls that name none: alerts, or alerts@12")
    add_store(command)
    command.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0: all (default: %(default)s)")
    command.add_argument(
        "--port", type=int, default=DEFAULT_PORT, metavar="N", help="0: any free one (default: %(default)s)"
    )
    command.add_argument(
        "--warehouse",
        type=Path,
        metavar="DIR",
        help="where tables and views are kept (default: the metastore of your Spark, else ~/.sparkrules/warehouse)",
    )
    command.add_argument("--master", help="Spark master (default: that of your Spark, else local[*])")
    command.add_argument(
        "--conf",
        type=_setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of Spark, or of the server: spark.driver.memory=4g, hive.server2.authentication=LDAP",
    )
    add_json(command)
    command.set_defaults(run=_thriftserver)


def _thriftserver(arguments: argparse.Namespace) -> int:
    store = arguments.store or default_store()
    rule_set = str(arguments.ruleset).partition("@")[0]
    version: int | None = None
    if not re.match(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:/", store):  # only the plugin reads stores that are elsewhere
        version = load_rules(arguments.ruleset, store).version_in(local_path(store))
        store = str(local_path(store))
    server = ThriftServer(
        store=store,
        rule_set=arguments.ruleset,
        host=arguments.host,
        port=arguments.port or free_port(arguments.host),
        master=arguments.master,
        warehouse=arguments.warehouse,
        # Every query is some hundred lines at the level INFO.
        settings={"spark.log.level": "WARN", **dict(arguments.conf)},
    )

    def ready(pid: int) -> None:
        if arguments.json:
            known = {"rule_set": rule_set, "version": version, "store": store, "pid": pid}
            line = json.dumps({"host": server.host, "port": server.port, "jdbc_url": server.jdbc_url, **known})
        else:
            known_version = "" if version is None else f" version {version}"
            line = f"ready on {server.host}:{server.port} with rule set {rule_set}{known_version}: {server.jdbc_url}"
        print(line, flush=True)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        print("starting the Thrift server; Ctrl-C stops it", file=sys.stderr, flush=True)
        serve(server, ready)
    except KeyboardInterrupt:  # before there was anything to stop
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _setting(text: str) -> tuple[str, str]:
    """
    >>> _setting("spark.driver.memory=4g")
    ('spark.driver.memory', '4g')
    """
    name, equals, value = text.partition("=")
    if not equals or not name.startswith(("spark.", "hive.")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a setting: write spark.NAME=VALUE or hive.NAME=VALUE")
    return name, value
