"""Random expressions from Spark's grammar (`SqlBaseParser.g4`), and a few outside it."""

from __future__ import annotations

from tests.writer import Seeded

NAMES = ["a", "b", "`a b`", "a.b", "a.b.c", "a1", "_a", "5a", "date", "interval", "left", "filter", "all", "end", "from", "x"]  # fmt: skip
WORDS = ["all", "distinct", "values", "table", "timestamp", "cast", "when", "day", "current", "over", "exists", "div", "any"]  # fmt: skip
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


class SparkTexts(Seeded):
    """One text after the other, from a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.variables: list[str] = []

    def text(self, depth: int = 4) -> str:
        text = self.boolean(depth)
        return self.damaged(text) if self.chance(5) else text

    def damaged(self, text: str) -> str:
        """With a word taken out, doubled or exchanged."""
        words = text.split(" ")
        at = self.between(0, len(words) - 1)
        words[at : at + 1] = self.pick([[], [words[at]] * 2, [self.pick(WORDS)], [words[at], "AND"]])
        return " ".join(words)

    def boolean(self, depth: int) -> str:
        kind = self.between(0, 11)
        if depth <= 0 or kind < 5:
            return self.test(depth)
        if kind < 7:
            return f"{self.pick(['NOT', '!'])} {self.boolean(depth - 1)}"
        if kind < 10:
            return self.several(lambda: self.boolean(depth - 1), 2, 3, f" {self.pick(['AND', 'OR', 'and'])} ")
        return f"({self.boolean(depth - 1)})"

    def test(self, depth: int) -> str:
        value = self.value(depth - 1)
        no = self.pick(["", "", "NOT "])
        kind = self.between(0, 13)
        if kind == 0:
            return f"{value} {no}BETWEEN {self.value(depth - 2)} AND {self.value(depth - 2)}"
        if kind == 1:
            return f"{value} {no}IN ({self.several(lambda: self.boolean(depth - 2), 1, 3)})"
        if kind == 2:
            return f"{value} {no}{self.pick(['LIKE', 'ILIKE', 'RLIKE', 'REGEXP'])} {self.value(depth - 2)}"
        if kind == 3:
            return f"{value} {no}LIKE {self.string()} ESCAPE '!'"
        if kind == 4:
            quantifier = self.pick(["ANY", "SOME", "ALL", "any"])
            return f"{value} {no}{self.pick(['LIKE', 'ILIKE'])} {quantifier} ({self.string()}, {self.value(depth - 2)})"
        if kind == 5:
            return f"{value} IS {no}{self.pick(['NULL', 'TRUE', 'FALSE', 'UNKNOWN', 'DISTINCT FROM ' + self.value(depth - 2)])}"
        return value

    def value(self, depth: int) -> str:
        text = self.operand(depth)
        while self.chance(35):
            text += f" {self.pick(COMPARISONS)} {self.operand(depth - 1)}"
        return text

    def operand(self, depth: int) -> str:
        text = self.pick(["", "", "", "", "-", "+", "~", "- "]) + self.primary(depth)
        while depth > 0 and self.chance(25):
            text += f" {self.pick(ARITHMETIC)} {self.primary(depth - 1)}"
        return text

    def primary(self, depth: int) -> str:
        text = self.atom(depth)
        while self.chance(12):
            text += self.pick(
                [
                    f".{self.pick(['f', '`g h`', 'all', 'select'])}",
                    f"[{self.value(depth - 2)}]",
                    f"::{self.type(1)}",
                    f" COLLATE {self.pick(['UTF8_LCASE', 'unicode_ci', 'system.builtin.UTF8_BINARY'])}",
                    self.pick([":f", ":f.g", ":f[0]", ":['f']"]),
                ]
            )
        return text

    def atom(self, depth: int) -> str:
        kind = self.between(0, 19)
        if depth <= 0 or kind < 6:
            names = WORDS if self.chance(8) else [*self.variables, *NAMES]
            return self.pick([self.pick(names), self.pick(names), self.literal()])
        if kind < 8:
            return f"({self.boolean(depth - 1)})"
        if kind == 8:
            named = self.chance(40)
            parts = [
                self.boolean(depth - 2) + (f" AS {self.pick(['f', 'sum', 'all', '`g h`'])}" if named else "")
                for _ in "ab"
            ]
            return f"({', '.join(parts)})"
        if kind == 9:
            value = self.pick(["", self.value(depth - 2) + " "])
            whens = " ".join(
                f"WHEN {self.boolean(depth - 2)} THEN {self.boolean(depth - 2)}" for _ in range(self.between(1, 2))
            )
            return f"CASE {value}{whens} {self.pick(['', 'ELSE ' + self.value(depth - 2) + ' '])}END"
        if kind == 10:
            return f"{self.pick(['CAST', 'TRY_CAST', 'cast'])}({self.boolean(depth - 2)} AS {self.type(2)})"
        if kind == 11:
            return self.higher_order(depth)
        if kind == 12:
            return self.special_call(depth)
        function, arity = self.pick(FUNCTIONS)
        arguments = [self.boolean(depth - 2) for _ in range(arity)]
        if function == "struct" and self.chance(50):
            arguments[0] += " AS f"
        return f"{function}({', '.join(arguments)})"

    def higher_order(self, depth: int) -> str:
        function = self.pick(["exists", "filter", "transform", "forall", "aggregate"])
        one, two = self.random.sample(["x", "y", "all", "`v w`", "day", "i", "acc", "end", "left"], 2)
        kept = list(self.variables)
        self.variables += [one, two]
        body = self.boolean(depth - 2)
        self.variables = kept
        if function == "aggregate":
            return f"aggregate({self.primary(0)}, (0 AS sum, 0 AS n), ({one}, {two}) -> {body}, {one} -> {one})"
        parameters = self.pick([one, f"({one}, {two})"])
        return f"{function}({self.primary(0)}, {parameters} -> {body})"

    def special_call(self, depth: int) -> str:
        one, two = self.value(depth - 2), self.value(depth - 2)
        return self.pick(
            [
                f"extract({self.pick(UNITS)} FROM {one})",
                f"substring({one} FROM {two})",
                f"substring({one} FROM 1 FOR {two})",
                f"substr({one} FROM 1, {two})",
                f"trim({self.pick(['', 'BOTH ', 'LEADING ', 'TRAILING '])}{self.pick(['', one + ' '])}FROM {two})",
                f"position({one} IN {two})",
                f"overlay({one} PLACING {two} FROM 1)",
                f"overlay({one} PLACING {two} FROM 1 FOR 2)",
                f"dateadd({self.pick(UNITS)}, {one}, {two})",
                f"timestampdiff({self.pick(UNITS)}, {one}, {two})",
                f"{self.pick(['lower(ALL ', 'lower(DISTINCT ', 'count('])}{one})",
                f"lower(str => {one})",
                f"sum({one}) OVER (PARTITION BY a)",
                "current_date",
                "current_timestamp()",
            ]
        )

    def type(self, depth: int) -> str:
        if depth <= 0 or self.chance(60):
            return self.pick(TYPES)
        fields = ", ".join(
            f"{name}{self.pick([':', ': ', ' '])}{self.type(depth - 1)}{self.pick(['', '', ' NOT NULL'])}"
            + self.pick(["", "", " COMMENT 'c'"])
            for name in self.random.sample(["f", "`g h`", "all", "date", "i"], self.between(1, 3))
        )
        one, two = self.type(depth - 1), self.type(depth - 1)
        return self.pick([f"array<{one}>", f"MAP<{one}, {two}>", f"struct<{fields}>", "struct<>", f"array< {one} >"])

    def string(self) -> str:
        return self.pick(["'x'", "''", "'it''s'", "'a\\'b'", '"x"', "r'\\d'", "'a' 'b'", "'%a_'", "'é'"])

    def literal(self) -> str:
        number = self.pick(
            ["0", "1", "42", "1.5", ".5", "5.", "1e3", "1.5E-2", "7L", "7S", "7Y", "1.5BD", "2D", "2F", "1e2BD"]
        )
        unit = self.pick(UNITS)
        return self.pick(
            [
                number,
                number,
                self.string(),
                self.string(),
                self.pick(["NULL", "TRUE", "false"]),
                self.pick(
                    [
                        "DATE '2020-01-01'",
                        "timestamp'2020-01-01 00:00:00'",
                        "X'1F'",
                        "TIMESTAMP_NTZ '2020-01-01'",
                        "x '1f'",
                    ]
                ),
                f"INTERVAL {self.pick(['1', '-1', '- 2', chr(39) + '3' + chr(39)])} {unit}",
                "INTERVAL 1.5 SECOND",
                "interval -1 day 1 hour",
                self.pick(["INTERVAL '1 day'", "INTERVAL '1-2' YEAR TO MONTH", "interval '1 2:3' DAY TO MINUTE"]),
            ]
        )
