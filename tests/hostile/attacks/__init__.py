"""Malicious rule texts, grouped by goal: each family combines a few ideas with the places where they can occur.

The columns are those of `rule_child.ROW`: `s` is short, `t` has 60,000 characters, `w` many words, `p` a bad pattern,
`xs`, `ys` and `aa` are arrays, `j` JSON, `x` XML, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.hostile.attacks.depth import depth
from tests.hostile.attacks.growth import growth
from tests.hostile.attacks.leak import leak
from tests.hostile.attacks.regex import regex
from tests.hostile.attacks.times import times
from tests.hostile.attacks.work import work

FAMILIES: dict[str, Callable[[], Iterator[str]]] = {
    "regex": regex,
    "growth": growth,
    "work": work,
    "depth": depth,
    "leak": leak,
    "times": times,
}
