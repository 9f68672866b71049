"""The jar is built once per Spark and source and appears whole. Errors name what is missing and the fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sparkrules.catalyst import jar
from sparkrules.catalyst.jar_source import JarSource, find_jar_source
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.spark_home import SparkHome, find_spark_home
from sparkrules.errors import SetupError

SCALA = "package tiny\nobject Tiny { def spark: String = org.apache.spark.SPARK_VERSION }\n"


@pytest.fixture
def source(tmp_path: Path) -> JarSource:
    """A plugin of one line."""
    root = tmp_path / "src"
    (root / "main" / "scala" / "tiny").mkdir(parents=True)
    (root / "main" / "scala" / "tiny" / "Tiny.scala").write_text(SCALA)
    (root / "main" / "resources" / "META-INF" / "services").mkdir(parents=True)
    (root / "main" / "resources" / "META-INF" / "services" / "x.Provider").write_text("tiny.Tiny\n")
    return JarSource(root, "4.3")


def fake_java(directory: Path, says: str) -> Path:
    (directory / "bin").mkdir(parents=True)
    program = directory / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return directory


@pytest.mark.slow
class TestBuilding:
    def test_a_jar_has_classes_and_resources_and_nothing_is_left_behind(
        self, source: JarSource, tmp_path: Path
    ) -> None:
        made = jar.build_jar(tmp_path / "out" / "tiny.jar", source=source, strict=True)
        names = zipfile.ZipFile(made).namelist()
        assert names[0] == "META-INF/MANIFEST.MF"
        assert {"tiny/Tiny.class", "META-INF/services/x.Provider"} < set(names)
        assert [file.name for file in made.parent.iterdir()] == ["tiny.jar"]

    def test_a_compiler_error_is_shown_with_file_and_line(self, source: JarSource, tmp_path: Path) -> None:
        (source.root / "main" / "scala" / "tiny" / "Bad.scala").write_text(
            "package tiny\nobject Bad { val x: Int = `a` }\n"
        )
        with pytest.raises(
            SetupError, match=r"(?s)does not compile against Spark 4.*main/scala/tiny/Bad\.scala:2: error"
        ):
            jar.build_jar(tmp_path / "tiny.jar", source=source)
        assert not (tmp_path / "tiny.jar").exists()

    def test_a_directory_that_cannot_be_written_is_named(self, source: JarSource, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(SetupError, match=r"cannot be written to .*file.*SPARKRULES_CACHE"):
            jar.build_jar(tmp_path / "file" / "tiny.jar", source=source)


class TestJarPath:
    @pytest.fixture
    def built(self, source: JarSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
        """Puts the tiny source in the plugin's place, counts builds instead of compiling."""
        builds: list[Path] = []

        def build(target: Path, *_: object) -> Path:
            builds.append(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"jar")
            return target

        monkeypatch.setattr(jar, "find_jar_source", lambda minor: source)
        monkeypatch.setattr(jar, "build_jar", build)
        monkeypatch.setattr(jar, "_PREBUILT", tmp_path / "prebuilt")
        monkeypatch.setenv("SPARKRULES_CACHE", str(tmp_path / "cache"))
        return builds

    def test_it_is_built_once_with_a_line_of_notice(
        self, built: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = jar.jar_path()
        assert Path(first).parent == tmp_path / "cache"
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "building the plugin for Spark" in said.err
        assert jar.jar_path() == first
        assert len(built) == 1
        assert capsys.readouterr().err == ""

    def test_another_source_or_another_spark_is_another_jar(
        self, built: list[Path], source: JarSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        jar.jar_path()
        (source.root / "main" / "scala" / "tiny" / "Tiny.scala").write_text(SCALA + "// changed\n")
        jar.jar_path()
        monkeypatch.setattr(jar, "find_spark_home", lambda: SparkHome(Path("spark"), "4.1.2"))
        jar.jar_path()
        assert len({file.name for file in built}) == 3

    def test_the_jar_of_the_wheel_is_taken_only_if_it_fits(self, built: list[Path], source: JarSource) -> None:
        fitting = {"spark": find_spark_home().minor, "source": source.fingerprint(jar.SCALAC_OPTIONS)}
        jar._PREBUILT.mkdir()
        (jar._PREBUILT / "sparkrules.jar").write_bytes(b"jar")
        for note in ({**fitting, "spark": "3.5"}, {**fitting, "source": "other"}):
            (jar._PREBUILT / "built.json").write_text(json.dumps(note))
            assert Path(jar.jar_path()).parent != jar._PREBUILT
        (jar._PREBUILT / "built.json").write_text(json.dumps(fitting))
        assert jar.jar_path() == str(jar._PREBUILT / "sparkrules.jar")
        assert len(built) == 1

    @pytest.mark.slow
    def test_two_processes_at_once_both_get_the_whole_jar(self, source: JarSource, tmp_path: Path) -> None:
        target = tmp_path / "cache" / "tiny.jar"
        code = (
            "import sys; from pathlib import Path; from sparkrules.catalyst import jar; "
            "from sparkrules.catalyst.jar_source import JarSource; "
            "jar.build_jar(Path(sys.argv[2]), source=JarSource(Path(sys.argv[1]), '4.3'))"
        )
        command = [sys.executable, "-c", code, str(source.root), str(target)]
        running = [subprocess.Popen(command) for _ in range(2)]
        assert [process.wait() for process in running] == [0, 0]
        assert zipfile.ZipFile(target).testzip() is None
        assert list(target.parent.iterdir()) == [target]


class TestSource:
    def test_folders_of_a_minor_are_added_for_that_minor_only(self, source: JarSource) -> None:
        for folder in ("scala-4.0-4.1", "scala-4.2+", "scala-4.3"):
            (source.root / "main" / folder).mkdir()
            (source.root / "main" / folder / "Shim.scala").write_text("")

        def shims(minor: str) -> list[str]:
            files = JarSource(source.root, minor).scala()
            return [file.parent.name for file in files if file.name == "Shim.scala"]

        assert shims("4.0") == shims("4.1") == ["scala-4.0-4.1"]
        assert shims("4.2") == shims("4.10") == ["scala-4.2+"]
        assert shims("4.3") == ["scala-4.2+", "scala-4.3"]

    def test_the_fingerprint_changes_with_names_content_and_options(self, source: JarSource) -> None:
        seen = [source.fingerprint(), source.fingerprint(("-x",))]
        resource = source.root / "main" / "resources" / "note"
        for content in ("", "a"):
            resource.write_text(content)
            seen.append(source.fingerprint())
        resource.rename(resource.with_name("other"))
        seen.append(source.fingerprint())
        assert len(set(seen)) == len(seen)

    def test_the_checkout_has_a_plugin(self) -> None:
        assert find_jar_source("4.3").scala()


class TestJava:
    def test_java_home_comes_before_the_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "a", 'openjdk version "21.0.1"')))
        monkeypatch.setenv("PATH", str(fake_java(tmp_path / "b", 'openjdk version "17.0.1"') / "bin"))
        assert find_java() == str(tmp_path / "a" / "bin" / "java")
        monkeypatch.delenv("JAVA_HOME")
        assert find_java() == str(tmp_path / "b" / "bin" / "java")

    def test_no_java_says_what_to_install(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(SetupError, match="apt-get install openjdk-17-jre-headless"):
            find_java()

    def test_an_old_java_says_which_and_what_to_install(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "a", 'java version "1.8.0_401"')))
        with pytest.raises(SetupError, match=r"Java 8 \(.*JAVA_HOME\) is too old for Spark 4.*openjdk-17"):
            find_java()

    def test_a_java_home_without_java_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(SetupError, match=r"JAVA_HOME is .* no bin/java in it"):
            find_java()

    def test_something_else_called_java_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "a", "Unable to locate a Java Runtime")))
        with pytest.raises(SetupError, match="not a working Java: Unable to locate"):
            find_java()


class TestSpark:
    def test_spark_home_comes_before_the_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "jars").mkdir()
        (tmp_path / "jars" / "spark-core_2.13-4.1.2.jar").write_bytes(b"")
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        assert find_spark_home() == SparkHome(tmp_path, "4.1.2")
        assert find_spark_home().minor == "4.1"

    def test_the_package_is_found_without_importing_it(self) -> None:
        code = (
            "import sys, sparkrules, sparkrules.cli; from sparkrules.catalyst.spark_home import find_spark_home; "
            "print(find_spark_home().version, 'pyspark' in sys.modules)"
        )
        environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        assert ran.stdout.split()[1] == "False"

    def test_a_client_without_jars_or_an_old_spark_says_what_to_install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        with pytest.raises(SetupError, match=r"no jars/spark-core_.*pip install"):
            find_spark_home()
        (tmp_path / "jars").mkdir()
        (tmp_path / "jars" / "spark-core_2.12-3.5.1.jar").write_bytes(b"")
        with pytest.raises(SetupError, match=r"Spark 3\.5\.1 .* is too old.*pip install"):
            find_spark_home()

    def test_no_pyspark_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SPARK_HOME", raising=False)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(SetupError, match=r"PySpark is not installed\. Install it: pip install"):
            find_spark_home()
