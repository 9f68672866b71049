"""Runs a command the way users do: in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment(**more: str) -> dict[str, str]:
    """That of the tests, in which Python finds this source."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Python with some arguments, and some variables more."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment(**more))
