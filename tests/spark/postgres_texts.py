"""Random conditions as PostgreSQL writes them, over the columns of one table, by type."""

from __future__ import annotations

import random

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
]


class Texts:
    """One text after the other, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def condition(self, depth: int = 3) -> str:
        r = self.random
        if depth <= 0:
            return r.choice([self.comparison(1), self.comparison(1), self.comparison(1), "p", "q", "TRUE", "FALSE"])
        kind = r.randrange(10)
        if kind == 0:
            return f"NOT {self.bracketed(depth - 1)}"
        if kind == 1:
            return f"({self.condition(depth - 1)}) IS {r.choice(['', 'NOT '])}{r.choice(['TRUE', 'FALSE', 'UNKNOWN', 'NULL'])}"
        if kind < 5:
            return f" {r.choice(['AND', 'OR'])} ".join(self.bracketed(depth - 1) for _ in range(r.randint(2, 3)))
        return self.comparison(depth)

    def bracketed(self, depth: int) -> str:
        return f"({self.condition(depth)})" if self.random.random() < 0.6 else self.comparison(depth)

    def comparison(self, depth: int) -> str:
        r = self.random
        kind = r.choice(["text", "text", "number", "number", "date", "boolean", "row", "row", "like", "null", "division"])
        operator = r.choice(["=", "<>", "<", "<=", ">", ">=", "!=", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM "])
        if kind == "row":
            return self.rows()
        if kind == "division":
            return f"{r.choice(['i', 'n', 'x', 'l', '(i + j)'])} / {r.choice(['2.0', '3.0', '10.0', '0.5', '7.', '-4.0'])} {r.choice(['=', '<', '>', '<=', '>='])} {self.literal()}"
        if kind == "like":
            subject = self.text(depth - 1)
            pattern = r.choice(["'a%'", "'%b'", "'_'", "''", "'a\\%b'", "'%'", "'a_b'", "'A%'", "'%''%'", "t"])
            if r.random() < 0.4:
                test = r.choice(["~", "!~", "~*", "!~*"])
                regex = r.choice(["'a'", "'^a$'", "'b|c'", "'.'", "'^[a-c]+$'", "'(a|b)c?'", "'B'", "'^$'", "'a{1,2}'", "'\\.'"])
                return f"{subject} {test} {regex}"
            if r.random() < 0.2:
                return f"{subject} {r.choice(['', 'NOT '])}SIMILAR TO {r.choice(['%a%', '(a|b)%', '_', 'abc', 'a|A', ' %']).join(chr(39) * 2)}"
            return f"{subject} {r.choice(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE'])} {pattern}"
        if kind == "null":
            value = r.choice([self.text, self.number, self.date])(depth - 1)
            return f"{value} {r.choice(['IS NULL', 'IS NOT NULL', 'ISNULL', 'NOTNULL'])}"
        if kind == "boolean":
            return f"{r.choice(['p', 'q', '(i > 1)', '(s IS NULL)'])} {operator} {r.choice(['TRUE', 'FALSE', 'NULL', 'p', 'q', '(j > 0)'])}"
        make = {"text": self.text, "number": self.number, "date": self.date}[kind]
        shape = r.randrange(6)
        if shape == 0:
            members = ", ".join(make(0) for _ in range(r.randint(1, 3)))
            return f"{make(depth - 1)} {r.choice(['IN', 'NOT IN'])} ({members}{r.choice(['', ', NULL'])})"
        if shape == 1:
            return f"{make(depth - 1)} {r.choice(['', 'NOT '])}BETWEEN {r.choice(['', 'SYMMETRIC '])}{make(0)} AND {make(0)}"
        if shape == 2 and kind != "date":
            return f"{make(0)} = ANY (ARRAY[{make(0)}, {make(0)}])"
        return f"{make(depth - 1)} {operator} {make(depth - 1)}"

    def rows(self) -> str:
        r = self.random
        width = r.choice([2, 2, 3])
        kinds = [r.choice([self.number, self.text, self.date]) for _ in range(width)]

        def row(null: float = 0.15) -> str:
            parts = ["NULL" if r.random() < null else kind(0) for kind in kinds]
            return f"{r.choice(['', '', 'ROW'])}({', '.join(parts)})"

        shape = r.randrange(8)
        if shape == 0:
            return f"{row(0)} IS {r.choice(['', 'NOT '])}NULL"
        if shape == 1:
            return f"{row()} {r.choice(['IN', 'NOT IN'])} ({', '.join(row() for _ in range(r.randint(1, 3)))})"
        if shape == 2:
            return f"{row(0)} IS {r.choice(['', 'NOT '])}DISTINCT FROM {row()}"
        if shape == 3:
            return f"{row(0)} {r.choice(['', 'NOT '])}BETWEEN {row(0)} AND {row(0)}"
        return f"{row()} {r.choice(['=', '<>', '<', '<=', '>', '>='])} {row()}"

    def literal(self) -> str:
        return self.random.choice(["0", "1", "2", "-1", "1.5", "0.5", "-0.25", "3", "0.3", "10"])

    def number(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return r.choice(["i", "j", "l", "n", "x", '"a$b"', "a$b", self.literal(), self.literal(), "1e2", "2.5e-1", "NULL"])
        inner = self.number(depth - 1)
        return r.choice(
            [
                f"({inner} + {self.number(0)})",
                f"({inner} - {self.number(0)})",
                f"({inner} * {r.choice(['2', '0.1', 'j', '-1'])})",
                f"{r.choice(['i', 'j', 'l', 'n'])} % {r.choice(['2', '3', '-3'])}",
                f"MOD({r.choice(['i', 'l', 'n'])}, {r.choice(['2', '5'])})",
                f"({r.choice(['i', 'j', '7'])} {r.choice(['&', '|'])} {r.choice(['j', '3', '1'])})",
                f"ABS({inner})",
                f"SIGN({inner})",
                f"CEIL({self.number(0)})",
                f"CEILING({self.number(0)})",
                f"FLOOR({self.number(0)})",
                f"ROUND({r.choice(['n', 'i', 'n * 0.5'])}, {r.choice(['0', '1', '2'])})",
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
                f"EXTRACT({r.choice(['YEAR', 'QUARTER', 'MONTH', 'DAY', 'DOW', 'ISODOW', 'DOY', 'WEEK'])} FROM {self.date(0)})",
                f"EXTRACT({r.choice(['HOUR', 'MINUTE', 'SECOND'])} FROM ts)",
                f"DATE_PART('{r.choice(['year', 'month', 'day', 'dow'])}', {self.date(0)})",
                f"{inner}::numeric(12, 1)",
                f"({inner})::float8",
                f"- {self.number(0)}",
            ]
        )

    def text(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return r.choice(["s", "t", "'a'", "''", "'ab'", "' '", "'it''s'", "E'a\\nb'", "E'it\\'s'", "$$x$$", "NULL::text", "'A'"])
        inner = self.text(depth - 1)
        return r.choice(
            [
                f"({inner} || {self.text(0)})",
                f"({inner} || {r.choice(['i', 'n', 'x', 'p', '1', 'TRUE', 'd'])})",
                f"CONCAT({inner}, {self.text(0)})",
                f"CONCAT({self.text(0)}, {r.choice(['i', 'n', 'x', 'p', '5', 'NULL', 'd', 'TRUE', 'i > 1'])}, {self.text(0)})",
                f"CONCAT_WS({r.choice([chr(39) + ',' + chr(39), chr(39) * 2])}, {inner}, {self.text(0)}, {self.text(0)})",
                f"CONCAT_WS('-', {inner}, {r.choice(['i', 'p', 'd'])})",
                f"LOWER({inner})",
                f"UPPER({inner})",
                f"TRIM({inner})",
                f"LTRIM({inner})",
                f"RTRIM({inner})",
                f"BTRIM({inner}, 'a ')",
                f"LTRIM({inner}, 'ab')",
                f"TRIM({r.choice(['BOTH', 'LEADING', 'TRAILING'])} 'a' FROM {inner})",
                f"LEFT({inner}, {r.choice(['0', '1', '2', '-1'])})",
                f"RIGHT({inner}, {r.choice(['0', '1', '2', '-1'])})",
                f"SUBSTRING({inner}, {r.choice(['1', '2', '0'])}, {r.choice(['0', '1', '2'])})",
                f"SUBSTRING({inner} FROM 2)",
                f"SUBSTR({inner}, 2, 1)",
                f"REPLACE({inner}, {self.text(0)}, {self.text(0)})",
                f"REVERSE({inner})",
                f"SPLIT_PART({inner}, ',', {r.choice(['1', '2', '9'])})",
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
        r = self.random
        if depth <= 0:
            return r.choice(["d", "e", "DATE '2020-01-31'", "'2020-02-01'::date", "CAST('2021-01-03' AS DATE)"])
        inner = self.date(depth - 1)
        return r.choice(
            [
                f"({inner} + {r.choice(['1', '7', 'i'])})",
                f"({inner} - 1)",
                f"({inner} + INTERVAL '{r.choice(['1 day', '1 month', '2 years', '3 hours', '1 week'])}')",
                f"({inner} - INTERVAL '{r.choice(['1', '31'])}' DAY)",
                f"DATE_TRUNC('{r.choice(['month', 'year', 'day', 'quarter'])}', {self.date(0)})",
                "ts",
                f"COALESCE({self.date(0)}, {self.date(0)})",
                "ts::date",
            ]
        )
