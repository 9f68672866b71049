r"""Globs: `*` is any string, also the empty one, `?` any character, and a backslash makes the next one literal."""

from __future__ import annotations

ANY, ONE = None, ""  # `*` and `?` among the characters of a glob
Glob = list[str | None]


def glob_parts(glob: str) -> Glob:
    r"""The characters of a glob. `ValueError` if a backslash escapes nothing that needs it.

    >>> glob_parts("a*\\?")
    ['a', None, '?']
    """
    parts: Glob = []
    characters = iter(glob)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            if escaped not in ("*", "?", "\\"):
                raise ValueError(f"{glob[:60]!r} has a backslash that is not before *, ? or another backslash")
            parts.append(escaped)
        elif character == "*":
            if not parts or parts[-1] is not ANY:
                parts.append(ANY)
        else:
            parts.append(ONE if character == "?" else character)
    return parts
