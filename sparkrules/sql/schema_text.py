"""Bounds on the schemas that a rule gives to functions which read JSON, CSV, XML or Avro.

Spark parses such a schema like SQL: a long one takes it seconds, and its time grows with the square of the depth. The
plugin repeats the check (`Options.scala`).
"""

from __future__ import annotations

from itertools import accumulate

from sparkrules.sql.literal import string
from sparkrules.sql.syntax import Syntax, alone, unbracketed
from sparkrules.sql.tokens import Tokens

WITH_SCHEMA = frozenset({"from_json", "from_csv", "from_xml", "from_avro"})
_AT = 1
_MOST_BYTES = 100_000
_MOST_LEVELS = 100
_REMEDY = "Name only the fields that the rule reads."
_STEPS = dict.fromkeys("<({[", 1) | dict.fromkeys(">)}]", -1)


def require_bounded_schema(tokens: Tokens, function: str, arguments: tuple[Syntax, ...]) -> None:
    """Raise `RuleError` if the schema of a call is a string that is too long or nested too deeply."""
    written = alone(arguments[_AT]) if len(arguments) > _AT else None
    if written is None:
        return
    schema = unbracketed(written)
    if any(kind != "string" for kind in tokens.kinds[schema.start : schema.end]):
        return
    constant = string(tokens.texts[schema.start : schema.end])
    if constant is None:
        return
    if len(constant.text.encode()) > _MOST_BYTES:
        raise tokens.error(schema.start, f"the schema of {function} has more than {_MOST_BYTES:,} bytes", _REMEDY)
    if _depth(constant.text) > _MOST_LEVELS:
        raise tokens.error(
            schema.start, f"the schema of {function} is nested deeper than {_MOST_LEVELS} levels", _REMEDY
        )


def _depth(schema: str) -> int:
    return max(accumulate(_STEPS[character] for character in schema if character in _STEPS), default=0)
