"""Log lines, and rules that search for strings in them: contains, prefix, suffix, LIKE and RLIKE.

Words follow Zipf's law in lines and rules alike, so some rules match often and most hardly ever. A rule searches for
one or two words in a message, for the beginning or the end of a path, or for a shape like `took 1... ms`. One in three
is limited to a level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.workloads.workload import RuleText, Workload

WORDS = 5_000
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
LEVEL_SHARES = (0.3, 0.5, 0.15, 0.05)
ENDINGS = (".html", ".js", ".php", ".jpg", ".json", "/")
_SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo zu sta bre cli dro ner".split()  # noqa: SIM905


def strings(size: int) -> Workload:
    """`size` rules over log lines."""
    return Workload(
        family="strings",
        variant="",
        size=size,
        rules=lambda: string_rules(size),
        rows=log_lines,
        generators=(__file__,),
        rows_name="strings",
        traits={"words": f"Zipf over {WORDS:,}", "rules": "contains 35%, prefix 15%, suffix 15%, LIKE 20%, RLIKE 15%"},
    )


def log_lines(count: int, seed: int = 0) -> pa.Table:
    """`count` lines: level, path, agent and a message of about 100 characters."""
    random = np.random.default_rng((seed, 1))
    words = _draw_words(random, (count, 11))
    numbers = random.integers(1, 5_000, (count, 2)).tolist()
    return pa.table(
        {
            "line": pa.array(np.arange(count)),
            "level": pa.array(np.array(LEVELS)[random.choice(len(LEVELS), count, p=LEVEL_SHARES)]),
            "path": pa.array(
                [f"/{w[0]}/{w[1]}/{w[2]}{ENDINGS[n[0] % 6]}" for w, n in zip(words, numbers, strict=True)]
            ),
            "agent": pa.array([f"{w[3]}-client/{n[0] % 9}.{n[1] % 9}" for w, n in zip(words, numbers, strict=True)]),
            "message": pa.array(
                [
                    f"{w[4]} {w[5]} of {w[6]} for user={w[7]}{n[0]} took {n[1]} ms: {' '.join(w[8:])} [{w[4]}-{n[0]}]"
                    for w, n in zip(words, numbers, strict=True)
                ]
            ),
        }
    )


def string_rules(count: int, seed: int = 0) -> Iterator[RuleText]:
    """`count` rules."""
    random = Random(seed)
    words = _draw_words(np.random.default_rng((seed, 2)), (count, 2))
    kinds = list(_KINDS)
    shares = [share for share, _ in _KINDS.values()]
    for number in range(count):
        kind = random.choices(kinds, shares)[0]
        where = _KINDS[kind][1](random, *words[number])
        if random.random() < 1 / 3:
            where = f"level = '{random.choice(LEVELS)}' AND {where}"
        yield f"{kind}-{number}", where


def _contains(random: Random, word: str, other: str) -> str:
    if random.random() < 0.5:
        return f"contains(message, '{word} {other}')"
    in_message = f"contains(message, '{word}{random.randrange(10)}')"
    return f"({in_message} OR contains(agent, '{other}-client/{random.randrange(9)}'))"


def _prefix(_: Random, word: str, other: str) -> str:
    return f"startswith(path, '/{word}/{other}')"


def _suffix(random: Random, word: str, _: str) -> str:
    return f"endswith(path, '{word}{random.choice(ENDINGS)}')"


def _like(_: Random, word: str, other: str) -> str:
    return f"message LIKE '%{word}%user={other}%'"


def _rlike(random: Random, word: str, other: str) -> str:
    if random.random() < 0.5:
        return f"message RLIKE 'user={word}[0-9]+ took {random.randrange(1, 5)}[0-9]* ms'"
    return f"message RLIKE '(^| ){word} (of|for|{other}) '"


_KINDS: dict[str, tuple[float, Callable[[Random, str, str], str]]] = {
    "contains": (0.35, _contains),
    "prefix": (0.15, _prefix),
    "suffix": (0.15, _suffix),
    "like": (0.20, _like),
    "rlike": (0.15, _rlike),
}


def _draw_words(random: np.random.Generator, shape: tuple[int, int]) -> list[list[str]]:
    shares: npt.NDArray[np.float64] = 1.0 / np.arange(1, WORDS + 1)
    drawn = random.choice(WORDS, shape, p=shares / shares.sum())
    return [[_VOCABULARY[i] for i in row] for row in drawn.tolist()]


def _vocabulary() -> list[str]:
    random, words = Random(7), dict[str, None]()
    while len(words) < WORDS:
        words["".join(random.choices(_SYLLABLES, k=random.randrange(2, 5)))] = None
    return list(words)


_VOCABULARY = _vocabulary()
