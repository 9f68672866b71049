"""The Python that CALL starts on the driver: missing, without sparkrules, failing, hanging. Each says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, os, sys
from pathlib import Path
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
import sparkrules

directory = Path(sys.argv[1])
python = directory / "python"
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.pyspark.driver.python", str(python)).config("spark.sparkrules.callSeconds", "20")
builder = builder.config("spark.sparkrules.admins", sys.argv[2]).config("spark.sparkrules.extraFunctions", "my_udf, f")
spark = sparkrules.configure(builder, store=directory / "store").getOrCreate()
said = {}
for name, script in {"missing": None, **json.loads(sys.argv[3])}.items():
    if script is not None:
        python.write_text("#!/bin/sh\\n" + script)
        python.chmod(0o755)
    try:
        where = "'my_udf(x) > 1'" if name == "works" else "'x > 1'"
        said[name] = str(spark.sql(f"CALL sparkrules.subscribe('alerts', 'a', {where})").collect())
    except PySparkException as error:
        said[name] = str(error)
(directory / "said.json").write_text(json.dumps(said))
"""


def said(directory: Path, admins: str, scripts: dict[str, str]) -> dict[str, str]:
    words = [sys.executable, "-c", PROGRAM, str(directory), admins, json.dumps(scripts)]
    subprocess.run(words, check=True, timeout=600, capture_output=True)
    answers: dict[str, str] = json.loads((directory / "said.json").read_text(encoding="utf-8"))
    return answers


def test_the_python_of_the_driver(tmp_path: Path) -> None:
    scripts = {
        "without sparkrules": f'exec {sys.executable} -I -S "$@"\n',
        "fails": "echo noise; echo 'something broke' >&2; exit 3\n",
        "talks": "echo '{\"result\": '; echo '[]'; echo 7; exit 0\n",
        "hangs": "exec sleep 100\n",
        "works": f'echo noise from a sitecustomize; exec {sys.executable} "$@"\n',
    }
    answers = said(tmp_path, "*", scripts)
    for name, words in {
        "missing": ["cannot be started", "Set spark.pyspark.driver.python", "pip install sparkrules-engine"],
        "without sparkrules": ["lacks the package sparkrules", "No module named", "Set spark.pyspark.driver.python"],
        "fails": ["Python", "has failed: something broke"],
        "talks": ["has failed: it said nothing"],
        "hangs": ["it took more than 20 seconds, see spark.sparkrules.callSeconds"],
        "works": ["version=1", "subscriptions=1"],
    }.items():
        assert all(word in answers[name] for word in words), (name, answers[name])


def test_an_application_can_name_its_admins(tmp_path: Path) -> None:
    answers = said(tmp_path, "somebody,else", {})
    assert "may not change rules here" in answers["missing"]
