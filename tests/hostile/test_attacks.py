"""A sample of the attack suite; `make test-hostile` runs all of it."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.hostile.suite import Attack, attacks, run

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells who opens a file"),
]

SAMPLE = 40
# The reproductions that the suite grew from, whatever the sample is.
ALWAYS = [
    "t RLIKE '(?:(?:){2147483647}){2147483647}'",
    "'" + "a" * 60_000 + "' RLIKE '(a|b)*c' OR a = 7",
    f"length({'hex(' * 40}s{')' * 40}) = 7",
    "from_xml('<r>1</r>', 'a INT', map('rowValidationXSDPath', '{url}/x.xsd')).a = 1",
]


def sample() -> list[Attack]:
    """A few of every family, the same in every run."""
    every = attacks()
    families = sorted({attack.family for attack in every})
    chance = random.Random(13)
    chosen = [
        attack
        for family in families
        for attack in chance.sample([a for a in every if a.family == family], SAMPLE // len(families))
    ]
    return [Attack("reproduction", text, past) for text in ALWAYS for past in (False, True)] + chosen


def test_there_are_many() -> None:
    every = attacks()
    assert len(every) == len(set(every))
    assert len({attack.text for attack in every}) > 500


def test_a_sample_of_attacks_does_no_harm(tmp_path: Path) -> None:
    faults = [f"{r.fault}: {r.attacks[0]}\n{r.detail}" for r in run(sample(), tmp_path) if r.fault]
    assert not faults, "\n\n".join(faults)
