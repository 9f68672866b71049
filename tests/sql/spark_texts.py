"""Random expressions as Spark's grammar has them (`SqlBaseParser.g4`), and a few that it has not."""

from __future__ import annotations

import random

NAMES = [
    "a",
    "b",
    "`a b`",
    "a.b",
    "a.b.c",
    "a1",
    "_a",
    "5a",
    "date",
    "interval",
    "left",
    "filter",
    "all",
    "end",
    "from",
    "x",
]
WORDS = [
    "all",
    "distinct",
    "values",
    "table",
    "timestamp",
    "cast",
    "when",
    "day",
    "current",
    "over",
    "exists",
    "div",
    "any",
]
FUNCTIONS = [
    ("lower", 1), ("upper", 1), ("length", 1), ("concat", 2), ("coalesce", 2), ("if", 3), ("substr", 3), ("map", 2), ("array", 2),
    ("struct", 2), ("date_add", 2), ("left", 2), ("right", 2), ("like", 2), ("between", 3), ("rlike", 2), ("regexp_replace", 3),
    ("named_struct", 2), ("array_contains", 2), ("year", 1), ("to_date", 1), ("get_json_object", 2), ("element_at", 2), ("size", 1),
    ("nvl2", 3), ("greatest", 3), ("date", 1), ("int", 1), ("string", 1), ("char", 1), ("replace", 3), ("`lower`", 1), ("mod", 2),
]  # fmt: skip
TYPES = [
    "INT", "STRING", "STRING COLLATE UTF8_LCASE", "CHAR(3)", "VARCHAR(5)", "VARCHAR(5) COLLATE unicode", "DECIMAL(10, 2)", "DEC",
    "NUMERIC(5)", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIMESTAMP WITHOUT TIME ZONE", "BOOLEAN", "BYTE", "SHORT",
    "LONG", "BIGINT", "SMALLINT", "TINYINT", "FLOAT", "REAL", "DOUBLE", "BINARY", "VOID", "VARIANT", "INTERVAL", "INTERVAL DAY",
    "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH", "INTEGER", "foo", "CHARACTER(3)",
]  # fmt: skip
UNITS = ["DAY", "DAYS", "HOUR", "MONTH", "YEAR", "SECOND", "WEEK", "MINUTES", "MILLISECOND"]
COMPARISONS = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "!<", "!>"]
ARITHMETIC = ["+", "-", "*", "/", "%", "DIV", "||", "&", "|", "^", "<<", ">>", ">>>"]


class SparkTexts:
    """One text after the other, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables: list[str] = []

    def text(self, depth: int = 4) -> str:
        text = self.boolean(depth)
        return text if self.random.random() > 0.05 else self.damaged(text)

    def damaged(self, text: str) -> str:
        """With a word taken out, doubled or exchanged."""
        words = text.split(" ")
        at = self.random.randrange(len(words))
        words[at : at + 1] = self.random.choice([[], [words[at]] * 2, [self.random.choice(WORDS)], [words[at], "AND"]])
        return " ".join(words)

    def boolean(self, depth: int) -> str:
        r = self.random
        kind = r.randrange(12)
        if depth <= 0 or kind < 5:
            return self.test(depth)
        if kind < 7:
            return f"{r.choice(['NOT', '!'])} {self.boolean(depth - 1)}"
        if kind < 10:
            return f" {r.choice(['AND', 'OR', 'and'])} ".join(self.boolean(depth - 1) for _ in range(r.randint(2, 3)))
        return f"({self.boolean(depth - 1)})"

    def test(self, depth: int) -> str:
        r = self.random
        value = self.value(depth - 1)
        no = r.choice(["", "", "NOT "])
        kind = r.randrange(14)
        if kind == 0:
            return f"{value} {no}BETWEEN {self.value(depth - 2)} AND {self.value(depth - 2)}"
        if kind == 1:
            return f"{value} {no}IN ({', '.join(self.boolean(depth - 2) for _ in range(r.randint(1, 3)))})"
        if kind == 2:
            return f"{value} {no}{r.choice(['LIKE', 'ILIKE', 'RLIKE', 'REGEXP'])} {self.value(depth - 2)}"
        if kind == 3:
            return f"{value} {no}LIKE {self.string()} ESCAPE '!'"
        if kind == 4:
            quantifier = r.choice(["ANY", "SOME", "ALL", "any"])
            return f"{value} {no}{r.choice(['LIKE', 'ILIKE'])} {quantifier} ({self.string()}, {self.value(depth - 2)})"
        if kind == 5:
            return f"{value} IS {no}{r.choice(['NULL', 'TRUE', 'FALSE', 'UNKNOWN', 'DISTINCT FROM ' + self.value(depth - 2)])}"
        return value

    def value(self, depth: int) -> str:
        r = self.random
        text = self.operand(depth)
        while r.random() < 0.35:
            text += f" {r.choice(COMPARISONS)} {self.operand(depth - 1)}"
        return text

    def operand(self, depth: int) -> str:
        r = self.random
        text = r.choice(["", "", "", "", "-", "+", "~", "- "]) + self.primary(depth)
        while depth > 0 and r.random() < 0.25:
            text += f" {r.choice(ARITHMETIC)} {self.primary(depth - 1)}"
        return text

    def primary(self, depth: int) -> str:
        r = self.random
        text = self.atom(depth)
        while r.random() < 0.12:
            text += r.choice(
                [
                    f".{r.choice(['f', '`g h`', 'all', 'select'])}",
                    f"[{self.value(depth - 2)}]",
                    f"::{self.type(1)}",
                    f" COLLATE {r.choice(['UTF8_LCASE', 'unicode_ci', 'system.builtin.UTF8_BINARY'])}",
                    r.choice([":f", ":f.g", ":f[0]", ":['f']"]),
                ]
            )
        return text

    def atom(self, depth: int) -> str:
        r = self.random
        kind = r.randrange(20)
        if depth <= 0 or kind < 6:
            names = [*self.variables, *NAMES] if r.random() > 0.08 else WORDS
            return r.choice([r.choice(names), r.choice(names), self.literal()])
        if kind < 8:
            return f"({self.boolean(depth - 1)})"
        if kind == 8:
            named = r.random() < 0.4
            parts = [
                self.boolean(depth - 2) + (f" AS {r.choice(['f', 'sum', 'all', '`g h`'])}" if named else "")
                for _ in "ab"
            ]
            return f"({', '.join(parts)})"
        if kind == 9:
            value = r.choice(["", self.value(depth - 2) + " "])
            whens = " ".join(
                f"WHEN {self.boolean(depth - 2)} THEN {self.boolean(depth - 2)}" for _ in range(r.randint(1, 2))
            )
            return f"CASE {value}{whens} {r.choice(['', 'ELSE ' + self.value(depth - 2) + ' '])}END"
        if kind == 10:
            return f"{r.choice(['CAST', 'TRY_CAST', 'cast'])}({self.boolean(depth - 2)} AS {self.type(2)})"
        if kind == 11:
            return self.higher_order(depth)
        if kind == 12:
            return self.special_call(depth)
        function, arity = r.choice(FUNCTIONS)
        arguments = [self.boolean(depth - 2) for _ in range(arity)]
        if function == "struct" and r.random() < 0.5:
            arguments[0] += " AS f"
        return f"{function}({', '.join(arguments)})"

    def higher_order(self, depth: int) -> str:
        r = self.random
        function = r.choice(["exists", "filter", "transform", "forall", "aggregate"])
        one, two = r.sample(["x", "y", "all", "`v w`", "day", "i", "acc", "end", "left"], 2)
        kept = list(self.variables)
        self.variables += [one, two]
        body = self.boolean(depth - 2)
        self.variables = kept
        if function == "aggregate":
            return f"aggregate({self.primary(0)}, (0 AS sum, 0 AS n), ({one}, {two}) -> {body}, {one} -> {one})"
        parameters = r.choice([one, f"({one}, {two})"])
        return f"{function}({self.primary(0)}, {parameters} -> {body})"

    def special_call(self, depth: int) -> str:
        r = self.random
        one, two = self.value(depth - 2), self.value(depth - 2)
        return r.choice(
            [
                f"extract({r.choice(UNITS)} FROM {one})",
                f"substring({one} FROM {two})",
                f"substring({one} FROM 1 FOR {two})",
                f"substr({one} FROM 1, {two})",
                f"trim({r.choice(['', 'BOTH ', 'LEADING ', 'TRAILING '])}{r.choice(['', one + ' '])}FROM {two})",
                f"position({one} IN {two})",
                f"overlay({one} PLACING {two} FROM 1)",
                f"overlay({one} PLACING {two} FROM 1 FOR 2)",
                f"dateadd({r.choice(UNITS)}, {one}, {two})",
                f"timestampdiff({r.choice(UNITS)}, {one}, {two})",
                f"{r.choice(['lower(ALL ', 'lower(DISTINCT ', 'count('])}{one})",
                f"lower(str => {one})",
                f"sum({one}) OVER (PARTITION BY a)",
                "current_date",
                "current_timestamp()",
            ]
        )

    def type(self, depth: int) -> str:
        r = self.random
        if depth <= 0 or r.random() < 0.6:
            return r.choice(TYPES)
        fields = ", ".join(
            f"{name}{r.choice([':', ': ', ' '])}{self.type(depth - 1)}{r.choice(['', '', ' NOT NULL'])}"
            + r.choice(["", "", " COMMENT 'c'"])
            for name in r.sample(["f", "`g h`", "all", "date", "i"], r.randint(1, 3))
        )
        one, two = self.type(depth - 1), self.type(depth - 1)
        return r.choice([f"array<{one}>", f"MAP<{one}, {two}>", f"struct<{fields}>", "struct<>", f"array< {one} >"])

    def string(self) -> str:
        return self.random.choice(["'x'", "''", "'it''s'", "'a\\'b'", '"x"', "r'\\d'", "'a' 'b'", "'%a_'", "'é'"])

    def literal(self) -> str:
        r = self.random
        number = r.choice(
            ["0", "1", "42", "1.5", ".5", "5.", "1e3", "1.5E-2", "7L", "7S", "7Y", "1.5BD", "2D", "2F", "1e2BD"]
        )
        unit = r.choice(UNITS)
        return r.choice(
            [
                number,
                number,
                self.string(),
                self.string(),
                r.choice(["NULL", "TRUE", "false"]),
                r.choice(
                    [
                        "DATE '2020-01-01'",
                        "timestamp'2020-01-01 00:00:00'",
                        "X'1F'",
                        "TIMESTAMP_NTZ '2020-01-01'",
                        "x '1f'",
                    ]
                ),
                f"INTERVAL {r.choice(['1', '-1', '- 2', chr(39) + '3' + chr(39)])} {unit}",
                "INTERVAL 1.5 SECOND",
                "interval -1 day 1 hour",
                r.choice(["INTERVAL '1 day'", "INTERVAL '1-2' YEAR TO MONTH", "interval '1 2:3' DAY TO MINUTE"]),
            ]
        )
