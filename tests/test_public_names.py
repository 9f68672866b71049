"""Everything that users need can be imported from `sparkrules`."""

from __future__ import annotations

import subprocess
import sys

import sparkrules
from sparkrules import SparkRulesError


def test_every_error_is_public() -> None:
    errors = [SparkRulesError]
    for error in errors:
        errors += error.__subclasses__()
    names = {error.__name__ for error in errors if error.__module__.startswith("sparkrules.")}
    assert len(names) > 15
    assert names - set(sparkrules.__all__) == {"CorruptSegment"}  # a CorruptStore to users


def test_names_are_what_they_say() -> None:
    assert [name for name in sparkrules.__all__ if not hasattr(sparkrules, name)] == []
    assert [name for name in vars(sparkrules.RuleSet) if name == "segment"] == []


def test_importing_the_package_imports_no_pyspark() -> None:
    program = "import sys, sparkrules; print('pyspark' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
