"""What a match is asked for beside the ids."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """The options of `sparkrules.match` and `matches`.

    >>> Asked(3, ("severity",), ("windows", "it's"), shadow=True).sql
    ", top => 3, fields => array('severity'), tags => array('windows', CAST(X'69742773' AS STRING)), shadow => true"
    """

    top: int | None = None
    fields: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    shadow: bool = False

    @property
    def sql(self) -> str:
        """The options as named arguments that follow others."""
        named = {
            "top": None if self.top is None else str(self.top),
            "fields": _array(self.fields),
            "tags": _array(self.tags),
            "shadow": "true" if self.shadow else None,
        }
        return "".join(f", {name} => {value}" for name, value in named.items() if value is not None)


def _array(texts: Iterable[str]) -> str | None:
    listed = ", ".join(map(_text, texts))
    return f"array({listed})" if listed else None


def _text(text: str) -> str:
    # In bytes, nothing can be an escape or a variable, whatever the settings of the session.
    plain = re.fullmatch(r"[\w .:/-]+", text, re.ASCII)
    return f"'{text}'" if plain else f"CAST(X'{text.encode(errors='replace').hex().upper()}' AS STRING)"
