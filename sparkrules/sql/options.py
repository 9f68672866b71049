"""The options that a rule may pass to functions that read or write JSON, CSV or XML.

Options can do what functions must not: `rowValidationXSDPath` fetches a schema from any location, `compression` loads a
class by name, `inputBufferSize` allocates gigabytes. So only named options that describe the format of values are
allowed. A rule must write them as constants, `map('dateFormat', 'dd.MM.yyyy')`, because computed options cannot be
checked. The plugin repeats the check (`Options.scala`). `docs/limits.md` lists the decision for every option.
"""

from __future__ import annotations

import re

from sparkrules.sql.syntax import Operand, Syntax, alone
from sparkrules.sql.tokens import Tokens

_TIMES = "dateFormat locale timeFormat timeZone timestampFormat timestampNTZFormat"
_READ = f"{_TIMES} columnNameOfCorruptRecord mode"
_JSON_READ = f"""{_READ} allowBackslashEscapingAnyCharacter allowComments allowNonNumericNumbers
    allowNumericLeadingZeros allowSingleQuotes allowUnquotedControlChars allowUnquotedFieldNames dropFieldIfAllNull
    enableDateTimeParsingFallback inferTimestamp prefersDecimal primitivesAsString"""
_CSV = f"""{_TIMES} charToEscapeQuoteEscaping comment delimiter emptyValue escape ignoreLeadingWhiteSpace
    ignoreTrailingWhiteSpace nullValue quote sep"""
_CSV_READ = f"""{_CSV} {_READ} enableDateTimeParsingFallback inferSchema nanValue negativeInf positiveInf preferDate
    unescapedQuoteHandling"""
_XML = f"{_TIMES} attributePrefix nullValue rowTag validateName valueTag"
_XML_READ = f"""{_XML} {_READ} excludeAttribute ignoreNamespace ignoreSurroundingSpaces inferSchema preferDate
    prefersDecimal wildcardColName"""
_AVRO = "avroSchema enableStableIdentifiersForUnionType mode recursiveFieldMaxDepth stableIdentifierPrefixForUnionType"

# For each function: the index of the options argument, from 0, and the allowed keys.
_ALLOWED: dict[str, tuple[int, str]] = {
    "from_json": (2, _JSON_READ),
    "schema_of_json": (1, _JSON_READ),
    "to_json": (1, f"{_TIMES} ignoreNullFields pretty sortKeys writeNonAsciiCharacterAsCodePoint"),
    "from_csv": (2, _CSV_READ),
    "schema_of_csv": (1, _CSV_READ),
    "to_csv": (1, f"{_CSV} escapeQuotes quoteAll"),
    "from_xml": (2, _XML_READ),
    "schema_of_xml": (1, _XML_READ),
    "to_xml": (1, f"{_XML} arrayElementName declaration indent rootTag"),
    "from_avro": (2, _AVRO),
    "schema_of_avro": (1, _AVRO),
}
OPTIONS: dict[str, tuple[int, dict[str, str]]] = {
    name: (at, {key.lower(): key for key in keys.split()}) for name, (at, keys) in _ALLOWED.items()
}

_KEY = re.compile(r"(['\"])([A-Za-z]+)\1")


def require_options(tokens: Tokens, function: str, arguments: tuple[Syntax, ...], end: int) -> None:
    """Raise `RuleError` unless the options of a call ending at `end` are a map of constants with allowed keys."""
    at, allowed = OPTIONS[function]
    if len(arguments) <= at:
        return
    options = alone(arguments[at])
    if options is None or not _is_written_out(tokens, options):
        raise tokens.error(
            end if options is None else options.start,
            f"the options of {function} are not constants",
            f"Write them as a map of constants: {function}(..., map('mode', 'FAILFAST')).",
        )
    for i in range(options.start + 2, options.end - 1, 4):
        written = _KEY.fullmatch(tokens.texts[i])
        if written is None or written[2].lower() not in allowed:
            raise tokens.error(
                i,
                f"this option of {function} is not allowed in a rule",
                f"Allowed are {', '.join(sorted(allowed.values()))}.",
            )


def _is_written_out(tokens: Tokens, options: Operand) -> bool:
    """`map ( 'key' , 'value' , ... )`, token by token."""
    kinds = tokens.kinds[options.start + 1 : options.end]
    inner = kinds[1:-1]
    return (
        options.form == "call"
        and options.function == "map"
        and kinds[:1] == ["("]
        and inner[::2] == ["string"] * (len(inner) + 1 >> 1)
        and inner[1::2] == [","] * (len(inner) >> 1)
        and len(inner) % 4 == 3
    )
