"""Examples in docstrings as blocks of code: Markdown would take the `>>>` of a doctest for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

# From a prompt to the next empty line, which ends a doctest.
_DOCTEST = re.compile(r"^>>> .*?(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)


def fenced(docstring: str) -> str:
    """The docstring with a fence around each doctest.

    >>> fenced("Adds.\\n\\n>>> 1 + 1\\n2\\n\\nThat is all.").splitlines()
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'That is all.']
    """
    return _DOCTEST.sub(lambda found: f"```pycon\n{found[0].replace('<BLANKLINE>', '')}\n```", docstring)


class Doctests(griffe.Extension):
    """Fences the doctests of every object that is documented."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
