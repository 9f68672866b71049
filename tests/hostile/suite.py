"""Runs the attacks one after another in a child process, and records what each did."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.attacks import FAMILIES
from tests.hostile.attacks.pieces import SECRET
from tests.hostile.child import Child, Lost
from tests.hostile.reach import Trap, laid, reach

SECONDS = 20.0
"""Of the JVM's work for one text, through publish, plan and run."""
_TOGETHER = 12


@dataclass(frozen=True)
class Attack:
    """A text, as an author would hand it in or, `past` the front end, as whoever can write to the store would."""

    family: str
    text: str
    past: bool

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 150 else f"{self.text[:100]} ... {self.text[-45:]}"
        return f"{self.family}{' past the front' if self.past else ''}: {shown}"


@dataclass(frozen=True)
class Result:
    """Of attacks that went together. `fault` is empty if the rules were refused or their tests came out."""

    attacks: list[Attack]
    fault: str
    seconds: float
    refused: int
    detail: str = ""


def attacks() -> list[Attack]:
    """All of them, each by both ways."""
    texts = [(family, text) for family, made in FAMILIES.items() for text in made()]
    texts += [("reach", text) for text in dict.fromkeys(reach())]
    return [Attack(family, text, past) for family, text in texts for past in (False, True)]


def run(chosen: Sequence[Attack], home: Path, seconds: float = SECONDS) -> Iterator[Result]:
    """What each attack does. They go in groups; where one did harm, each of the group goes again, alone."""
    home.mkdir(parents=True, exist_ok=True)
    with (
        Trap(home) as trap,
        Child("tests.hostile.rule_child", str(home), environment={"HOSTILE_SECRET": SECRET}) as child,
    ):
        for past in (False, True):
            attacks = [attack for attack in chosen if attack.past == past]
            for start in range(0, len(attacks), _TOGETHER):
                group = attacks[start : start + _TOGETHER]
                together = _asked(child, trap, group, 3 * seconds)
                if not together.fault:
                    yield together
                    continue
                for attack in group:
                    yield _asked(child, trap, [attack], seconds)


def _asked(child: Child, trap: Trap, group: list[Attack], seconds: float) -> Result:
    texts = [laid(attack.text, trap.url, trap.canary) for attack in group]
    found = child.ask({"texts": texts, "past": group[0].past}, seconds)
    sprung = trap.sprung()
    if isinstance(found, Lost):
        return Result(group, found.how, found.seconds, 0, found.stack())
    fault = ""
    if sprung:
        fault = f"reached out: {sprung[0]}"
    elif found["leaked"]:
        fault = "told a secret"
    elif not found["innocent"]:
        fault = f"spoilt the innocent rule: {found['said']}"
    elif child.keeps_busy():
        fault = "a thread still runs"
    return Result(group, fault, sum(found["seconds"].values()), found["refused"], str(found["seconds"]))


def home_of_runs() -> Path:
    """Where `make test-hostile` works: below `build`, which `make clean` removes."""
    return Path(os.environ.get("HOSTILE_HOME", "build/hostile"))
