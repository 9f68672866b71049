"""What a detection item of Sigma means for one event, as the specification says it, without pySigma and without SQL."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Any

Event = Mapping[str, Any]


def is_match(event: Event, item: str, value: Any) -> bool:
    """Whether `item: value` holds for an event, as in `CommandLine|contains|all: [a, b]`."""
    field, *modifiers = item.split("|")
    if "neq" in modifiers:
        return not is_match(event, item.replace("|neq", ""), value)
    values = value if isinstance(value, list) else [value]
    found = [_holds(event, field, own, [name for name in modifiers if name != "all"]) for own in values]
    return all(found) if "all" in modifiers else any(found)


def _holds(event: Event, field: str, value: Any, modifiers: list[str]) -> bool:
    actual = event.get(field)
    if modifiers == ["exists"]:
        return (actual is not None) == value
    if value is None:
        return actual is None
    if actual is None:
        return False
    if modifiers == ["fieldref"]:
        other = event.get(value)
        return other is not None and str(actual).lower() == str(other).lower()
    if modifiers == ["cidr"]:
        return _is_within(str(actual), value)
    if modifiers and modifiers[0] in ("lt", "lte", "gt", "gte"):
        return _is_compared(modifiers[0], actual, value)
    if modifiers and modifiers[0] == "re":
        flags = sum({"i": re.I, "m": re.M, "s": re.S}[letter] for letter in modifiers[1:])
        return re.search(value, str(actual), flags) is not None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    patterns = [_parsed(text) if isinstance(value, str) else tuple(text)]
    for name in modifiers:
        patterns = [changed for own in patterns for changed in _changed(own, name)]
    if "cased" in modifiers:
        return any(_fits(own, str(actual)) for own in patterns)
    lowered = [tuple(c if c in _WILD else c.lower() for c in own) for own in patterns]
    return any(_fits(own, str(actual).lower()) for own in lowered)


MANY, ONE = "\ue000", "\ue001"  # characters that no test uses
_WILD = (MANY, ONE)


def _parsed(text: str) -> tuple[str, ...]:
    """Characters and wildcards. A backslash protects a wildcard or a backslash; elsewhere it is one."""
    found, place = [], 0
    while place < len(text):
        if text[place] == "\\" and text[place + 1 : place + 2] in ("*", "?", "\\"):
            place += 1
            found.append(text[place])
        else:
            found.append({"*": MANY, "?": ONE}.get(text[place], text[place]))
        place += 1
    return tuple(found)


def _changed(pattern: tuple[str, ...], modifier: str) -> list[tuple[str, ...]]:
    if modifier == "contains":
        return [(MANY, *pattern, MANY)]
    if modifier == "startswith":
        return [(*pattern, MANY)]
    if modifier == "endswith":
        return [(MANY, *pattern)]
    if modifier == "windash":
        text = "".join(pattern)
        dashes = "-/\N{EN DASH}\N{EM DASH}\N{HORIZONTAL BAR}"
        return [tuple(text)] + [tuple(re.sub(r"\B[-/]\b", dash, text)) for dash in dashes]
    if modifier == "wide":
        return [tuple(c for own in pattern for c in (own, "\0"))]
    if modifier == "base64":
        return [tuple(base64.b64encode("".join(pattern).encode()).decode())]
    if modifier == "base64offset":
        return [tuple(_stable("".join(pattern).encode(), before)) for before in range(3)]
    return [pattern]  # cased


def _stable(value: bytes, before: int) -> str:
    """The characters of the Base64 text that are the same whatever stands before and behind the value."""
    texts = [
        base64.b64encode(filler * before + value + filler * (9 - before - len(value) % 3)).decode()
        for filler in (b"\x00", b"\xff", b"\x5a")
    ]
    same = ["".join(own) for own in zip(*texts, strict=True)]
    kept = [at for at, own in enumerate(same) if len(set(own)) == 1 and at < (before + len(value)) * 4 / 3]
    return texts[0][kept[0] : kept[-1] + 1]


def _fits(pattern: tuple[str, ...], text: str) -> bool:
    @cache
    def from_here(at: int, place: int) -> bool:
        if at == len(pattern):
            return place == len(text)
        if pattern[at] == MANY:
            return from_here(at + 1, place) or (place < len(text) and from_here(at, place + 1))
        return place < len(text) and pattern[at] in (ONE, text[place]) and from_here(at + 1, place + 1)

    return from_here(0, 0)


def _is_within(text: str, network: str) -> bool:
    try:
        return ip_address(text) in ip_network(network)
    except ValueError:
        return False


def _is_compared(name: str, actual: Any, value: float) -> bool:
    try:
        number = float(actual)
    except ValueError:
        return False
    return {
        "lt": number < value,
        "lte": number <= value,
        "gt": number > value,
        "gte": number >= value,
    }[name]
