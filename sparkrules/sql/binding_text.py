"""Predicates about the outputs of operators, for people: as `exists` over the call, without the types of the outputs.

>>> call = "CAST(mob(img) AS ARRAY < STRUCT < people : INT, place : STRING >>)"
>>> shown_predicate(f"array_max({call}.people)", ">", ["50"])
'exists(mob(img), b -> b.people > 50)'
>>> shown_predicate(f"exists({call}, b1 -> b1.people > 50 AND b1.place LIKE 'R%')", "is true", [])
"exists(mob(img), b1 -> b1.people > 50 AND b1.place LIKE 'R%') is true"
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.tokens import tokenize

TYPED = "AS ARRAY < STRUCT <"
JOINED = "concat('|', array_join(transform({values}, x -> concat({value}, '|')), ''))"
"""The values of an output as one string, in which `|` is around each: it is searched for equal values."""
TEXT = "replace(replace(x, '~', '~0'), '|', '~1')"
NUMBER = "CAST(x AS STRING)"

_EXTREME = re.compile(r"array_(max|min)\((.*)\.([A-Za-z0-9_]+|`[^`]*`)\)")
_EXTREMES = {"max": (">", ">="), "min": ("<", "<=")}
_SEARCHED = {
    re.compile(
        re.escape(JOINED).replace(r"\{values\}", r"(.*)\.([A-Za-z0-9_]+|`[^`]*`)").replace(r"\{value\}", own)
    ): is_text
    for own, is_text in ((re.escape(TEXT), True), (re.escape(NUMBER), False))
}


def shown_predicate(attribute: str, operator: str, constants: Sequence[str]) -> str:
    """The predicate as text. `constants` are those of the predicate, as SQL."""
    plain = _without_types(attribute)
    extreme = _EXTREME.fullmatch(plain)
    if extreme is not None and operator in _EXTREMES[extreme[1]]:
        return f"exists({extreme[2]}, b -> b.{extreme[3]} {operator} {constants[0]})"
    for pattern, is_text in _SEARCHED.items():
        searched = pattern.fullmatch(plain)
        if searched is not None and operator in ("contains", "not contains"):
            text = constants[0].removeprefix("'|").removesuffix("|'").replace("~1", "|").replace("~0", "~")
            value = f"'{text}'" if is_text else text
            return f"{operator[:-8].upper()}exists({searched[1]}, b -> b.{searched[2]} = {value})"
    return " ".join([plain, operator, *constants])


def _without_types(sql: str) -> str:
    """The SQL without casts to arrays of structs, which state what an operator returns."""
    tokens = tokenize(sql, ANYTHING)
    dropped: set[int] = set()
    opened: list[tuple[int, int]] = []  # brackets, each with the AS inside
    for at, kind in enumerate(tokens.kinds):
        if kind == "(":
            opened.append((at, 0))
        elif kind == "AS" and opened:
            opened[-1] = (opened[-1][0], at)
        elif kind == ")" and opened:
            bracket, stated = opened.pop()
            if stated and tokens.sql(stated, min(stated + 5, at)) == TYPED and tokens.kinds[bracket - 1] == "CAST":
                dropped.update((bracket - 1, bracket), range(stated, at + 1))
    kept = [at for at in range(len(tokens.kinds) - 1) if at not in dropped]
    for at, kind in enumerate(tokens.kinds[:-1]):
        if kind == "(" and at and tokens.kinds[at - 1] in ("word", "quoted", "CAST"):
            tokens.calls.add(at)
    return "".join(
        ("" if not number or _is_glued(tokens.kinds, kept[number - 1], at, at in tokens.calls) else " ")
        + tokens.texts[at]
        for number, at in enumerate(kept)
    )


def _is_glued(kinds: list[str], before: int, at: int, is_call: bool) -> bool:
    return kinds[before] in ("(", "[", ".") or kinds[at] in (")", "]", ".", ",", "[") or is_call
