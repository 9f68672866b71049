"""Random rule texts over a table: the whole grammar, mostly well-typed, so that most are accepted.

Some call the Python functions of `functions.py`.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.fuzz.tables import Table
from tests.row_functions import marked, rule_of, where_of
from tests.writer import Drawn

# What a change of clocks leaves out, and what it repeats.
_CHANGES = ["2024-03-31 02:30:00", "2024-03-10 02:30:00", "2024-03-10 03:30:00", "2024-11-03 01:30:00"]
_CONSTANTS = {
    "number": [
        "0",
        "1",
        "5",
        "-7",
        "1.5",
        "1.50",
        "5.5",
        "0.1",
        "-0.0",
        "1e0",
        "127",
        "128",
        "2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "9007199254740992",
        "5L",
        "0.1D",
        "1.5BD",
        "0.1F",
        "999.999",
        "12345678901234567890",
        "'5'",
        "'x'",
        "DOUBLE('NaN')",
        "float('Infinity')",
        "(2+3)",
        "true",
    ],
    "text": [
        "''",
        "'x'",
        "'X'",
        "'xyz'",
        "'x  '",
        "'xyzxyzx'",
        "'I'",
        "'\u00df'",
        "'x' COLLATE UTF8_LCASE",
        "'5'",
        "5",
        "1.5",
        "'ä%_b'",
        "lower('XYZ')",
        "r'a\\b'",
        "'2020-02-29'",
        "true",
    ],
    "truth": ["true", "false", "'true'", "1"],
    "date": [
        "DATE'2020-02-29'",
        "'2020-02-29'",
        "'2020'",
        "TIMESTAMP'2024-01-01 00:00:00'",
        "DATE'1969-12-31' + 1",
        "DATE'2024-03-10'",
    ],
    "time": [
        "TIMESTAMP'2020-02-29 12:00:00'",
        "'2024-01-01'",
        "DATE'2024-01-01'",
        "TIMESTAMP_NTZ'2020-02-29 12:00:00'",
        *(f"{type}'{time}'" for type in ("TIMESTAMP", "TIMESTAMP_NTZ") for time in _CHANGES),
    ],
    "binary": ["X''", "X'00'", "X'FF01'", "'x'"],
    "array": ["array(1, 5)", "array('x', 'y')", "array()"],
    "map": ["map('k', 1)"],
    "struct": ["named_struct('x', 1, 'y', 'x')"],
    "duration": ["INTERVAL '1' DAY", "INTERVAL '36:00' HOUR TO MINUTE"],
    "months": ["INTERVAL '1' YEAR", "INTERVAL '12' MONTH"],
}
_COMPARABLE = ["number", "number", "text", "text", "truth", "date", "time", "binary", "duration", "months"]
_CALLABLE = ("number", "text", "truth")  # kinds of values that Python functions have
_OPERATORS = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
_PATTERNS = [
    "'x%'",
    "'i%'",
    "'X%z'",
    "'x    '",
    "'%y%'",
    "'%'",
    "''",
    "'_'",
    "'X'",
    "'%\\\\%%'",
    "'ä\\%\\_b'",
    "'__z'",
    "NULL",
]
_REGEXES = ["'^x'", "'z$'", "'[xX].*'", "'(?i)XYZ'", "'a|5'", "''", "'\\\\d+'"]


class _Rules(Drawn):
    """Draws the parts of a rule, each as text."""

    def __init__(self, draw: st.DrawFn, table: Table, calls: int) -> None:
        super().__init__(draw)
        self.table = table
        self.calls = calls  # in a hundred values of a kind that functions have

    def constant(self, kind: str) -> str:
        return "NULL" if self.chance(8) else self.pick(_CONSTANTS[kind])

    def column(self, kind: str) -> str:
        columns = self.table.of_kind(kind)
        return self.pick(columns) if columns else self.constant(kind)

    def value(self, kind: str, depth: int) -> str:
        """An expression of a kind: a column for the most part."""
        if depth >= 0 and kind in _CALLABLE and self.calls and self.chance(self.calls):
            return self.call(kind, depth - 1)
        if depth <= 0 or self.chance(55):
            return self.column(kind) if self.chance(85) else self.constant(kind)
        more = depth - 1
        if self.chance(25):
            return self.pick(
                [
                    f"coalesce({self.value(kind, more)}, {self.value(kind, more)})",
                    f"if({self.condition(more)}, {self.value(kind, more)}, {self.value(kind, more)})",
                    f"CASE WHEN {self.condition(more)} THEN {self.value(kind, more)} ELSE {self.value(kind, more)} END",
                    f"nullif({self.value(kind, more)}, {self.value(kind, more)})",
                    f"({self.value(kind, more)})",
                ]
            )
        if kind == "number" and self.chance(15):
            return self.row_value(more)
        if kind == "number":
            one, two, text = self.value(kind, more), self.value(kind, more), self.value("text", more)
            return self.pick(
                [
                    f"{one} + {two}",
                    f"{one} - {two}",
                    f"({one}) * 2",
                    f"({one}) / 2",
                    f"try_divide({one}, {two})",
                    f"({one}) % 3",
                    f"-({one})",
                    f"abs({one})",
                    f"CAST({one} AS {self.pick(['DOUBLE', 'DECIMAL(20, 2)', 'BIGINT'])})",
                    f"try_cast({one} AS {self.pick(['TINYINT', 'FLOAT', 'DECIMAL(5, 1)'])})",
                    f"round({one}, 1)",
                    f"length({text})",
                    f"try_cast({text} AS INT)",
                    f"CAST({self.column('truth')} AS INT)",
                    f"year({self.value('date', more)})",
                    f"size({self.column('array')})",
                    f"get({self.column('array')}, 0)",
                    f"{self.column('map')}['k']",
                    f"({self.column('struct')}).x",
                ]
            )
        if kind == "text":
            one = self.value(kind, more)
            return self.pick(
                [
                    f"lower({one})",
                    f"upper({one})",
                    f"trim({one})",
                    f"{one} || {self.value(kind, more)}",
                    f"substring({one}, 1, 2)",
                    f"replace({one}, 'x', '')",
                    f"CAST({self.value('number', more)} AS STRING)",
                    f"({self.column('struct')}).y",
                    f"CAST({self.value('date', more)} AS STRING)",
                ]
            )
        if kind == "date":
            time = self.value("time", more)
            return self.pick([f"date_add({self.value(kind, more)}, 1)", f"CAST({time} AS DATE)", f"to_date({time})"])
        if kind == "time":
            return self.pick(
                [
                    f"{self.value(kind, more)} + INTERVAL 1 HOUR",
                    f"CAST({self.value('date', more)} AS TIMESTAMP)",
                    f"CAST({self.value(kind, more)} AS TIMESTAMP)",
                    f"CAST({self.value(kind, more)} AS TIMESTAMP_NTZ)",
                ]
            )
        return self.column(kind)

    def row_value(self, depth: int) -> str:
        """A value that a row function gives, marked."""
        columns = self.table.of_kind("number")
        if columns and self.chance(60):
            column = self.pick(columns)
            constant = self.pick(["0", "1", "5", "1.5", "-7"])
            condition = self.pick(
                [
                    f"{column} {self.pick(_OPERATORS)} {constant}",
                    f"{column} BETWEEN 0 AND {constant}",
                    f"NOT ({column} < {constant} OR {column} IS NULL)",
                ]
            )
            return marked(f"matched {column}", condition)
        values = [self.value("number", depth) for _ in range(self.between(2, 3))]
        return marked(self.pick(["sum", "avg", "min", "max"]), *values)

    def count(self, depth: int) -> str:
        """How many of some conditions are true, marked."""
        parts = [self.condition(depth - 1) for _ in range(self.between(1, 4))]
        name = self.pick(["at_least", "at_most", "exactly"])
        return marked(f"{name} {self.between(name == 'at_least', len(parts) - (name == 'at_most'))}", *parts)

    def call(self, kind: str, depth: int) -> str:
        """A call of a Python function. Its arguments are cast: Spark chooses no other function by their types."""
        number, text = f"try_cast({self.value('number', depth)} AS INT)", f"CAST({self.value('text', depth)} AS STRING)"
        if kind == "number":
            return self.pick(
                [
                    f"udf_mod({number})",
                    f"udf_mod({number})",
                    f"udf_sum({number}, {number})",
                    f"udf_sum({number}, b => {number})",
                    f"udf_twice({number})",
                    f"udf_size({text})",
                ]
            )
        if kind == "text":
            return self.pick([f"udf_joined({number}, {text})", f"udf_joined({number}, {text})", f"udf_upper({text})"])
        return self.pick([f"udf_is_long({text})", f"udf_is_odd({number})"])

    def predicate(self, depth: int) -> str:
        kind = self.pick(_COMPARABLE)
        one = self.value(kind, depth)
        negated = self.pick(["", "", "NOT "])
        other = (lambda: self.constant(kind)) if self.chance(80) else (lambda: self.value(kind, depth))
        form = self.between(0, 15)
        if form == 0:
            return f"{one} IS {negated}NULL"
        if form == 1:
            # More than ten, and Spark looks them up in a set.
            many = ", ".join(other() for _ in range(self.pick([1, 2, 3, 4, 12])))
            return f"{one} {negated}IN ({many})"
        if form == 2:
            return f"{one} {negated}BETWEEN {other()} AND {other()}"
        if form == 3:
            return f"{one} IS {negated}DISTINCT FROM {other()}"
        if form == 4:
            return f"{other()} {self.pick(_OPERATORS)} {one}"
        if form in (5, 6):
            text = self.value("text", depth)
            return self.pick(
                [
                    f"{text} {negated}LIKE {self.pick(_PATTERNS)}",
                    f"{text} {negated}ILIKE {self.pick(_PATTERNS)}",
                    f"{text} {negated}RLIKE {self.pick(_REGEXES)}",
                    f"{text} {negated}LIKE 'x!%' ESCAPE '!'",
                    f"{text} {negated}LIKE ANY ({self.pick(_PATTERNS)}, {self.pick(_PATTERNS)})",
                    f"{text} {negated}LIKE ALL ({self.pick(_PATTERNS)}, {self.pick(_PATTERNS)})",
                    f"{self.pick(['contains', 'startswith', 'endswith'])}({text}, {self.constant('text')})",
                ]
            )
        if form == 7:
            return self.value("truth", depth)
        if form == 8:
            collection = self.pick(["array", "map", "struct"])
            return self.pick(
                [
                    f"array_contains({self.column('array')}, {self.pick(['1', '5', chr(39) + 'x' + chr(39)])})",
                    f"exists({self.column('array')}, e -> e = {self.pick(['1', chr(39) + 'x' + chr(39)])})",
                    f"{self.column(collection)} IS {negated}NULL",
                    f"{self.column('array')} = {self.constant('array')}",
                    f"{self.column('struct')} = {self.constant('struct')}",
                ]
            )
        return f"{negated}{one} {self.pick(_OPERATORS)} {other()}"

    def condition(self, depth: int) -> str:
        if depth <= 0 or self.chance(35):
            return self.predicate(max(depth, 0))
        if self.chance(12):
            return self.pick(["", "", "NOT "]) + self.count(depth)
        one, two = self.condition(depth - 1), self.condition(depth - 1)
        if self.chance(15):
            return self.pick(
                [
                    f"({one}) = ({two})",
                    f"({one}) <> ({two})",
                    f"({one}) <=> ({two})",
                    f"({one}) IS NOT TRUE",
                    f"({one}) IS FALSE",
                    f"({one}) IS NULL",
                    f"coalesce({one}, {self.pick(['true', 'false'])})",
                    f"CASE WHEN {one} THEN {two} ELSE NULL END",
                ]
            )
        joined = f" {self.pick(['AND', 'OR'])} ".join(
            self.pick([part, f"({part})", f"NOT ({part})"]) for part in (one, two)
        )
        return self.pick([joined, joined, f"NOT ({joined})"])


@st.composite
def rules(draw: st.DrawFn, table: Table, calls: int = 0) -> tuple[str, str]:
    """A rule, and a WHERE of plain Spark SQL that means the same."""
    text = _Rules(draw, table, calls).condition(draw(st.integers(0, 3)))
    return rule_of(text), where_of(text)
