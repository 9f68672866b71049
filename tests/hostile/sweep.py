"""Finds functions that amplify small input: every function of the default list, with extreme arguments, in plain Spark.

`python -m tests.hostile.sweep [names]` takes the examples of Spark's own documentation, replaces their arguments with
extreme values, and lists what takes long, grows, or ends the process. The bounds on rules must hold whatever a function
does. The list shows where it is worth predicting the cost of a call before making it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from sparkrules.sql.functions import SCALAR_FUNCTIONS
from tests.hostile.child import Child, Lost
from tests.hostile.sweep_child import COLUMNS

SIZE = 30_000
SECONDS = 5.0
SLOW = 0.25  # seconds for a row of SIZE
GROWTH = 20  # times SIZE

_TEXTS = [name for name in COLUMNS if name.startswith("s_")]
_NUMBERS = [
    "2147483647", "-2147483648", "0", "-1", "100000000", "9223372036854775807", "1e308D", "double('NaN')",
    "CAST('1E-500000000' AS DECIMAL(38,0))", "99999999999999999999999999999999999999BD", "NULL",
]  # fmt: skip
_ARRAYS = ["a_int", "a_same", "a_text", "a_arrays", "a_nan", "array()", "NULL"]
_MAPS = ["m", "m_text", "map()", "NULL"]
_LITERALS = ["'" + "9" * 2000 + "'", "'" + "yyyy" * 500 + "'", "'" + "(a*)*" * 200 + "b'", "'%2147483647d'", "'$'"]
_POOLS = {
    "text": _TEXTS + _LITERALS,
    "number": _NUMBERS,
    "array": _ARRAYS,
    "map": _MAPS,
    "other": ["s_a", "s_digits", "b", "v", "d", "t", "a_int", "m", "2147483647", "NULL"],
}


def calls(name: str, examples: str) -> list[list[str]]:
    """The arguments of the calls of a function in the examples of its documentation."""
    found = []
    for line in examples.splitlines():
        at = line.lower().find(f"{name}(")
        if line.strip().startswith(">") and at >= 0:
            found.append(arguments(line[at + len(name) + 1 :]))
    by_shape = {tuple(map(kind, call)): call for call in found if call}
    return list(by_shape.values())[:3]


def arguments(text: str) -> list[str]:
    """Up to the bracket that ends the call."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]" and depth:
            depth -= 1
        elif c == ")" or (c == "," and not depth):
            parts.append(text[start:i].strip())
            start = i + 1
            if c == ")":
                return [part for part in parts if part]
    return []


def kind(argument: str) -> str:
    if "->" in argument:
        return "lambda"
    first = argument.lower()
    for prefix, found in (("'", "text"), ('"', "text"), ("array(", "array"), ("map(", "map")):
        if first.startswith(prefix):
            return found
    return "number" if first.lstrip("-")[:1].isdigit() else "other"


def cases(name: str, call: list[str]) -> Iterator[str]:
    """Each argument in turn, all of a kind together, and some at random."""
    kinds = [kind(argument) for argument in call]
    seen = set()
    for i, of in enumerate(kinds):
        for value in _POOLS.get(of, []):
            seen.add((*call[:i], value, *call[i + 1 :]))
    for of, pool in _POOLS.items():
        for value in pool:
            seen.add(tuple(value if k == of else argument for k, argument in zip(kinds, call, strict=True)))
    chance = random.Random(name)
    for _ in range(20 if len(call) > 1 else 0):
        seen.add(tuple(chance.choice(_POOLS.get(k, [a])) for k, a in zip(kinds, call, strict=True)))
    if name == "concat" or len(call) == 1:
        seen.update((value,) for pool in _POOLS.values() for value in pool)
    for values in sorted(seen):
        yield f"{name}({', '.join(values)})"


def main() -> None:
    names = sys.argv[1:] or sorted(SCALAR_FUNCTIONS)
    with Child("tests.hostile.sweep_child") as child:
        for size in (SIZE // 4, SIZE):
            child.ask({"sql": "lower(s_a)", "n": size}, 120)
        for name in names:
            described = child.ask({"name": name}, 60)
            if isinstance(described, Lost):
                continue
            lost = tried = refused = 0
            shapes = calls(name, described["examples"]) or [["s_a"], ["1"], ["s_a", "'x'"]]
            for sql in [sql for call in shapes for sql in cases(name, call)]:
                if lost == 3:
                    break
                tried += 1
                found = child.ask({"sql": sql, "n": SIZE}, SECONDS)
                if isinstance(found, Lost):
                    lost += 1
                    report(name, sql, f"{found.how} after {found.seconds:.1f} s")
                    for size in (SIZE // 4, SIZE):  # the next child makes its tables first
                        child.ask({"sql": "lower(s_a) LIKE 'a%'", "n": size}, 120)
                elif "error" in found:
                    refused += 1
                    if "OutOfMemory" in found["error"] or "StackOverflow" in found["error"]:
                        report(name, sql, found["error"].splitlines()[0][:120])
                elif found["seconds"] > SLOW or found["bytes"] > GROWTH * SIZE:
                    less = child.ask({"sql": sql, "n": SIZE // 4}, SECONDS)
                    quarter = f"{less['seconds']:.3f} s" if isinstance(less, dict) and "seconds" in less else "?"
                    report(name, sql, f"{found['seconds']:.3f} s, {found['bytes']:,} bytes; a quarter of it {quarter}")
            print(f"# {name}: {tried} tried, {refused} refused", flush=True)


def report(name: str, sql: str, what: str) -> None:
    shown = sql if len(sql) < 160 else f"{sql[:80]} ... {sql[-60:]}"
    print(f"{name}\t{shown}\t{what}", flush=True)


if __name__ == "__main__":
    main()
