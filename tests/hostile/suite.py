"""The attacks, one after the other through a child process, and what each of them did."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.attacks import FAMILIES, SECRET
from tests.hostile.child import Child, Lost
from tests.hostile.reach import Trap, laid, reach

SECONDS = 20.0
"""For one text through publish, plan and run, on a machine that others use as well."""
_SPINNING = 0.8  # of a core, when nothing is asked
_CHECK_EVERY = 25


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
    """`fault` is empty if nothing happened but that the rule was refused or its tests came out."""

    attack: Attack
    fault: str
    seconds: float
    refused: bool
    detail: str = ""


def attacks() -> list[Attack]:
    """All of them, each by both ways."""
    texts = [(family, text) for family, made in FAMILIES.items() for text in made()]
    texts += [("reach", text) for text in dict.fromkeys(reach())]
    return [Attack(family, text, past) for family, text in texts for past in (False, True)]


def run(chosen: Iterable[Attack], home: Path, seconds: float = SECONDS) -> Iterator[Result]:
    """What each attack does."""
    home.mkdir(parents=True, exist_ok=True)
    with (
        Trap(home) as trap,
        Child("tests.hostile.rule_child", str(home), environment={"HOSTILE_SECRET": SECRET}) as child,
    ):
        for number, attack in enumerate(chosen):
            text = laid(attack.text, trap.url, trap.canary)
            found = child.ask({"text": text, "past": attack.past}, seconds)
            sprung = trap.sprung()
            if isinstance(found, Lost):
                yield Result(attack, found.how, found.seconds, False, found.stack())
                continue
            fault = ""
            if sprung:
                fault = f"reached out: {sprung[0]}"
            elif found["leaked"]:
                fault = "told a secret"
            elif not found["innocent"]:
                fault = f"spoilt the innocent rule: {found['said']}"
            elif number % _CHECK_EVERY == 0 and child.busy() > _SPINNING:
                fault = f"a thread still runs, since one of the last {_CHECK_EVERY}"
            yield Result(attack, fault, sum(found["seconds"].values()), bool(found["refused"]), str(found["seconds"]))


def home_of_runs() -> Path:
    """Where `make test-hostile` works: below `build`, which `make clean` removes."""
    return Path(os.environ.get("HOSTILE_HOME", "build/hostile"))
