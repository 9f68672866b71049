"""What a script does first: load, change one rule, publish. It must not import or read what it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sparkrules import RuleSet


@pytest.mark.parametrize("change", ["rules.subscribe('new', 'a = 1')", "rules.unsubscribe('r7')", "'r7' in rules"])
def test_changing_one_rule_reads_no_segment_and_imports_no_pandas(tmp_path: Path, change: str) -> None:
    rules = RuleSet("alerts")
    rules.subscribe_all((f"r{number}", f"a = {number}") for number in range(5000))
    rules.store = tmp_path
    rules.publish()
    script = f"""
import sys
from sparkrules import RuleSet
rules = RuleSet.load("alerts", {str(tmp_path)!r})
{change}
big = rules._collection.content.parts[0].body
rules.publish()
assert "segment" not in vars(big) and "tables" not in vars(big)
print("pandas" in sys.modules, len(rules))
"""
    made = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert made.stdout.split()[0] == "False"
    assert len(RuleSet.load("alerts", tmp_path)) == int(made.stdout.split()[1])
