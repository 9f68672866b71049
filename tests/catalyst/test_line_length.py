"""No line of Scala or Python is longer than 120 characters, not counting checker directives at its end."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("sparkrules", "jars", "tests", "benchmarks", "examples", "docs")
LONGEST = 120
GRAMMARS = {"tests/spark/postgres_texts.py", "tests/sql/spark_texts.py"}
"""One alternative, one line."""
REMARK = r"\s+# (type: ignore|noqa).*"


def test_lines_are_short() -> None:
    long = []
    for file in sorted(f for folder in FOLDERS for kind in ("scala", "py") for f in (ROOT / folder).rglob(f"*.{kind}")):
        name = file.relative_to(ROOT).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if len(re.sub(REMARK, "", line)) > LONGEST and name not in GRAMMARS:
                long.append(f"{name}:{number} has {len(line)}")
    assert not long, f"Lines of more than {LONGEST} characters:\n" + "\n".join(long)
