"""`sparkrules thriftserver` starts, says so, keeps what clients create, stops when told to, and explains errors."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import pytest

from sparkrules import cli
from sparkrules.catalyst.thrift_server import ThriftServer
from tests.servers.processes import started
from tests.servers.thrift import Client, parsed, publish, running, thriftserver


@pytest.fixture
def store(tmp_path: Path) -> Path:
    publish(tmp_path / "store", "goods")
    return tmp_path / "store"


def _is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_views_outlive_the_server_and_ctrl_c_ends_it_well(store: Path, tmp_path: Path) -> None:
    with running(store, tmp_path, "goods@1") as server:
        assert (server.said["rule_set"], server.said["version"]) == ("goods", 1)
        client = server.connect()
        row = "VALUES (7, 1.0D, 'new', 'x') AS t(id, price, state, title)"
        client.rows(f"CREATE VIEW matched AS SELECT match_subscriptions(*).ids AS ids FROM {row}")
        client.close()

        second = thriftserver(store, "goods", "--warehouse", str(tmp_path / "warehouse"))
        with started("second", second, tmp_path) as other:
            other.wait_until_it_says("sparkrules: another server uses the tables in .*Name another directory")
            assert other.process.wait(60) == 1
            assert "Exception" not in other.said()

        server.program.process.send_signal(signal.SIGINT)
        server.program.wait_until_it_ends(60)
        assert not _is_running(server.pid)

    again = thriftserver(store, "goods", "--warehouse", str(tmp_path / "warehouse"))
    again.remove("--json")
    with started("again", again, tmp_path) as program:
        line = r"^ready on 127.0.0.1:(\d+) with rule set goods version 1: jdbc:hive2://127.0.0.1:\1$"
        client = Client(int(program.wait_until_it_says(line).group(1)))
        assert client.rows("SELECT ids FROM matched") == [('["cheap","cheap-and-new"]',)]
        client.close()
        program.process.terminate()
        program.wait_until_it_ends(60)
        assert len(re.findall("^ready", program.said(), re.MULTILINE)) == 1
    assert not (tmp_path / "metastore_db").exists(), "nothing is left in the current directory"
    assert not (tmp_path / "derby.log").exists()


def test_a_server_that_is_stopped_while_it_starts_ends_well(store: Path, tmp_path: Path) -> None:
    with started("stopped", thriftserver(store, "goods", "--warehouse", str(tmp_path)), tmp_path) as program:
        program.wait_until_it_says("starting")
        program.process.terminate()
        program.wait_until_it_ends(60)


def test_a_port_that_is_taken(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert _fails(store, "--port", str(port)) == 1
    said = capsys.readouterr().err
    assert f"sparkrules: the Thrift server cannot listen on 127.0.0.1:{port}: Address already in use." in said
    assert "--port" in said


def test_a_host_that_is_not_of_this_machine(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for host in ("192.0.2.1", "no such host"):
        for port in ("0", "10000"):
            assert _fails(store, "--host", host, "--port", port) == 1
            assert f"sparkrules: the Thrift server cannot listen on {host}:{port}: " in capsys.readouterr().err


def test_no_such_rule_set(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["thriftserver", "--store", str(store), "--ruleset", "bads"]) == 1
    assert "sparkrules: there is no rule set 'bads' in" in capsys.readouterr().err
    assert cli.main(["thriftserver", "--store", str(store), "--ruleset", "goods@9"]) == 1
    assert "there is no version 9 of rule set 'goods'" in capsys.readouterr().err


def test_no_java(store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert _fails(store, "--port", "0") == 1
    assert "sparkrules: JAVA_HOME is /nowhere, but there is no bin/java in it. Install" in capsys.readouterr().err


def test_a_spark_that_cannot_start_shows_why(store: Path, tmp_path: Path) -> None:
    words = thriftserver(store, "goods", "--warehouse", str(tmp_path), settings={"spark.driver.memory": "much"})
    with started("fails", words, tmp_path) as program:
        program.wait_until_it_says("sparkrules: the Thrift server ended before it accepted connections")
        assert program.process.wait(60) == 1
        assert "much" in program.said()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--conf", "driver.memory=4g", "is not a setting: write spark.NAME=VALUE or hive.NAME=VALUE"),
        ("--conf", "spark.driver.memory", "is not a setting"),
        ("--port", "70000", "is not a port: write a number up to 65535"),
        ("--port", "http", "is not a port"),
    ],
)
def test_wrong_usage(option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["thriftserver", "--ruleset", "goods", option, value])
    assert stopped.value.code == 2
    assert f"{value!r} {message}" in capsys.readouterr().err


def test_settings_of_hive_are_given_to_the_server(store: Path) -> None:
    command = parsed(
        ["--ruleset", "goods", "--conf", "hive.server2.authentication=LDAP", "--conf", "spark.a=b"]
    ).command()
    after = command.index("spark-internal")
    assert "hive.server2.authentication=LDAP" in command[after:]
    assert "spark.a=b" in command[:after]


def test_threads_and_logs_are_bounded_unless_the_user_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.shuffleExchange.maxThreadThreshold 512\n")
    words = ThriftServer("s", "r", settings={"spark.log.level": "INFO"}).command()
    settings = dict(word.split("=", 1) for word in words if word.startswith(("spark.sql.", "spark.log.")))
    assert "spark.sql.shuffleExchange.maxThreadThreshold" not in settings, "Spark reads its defaults itself"
    assert settings["spark.sql.resultQueryStage.maxThreadThreshold"] == "128"
    assert settings["spark.log.level"] == "INFO"


def test_a_store_is_found_from_wherever_the_server_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stores = {"rules": str(tmp_path / "rules"), "s3a://bucket/rules": "s3a://bucket/rules"}
    assert {given: parsed(["--ruleset", "goods", "--store", given]).store for given in stores} == stores


class TestMetastore:
    """Uses the metastore of the user's Spark, if it has one."""

    @pytest.fixture
    def conf(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
        return tmp_path

    def test_without_one_there_is_a_directory_in_the_home(self, conf: Path) -> None:
        home = Path.home() / ".sparkrules" / "warehouse"
        assert _set(ThriftServer("s", "r")) == {
            f"spark.sql.warehouse.dir={home / 'tables'}",
            f"spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName={home / 'metastore'};create=true",
        }

    def test_one_of_hive_site(self, conf: Path) -> None:
        (conf / "hive-site.xml").write_text("<configuration/>")
        assert _set(ThriftServer("s", "r")) == set()
        assert len(_set(ThriftServer("s", "r", warehouse=conf))) == 2, "asked for"

    def test_one_of_the_defaults(self, conf: Path) -> None:
        (conf / "spark-defaults.conf").write_text("spark.hadoop.hive.metastore.uris thrift://meta:9083\n")
        home = Path.home() / ".sparkrules" / "warehouse"
        assert _set(ThriftServer("s", "r")) == {f"spark.sql.warehouse.dir={home / 'tables'}"}

    def test_one_of_the_options(self, conf: Path) -> None:
        own = {"spark.sql.warehouse.dir": "/w", "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:x"}
        assert _set(ThriftServer("s", "r", settings=own)) == {f"{name}={value}" for name, value in own.items()}

    def test_jars_of_the_defaults_are_kept(self, conf: Path) -> None:
        (conf / "spark-defaults.conf").write_text("spark.jars a.jar\n")
        command = ThriftServer("s", "r").command()
        assert command[command.index("--jars") + 1].startswith("a.jar,")


def _set(server: ThriftServer) -> set[str]:
    return {word for word in server.command() if "warehouse.dir=" in word or "ConnectionURL=" in word}


def _fails(store: Path, *options: str) -> int:
    return cli.main(["thriftserver", "--store", str(store), "--ruleset", "goods", *options])
