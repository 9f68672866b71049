"""A driver that is killed in the middle of a stream loses no detection, and doubles none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.servers.killed_streams import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are killed with their group")


def test_a_killed_stream_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    # python -m tests.servers.killed_streams kills it twenty times.
    outcome = run(tmp_path, kills=2)
    assert outcome.lost == []
    assert outcome.doubled == []
    kinds = {"sequence", "together", "count", "absence", "change", "match", "suppressed"}
    assert set(outcome.kinds) == kinds, "patterns that are not detected prove nothing"
