"""The segment-size constants of the publisher and the plugin are those of docs/store-format.md."""

from __future__ import annotations

import re
from pathlib import Path

from sparkrules.store.merge_policy import BESIDE

ROOT = Path(__file__).resolve().parents[2]
PART_SPEC = ROOT / "jars" / "src" / "main" / "scala" / "sparkrules" / "version" / "PartSpec.scala"


def only_number(pattern: str, path: Path) -> int:
    (found,) = re.findall(pattern, path.read_text(encoding="utf-8"))
    return int(found)


def test_both_sides_have_the_documented_numbers() -> None:
    documented = ROOT / "docs" / "store-format.md"
    assert only_number(r"\| `BESIDE` \(Python\) \| (\d+) \|", documented) == BESIDE
    own_part_share = only_number(r"val OwnPartShare = (\d+)", PART_SPEC)
    assert only_number(r"\| `OwnPartShare` \(plugin\) \| (\d+) \|", documented) == own_part_share


def test_a_version_is_at_most_two_parts() -> None:
    """All segments except the largest together have less than an `OwnPartShare`th of all rules."""
    assert only_number(r"val OwnPartShare = (\d+)", PART_SPEC) <= BESIDE
