"""Function calls in Spark's grammar: names, arguments, and the keywords some functions use instead of a comma.

    call        := name (argument, ...)
    argument    := [name =>] expression [AS name]

Each call is checked against the policy as it is parsed.
"""

from __future__ import annotations

import re

from sparkrules.sql.cursor import QUANTIFIERS, Cursor
from sparkrules.sql.functions import TIME_FUNCTIONS, TIME_FUNCTIONS_WITHOUT_ARGUMENTS
from sparkrules.sql.options import OPTIONS, require_options
from sparkrules.sql.remedy import about_function
from sparkrules.sql.row_functions import ROW_FUNCTIONS
from sparkrules.sql.schema_text import WITH_SCHEMA, require_bounded_schema
from sparkrules.sql.syntax import Operand, Syntax, alone
from sparkrules.sql.tokens import KEYWORDS

_AFTER_NAMES = frozenset({")", ",", ".", "->", "=>", "=", "<>", "<", "<=", ">", ">=", "<=>", "*", "/", "%", "||", "::"})
# Keywords that replace the comma in some functions.
_SEPARATORS = {
    "substring": frozenset({"FROM", "FOR"}),
    "substr": frozenset({"FROM", "FOR"}),
    "overlay": frozenset({"PLACING", "FROM", "FOR"}),
    "trim": frozenset({"FROM"}),
    "extract": frozenset({"FROM"}),
    "position": frozenset({"IN"}),
}
_NO_SEPARATORS: frozenset[str] = frozenset()
_UNIT_FUNCTIONS = frozenset(
    {"timestampadd", "dateadd", "date_add", "timestampdiff", "datediff", "date_diff", "timediff"}
)
_UNITS = frozenset(
    {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"}
)
_KEYED_BY_REGEX = frozenset({"parse_url", "try_parse_url"})
_PLAIN_KEY = re.compile(r"(['\"])[A-Za-z0-9_-]*\1")
# Words that can start a query in Spark's grammar.
BEGINS_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE", "DESCRIBE", "DESC"})
# Spark accepts any number of arguments for these; sqlglot does not.
_LOOSE = frozenset({"concat", "hour", "minute", "second"})


class CallGrammar(Cursor):
    """Function calls; see the module."""

    def call(self, start: int) -> Operand:
        """Parse a function call whose name starts at `start`. The cursor is at its opening bracket."""
        bracket = self.at
        if bracket == start + 1 and self.is_row_function(start):
            return self.row_function(start)
        name = self.function_name(start, bracket)
        self.tokens.calls.add(bracket)
        self.tokens.functions[bracket] = name
        if bracket == start + 1:
            blank = self.kinds[start] in ("quoted", "BETWEEN") or name in _LOOSE or name in _SEPARATORS
            self.shapes[start] = "`f`" if blank else name
        variables = self.variables
        self.open_calls += 1
        self.at += 1
        inner = self.arguments(name)
        self.open_calls -= 1
        if name in _KEYED_BY_REGEX and len(inner) == 3:
            self.require_plain_key(alone(inner[2]))
        if name in OPTIONS:
            require_options(self.tokens, name, inner, self.at - 1)
        if name in WITH_SCHEMA:
            require_bounded_schema(self.tokens, name, inner)
        if name in TIME_FUNCTIONS or (name in TIME_FUNCTIONS_WITHOUT_ARGUMENTS and not inner):
            self.variables += 1
        return Operand(start, self.at, variables == self.variables, "call", inner, name)

    def is_row_function(self, start: int) -> bool:
        """Whether a call is a row function. A name in backticks is always a function's."""
        name = self.tokens.texts[start].lower()
        return self.kinds[start] == "word" and name in ROW_FUNCTIONS and self.policy.reads_row_function(name)

    def row_function(self, start: int) -> Operand:
        """Parse a row function, `at_least(2, a > 1, b = 2)`. See `row_functions`."""
        raise NotImplementedError

    def require_plain_key(self, key: Operand | None) -> None:
        """Spark turns the key of parse_url into an unbounded regular expression, so the key must be plain."""
        at = self.at - 1 if key is None else key.start
        if key is None or key.end != at + 1 or not _PLAIN_KEY.fullmatch(self.tokens.texts[at]):
            raise self.tokens.error(
                at, "the key of parse_url is not a plain name", "Write it out: parse_url(url, 'QUERY', 'utm_source')."
            )

    def function_name(self, start: int, bracket: int) -> str:
        parts = [self.tokens.texts[i].strip("`").lower() for i in range(start, bracket, 2)]
        dotted = all(self.kinds[i] == "." for i in range(start + 1, bracket, 2))
        name = ".".join(parts)
        if not dotted or "." in "".join(parts) or not self.policy.allows(name):
            raise self.tokens.error(
                start,
                "this function is not allowed in a rule",
                about_function(name, [known for known in self.policy.names() if known != name]),
            )
        return name

    def refuse_query(self) -> None:
        """After a bracket, Spark reads `(from COLLATE x)` as a query on the table `collate`, not as a column."""
        following = self.kinds[self.at + 1] if self.kinds[self.at] != "end" else ""
        if self.word() in BEGINS_QUERY and (following in ("word", "quoted") or following in KEYWORDS):
            raise self.subquery()

    def arguments(self, name: str) -> tuple[Syntax, ...]:
        self.refuse_query()
        if self.kinds[self.at] == ")":
            self.at += 1
            return ()
        separators = _SEPARATORS.get(name, _NO_SEPARATORS)
        unit = name in _UNIT_FUNCTIONS and self.kinds[self.at + 1] == "," and self.word() in _UNITS
        unit_at = self.at
        if self.word() in QUANTIFIERS and self.kinds[self.at + 1] not in _AFTER_NAMES:
            raise self.tokens.error(
                self.at, "aggregates are not allowed", "A rule sees one row. A column of that name needs backticks."
            )
        self.leading_words(name)
        arguments = [self.argument(name)]
        while self.kinds[self.at] == "," or self.word() in separators:
            self.shapes[self.at] = ","
            self.at += 1
            arguments.append(self.argument(name))
        self.expect(")", "Close the bracket of the function.")
        if name in _UNIT_FUNCTIONS and len(arguments) == 3 and self.kinds[unit_at] == "string":
            raise self.tokens.error(unit_at, "a unit in quotes", f"Write {name}(DAY, 1, d).")
        if unit and len(arguments) == 3:
            # dateadd(DAY, 1, d): the first argument is a unit. With only two arguments it is a column.
            self.variables -= 1
            self.shapes[unit_at] = self.tokens.texts[unit_at]
        return tuple(arguments)

    def leading_words(self, name: str) -> None:
        """Parse the keywords before the first argument: EXTRACT(YEAR FROM d), TRIM(BOTH 'x' FROM s)."""
        start = self.at
        if name == "extract" and self.kinds[self.at + 1] == "FROM":
            self.at += 2
        elif name == "trim":
            if self.word() in ("BOTH", "LEADING", "TRAILING") and self.kinds[self.at + 1] not in (")", ".", "[", "("):
                self.at += 1
            if self.word() == "FROM":
                self.at += 1
        self.shapes[start : self.at] = [""] * (self.at - start)

    def argument(self, name: str) -> Syntax:
        if self.kinds[self.at + 1 : self.at + 2] == ["=>"]:
            self.name("expected the name of an argument")
            self.at += 1
        if name == "position":
            return self.position_argument()
        argument = self.expression()
        if name == "struct":
            self.field_name()
        return argument

    def position_argument(self) -> Syntax:
        """Parse an argument that ends at the IN of POSITION('x' IN s)."""
        raise NotImplementedError

    def field_name(self) -> int:
        """Parse `AS name` after a value in a row or struct(...), hidden from sqlglot. Return where AS is, else 0."""
        start = self.at
        if self.kinds[start] != "AS":
            return 0
        self.at += 1
        self.name("expected the name of a field")
        self.shapes[start : self.at] = [""] * (self.at - start)
        return start
