"""Random conditions in PostgreSQL's syntax, over the columns of one table, by type."""

from __future__ import annotations

from tests.writer import Seeded

COLUMNS = {
    "s": ("TEXT", "STRING"),
    "t": ("TEXT", "STRING"),
    "i": ("INT", "INT"),
    "j": ("INT", "INT"),
    "l": ("BIGINT", "BIGINT"),
    "n": ("NUMERIC(10, 2)", "DECIMAL(10, 2)"),
    "x": ("DOUBLE PRECISION", "DOUBLE"),
    "p": ("BOOLEAN", "BOOLEAN"),
    "q": ("BOOLEAN", "BOOLEAN"),
    "d": ("DATE", "DATE"),
    "e": ("DATE", "DATE"),
    "ts": ("TIMESTAMP", "TIMESTAMP_NTZ"),
    "a$b": ("INT", "INT"),
}
# Literals that both sides read alike.
ROWS = [
    ("'a'", "'b'", "1", "2", "10", "1.50", "1.5", "true", "false", "'2020-01-31'", "'2020-02-29'", "'2020-01-31 12:30:15.5'", "1"),
    ("''", "' '", "0", "0", "0", "0.00", "0", "false", "false", "'1999-12-31'", "'2000-01-01'", "'1999-12-31 23:59:59'", "2"),
    ("NULL", "'a'", "NULL", "1", "NULL", "NULL", "NULL", "NULL", "true", "NULL", "'2020-01-31'", "NULL", "NULL"),
    ("'A'", "NULL", "3", "NULL", "-7", "-2.50", "'NaN'", "true", "NULL", "'2020-03-01'", "NULL", "'2020-03-01 00:00:00'", "3"),
    ("' ab '", "'ab'", "-1", "3", "7", "0.90", "'Infinity'", "true", "true", "'2021-01-03'", "'2021-01-03'", "'2021-01-03 08:00:00'", "-1"),
    ("'abc'", "'bc'", "7", "2", "3000000000", "1.00", "-2.5", "false", "true", "'2024-02-29'", "'2023-02-28'", "'2024-02-29 00:00:00.000001'", "0"),
    ("'a%b'", "'a_b'", "10", "-3", "1", "99999999.99", "100000000000000000000", "NULL", "NULL", "'2020-12-31'", "'2021-01-01'", "'2020-12-31 23:00:00'", "1"),
    ("'it''s'", "'x,y,z'", "2", "2", "-1", "0.33", "0.5", "true", "true", "'2020-02-01'", "'2020-02-01'", "'2020-02-01 01:01:01'", "5"),
    ("NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"),
    ("'t'", "'true'", "1", "1", "1", "3.00", "-0.0", "true", "true", "'2020-01-01'", "'2020-01-01'", "'2020-01-01 00:00:00'", "1"),
    ("'1'", "'b\\a'", "-7", "5", "300", "-0.01", "3", "false", "NULL", "'1970-01-01'", "'1969-12-31'", "'1970-01-01 00:00:00'", "4"),
]  # fmt: skip


class Texts(Seeded):
    """One text after the other, from a seed."""

    def condition(self, depth: int = 3) -> str:
        if depth <= 0:
            return self.pick([self.comparison(1), self.comparison(1), self.comparison(1), "p", "q", "TRUE", "FALSE"])
        kind = self.between(0, 9)
        if kind == 0:
            return f"NOT {self.bracketed(depth - 1)}"
        if kind == 1:
            return f"({self.condition(depth - 1)}) IS {self.maybe('NOT ')}{self.pick(['TRUE', 'FALSE', 'UNKNOWN', 'NULL'])}"
        if kind < 5:
            return self.several(lambda: self.bracketed(depth - 1), 2, 3, f" {self.pick(['AND', 'OR'])} ")
        return self.comparison(depth)

    def bracketed(self, depth: int) -> str:
        return f"({self.condition(depth)})" if self.chance(60) else self.comparison(depth)

    def comparison(self, depth: int) -> str:
        kind = self.pick(
            ["text", "text", "number", "number", "date", "boolean", "row", "row", "like", "null", "division"]
        )
        operator = self.pick(["=", "<>", "<", "<=", ">", ">=", "!=", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM "])
        if kind == "row":
            return self.rows()
        if kind == "division":
            return f"{self.pick(['i', 'n', 'x', 'l', '(i + j)'])} / {self.pick(['2.0', '3.0', '10.0', '0.5', '7.', '-4.0'])} {self.pick(['=', '<', '>', '<=', '>='])} {self.literal()}"
        if kind == "like":
            subject = self.text(depth - 1)
            pattern = self.pick(["'a%'", "'%b'", "'_'", "''", "'a\\%b'", "'%'", "'a_b'", "'A%'", "'%''%'", "t"])
            if self.chance(40):
                test = self.pick(["~", "!~", "~*", "!~*"])
                regex = self.pick(
                    ["'a'", "'^a$'", "'b|c'", "'.'", "'^[a-c]+$'", "'(a|b)c?'", "'B'", "'^$'", "'a{1,2}'", "'\\.'"]
                )
                return f"{subject} {test} {regex}"
            if self.chance(20):
                return f"{subject} {self.maybe('NOT ')}SIMILAR TO {self.pick(['%a%', '(a|b)%', '_', 'abc', 'a|A', ' %']).join(chr(39) * 2)}"
            return f"{subject} {self.pick(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE'])} {pattern}"
        if kind == "null":
            value = self.pick([self.text, self.number, self.date])(depth - 1)
            return f"{value} {self.pick(['IS NULL', 'IS NOT NULL', 'ISNULL', 'NOTNULL'])}"
        if kind == "boolean":
            return f"{self.pick(['p', 'q', '(i > 1)', '(s IS NULL)'])} {operator} {self.pick(['TRUE', 'FALSE', 'NULL', 'p', 'q', '(j > 0)'])}"
        make = {"text": self.text, "number": self.number, "date": self.date}[kind]
        shape = self.between(0, 5)
        if shape == 0:
            members = self.several(lambda: make(0), 1, 3)
            return f"{make(depth - 1)} {self.pick(['IN', 'NOT IN'])} ({members}{self.maybe(', NULL')})"
        if shape == 1:
            return f"{make(depth - 1)} {self.maybe('NOT ')}BETWEEN {self.maybe('SYMMETRIC ')}{make(0)} AND {make(0)}"
        if shape == 2 and kind != "date":
            return f"{make(0)} = ANY (ARRAY[{make(0)}, {make(0)}])"
        return f"{make(depth - 1)} {operator} {make(depth - 1)}"

    def rows(self) -> str:
        width = self.pick([2, 2, 3])
        kinds = [self.pick([self.number, self.text, self.date]) for _ in range(width)]

        def row(null: int = 15) -> str:
            parts = ["NULL" if self.chance(null) else kind(0) for kind in kinds]
            return f"{self.pick(['', '', 'ROW'])}({', '.join(parts)})"

        shape = self.between(0, 7)
        if shape == 0:
            return f"{row(0)} IS {self.maybe('NOT ')}NULL"
        if shape == 1:
            return f"{row()} {self.pick(['IN', 'NOT IN'])} ({self.several(row, 1, 3)})"
        if shape == 2:
            return f"{row(0)} IS {self.maybe('NOT ')}DISTINCT FROM {row()}"
        if shape == 3:
            return f"{row(0)} {self.maybe('NOT ')}BETWEEN {row(0)} AND {row(0)}"
        return f"{row()} {self.pick(['=', '<>', '<', '<=', '>', '>='])} {row()}"

    def literal(self) -> str:
        return self.pick(["0", "1", "2", "-1", "1.5", "0.5", "-0.25", "3", "0.3", "10"])

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(
                ["i", "j", "l", "n", "x", '"a$b"', "a$b", self.literal(), self.literal(), "1e2", "2.5e-1", "NULL"]
            )
        inner = self.number(depth - 1)
        return self.pick(
            [
                f"({inner} + {self.number(0)})",
                f"({inner} - {self.number(0)})",
                f"({inner} * {self.pick(['2', '0.1', 'j', '-1'])})",
                f"{self.pick(['i', 'j', 'l', 'n'])} % {self.pick(['2', '3', '-3'])}",
                f"MOD({self.pick(['i', 'l', 'n'])}, {self.pick(['2', '5'])})",
                f"({self.pick(['i', 'j', '7'])} {self.pick(['&', '|'])} {self.pick(['j', '3', '1'])})",
                f"ABS({inner})",
                f"SIGN({inner})",
                f"CEIL({self.number(0)})",
                f"CEILING({self.number(0)})",
                f"FLOOR({self.number(0)})",
                f"ROUND({self.pick(['n', 'i', 'n * 0.5'])}, {self.pick(['0', '1', '2'])})",
                f"LENGTH({self.text(depth - 1)})",
                f"CHAR_LENGTH({self.text(depth - 1)})",
                f"OCTET_LENGTH({self.text(0)})",
                f"POSITION({self.text(0)} IN {self.text(0)})",
                f"STRPOS({self.text(0)}, {self.text(0)})",
                f"GREATEST({self.number(0)}, {inner})",
                f"LEAST({inner}, {self.number(0)}, {self.number(0)})",
                f"COALESCE({self.number(0)}, {inner})",
                f"NULLIF({inner}, {self.number(0)})",
                f"CASE WHEN {self.condition(0)} THEN {inner} ELSE {self.number(0)} END",
                f"EXTRACT({self.pick(['YEAR', 'QUARTER', 'MONTH', 'DAY', 'DOW', 'ISODOW', 'DOY', 'WEEK'])} FROM {self.date(0)})",
                f"EXTRACT({self.pick(['HOUR', 'MINUTE', 'SECOND'])} FROM ts)",
                f"DATE_PART('{self.pick(['year', 'month', 'day', 'dow'])}', {self.date(0)})",
                f"{inner}::numeric(12, 1)",
                f"({inner})::float8",
                f"- {self.number(0)}",
            ]
        )

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(
                ["s", "t", "'a'", "''", "'ab'", "' '", "'it''s'", "E'a\\nb'", "E'it\\'s'", "$$x$$", "NULL::text", "'A'"]
            )
        inner = self.text(depth - 1)
        return self.pick(
            [
                f"({inner} || {self.text(0)})",
                f"({inner} || {self.pick(['i', 'n', 'x', 'p', '1', 'TRUE', 'd'])})",
                f"CONCAT({inner}, {self.text(0)})",
                f"CONCAT({self.text(0)}, {self.pick(['i', 'n', 'x', 'p', '5', 'NULL', 'd', 'TRUE', 'i > 1'])}, {self.text(0)})",
                f"CONCAT_WS({self.pick([chr(39) + ',' + chr(39), chr(39) * 2])}, {inner}, {self.text(0)}, {self.text(0)})",
                f"CONCAT_WS('-', {inner}, {self.pick(['i', 'p', 'd'])})",
                f"LOWER({inner})",
                f"UPPER({inner})",
                f"TRIM({inner})",
                f"LTRIM({inner})",
                f"RTRIM({inner})",
                f"BTRIM({inner}, 'a ')",
                f"LTRIM({inner}, 'ab')",
                f"TRIM({self.pick(['BOTH', 'LEADING', 'TRAILING'])} 'a' FROM {inner})",
                f"LEFT({inner}, {self.pick(['0', '1', '2', '-1'])})",
                f"RIGHT({inner}, {self.pick(['0', '1', '2', '-1'])})",
                f"SUBSTRING({inner}, {self.pick(['1', '2', '0'])}, {self.pick(['0', '1', '2'])})",
                f"SUBSTRING({inner} FROM 2)",
                f"SUBSTR({inner}, 2, 1)",
                f"REPLACE({inner}, {self.text(0)}, {self.text(0)})",
                f"REVERSE({inner})",
                f"SPLIT_PART({inner}, ',', {self.pick(['1', '2', '9'])})",
                f"TRANSLATE({inner}, 'ab', 'xy')",
                f"TRANSLATE({inner}, 'ab', 'x')",
                f"COALESCE({inner}, {self.text(0)})",
                f"NULLIF({inner}, {self.text(0)})",
                f"GREATEST({inner}, {self.text(0)})",
                f"CASE {self.text(0)} WHEN {self.text(0)} THEN {inner} ELSE {self.text(0)} END",
                f"CASE WHEN {self.condition(0)} THEN {inner} END",
            ]
        )

    def date(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(["d", "e", "DATE '2020-01-31'", "'2020-02-01'::date", "CAST('2021-01-03' AS DATE)"])
        inner = self.date(depth - 1)
        return self.pick(
            [
                f"({inner} + {self.pick(['1', '7', 'i'])})",
                f"({inner} - 1)",
                f"({inner} + INTERVAL '{self.pick(['1 day', '1 month', '2 years', '3 hours', '1 week'])}')",
                f"({inner} - INTERVAL '{self.pick(['1', '31'])}' DAY)",
                f"DATE_TRUNC('{self.pick(['month', 'year', 'day', 'quarter'])}', {self.date(0)})",
                "ts",
                f"COALESCE({self.date(0)}, {self.date(0)})",
                "ts::date",
            ]
        )
