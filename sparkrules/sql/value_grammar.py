"""The lower half of Spark's grammar: values, the operands of tests.

    value       := operand (comparison operand)*
    operand     := sign* primary (arithmetic sign* primary)*
    primary     := literal | name | call | CASE ... END | (expression) | lambda, followed by .field [index] ::type ...

Every expression that this grammar does not know is rejected: subqueries, windows, stars and statements are simply not
in it. Functions are checked against the policy where they are called.
"""

from __future__ import annotations

import re

from sparkrules.sql.datatype import data_type_end, interval_end
from sparkrules.sql.errors import RuleError
from sparkrules.sql.functions import ENVIRONMENT_WORDS, TIME_FUNCTIONS, TIME_FUNCTIONS_WITHOUT_ARGUMENTS
from sparkrules.sql.options import OPTIONS, require_options
from sparkrules.sql.policy import Policy
from sparkrules.sql.remedy import about_function, about_word
from sparkrules.sql.syntax import Operand, Syntax, Value, alone
from sparkrules.sql.tokens import KEYWORDS, Tokens

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "||", "<<", ">>", ">>>", "&", "^", "|"})
_SIGNS = frozenset({"-", "+", "~"})
# Words that are always syntax. The other keywords may name a column where a value is expected, as in Spark; WHEN,
# THEN, ELSE and END only outside of CASE.
_RESERVED = frozenset(
    {
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "IS",
        "NULL",
        "TRUE",
        "FALSE",
        "CASE",
        "SELECT",
    }
)
_NEVER_FUNCTIONS = _RESERVED - {"BETWEEN", "LIKE", "ILIKE", "RLIKE"} | {"DISTINCT", "ALL"}
# In f(ALL x) and f(DISTINCT x) these are no names. They are where what follows cannot begin a value.
_QUANTIFIERS = frozenset({"DISTINCT", "ALL"})
_AFTER_NAMES = frozenset({")", ",", ".", "->", "=>", "=", "<>", "<", "<=", ">", ">=", "<=>", "*", "/", "%", "||", "::"})
_CASE_WORDS = frozenset({"WHEN", "THEN", "ELSE", "END"})
_TYPED_LITERALS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "X"})
# Words that take the place of a comma in some functions.
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
# What a query begins with in Spark's grammar.
_BEGINS_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE", "DESCRIBE", "DESC"})
_TURNS_INTO_QUERY = KEYWORDS - {"AND", "OR", "XOR", "WHEN", "THEN", "ELSE", "END", "AS", "FROM"}
# Spark takes any number of arguments for these, and sqlglot does not.
_LOOSE = frozenset({"concat", "hour", "minute", "second"})
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_WINDOW_WORDS = frozenset({"OVER", "FILTER", "WITHIN", "IGNORE", "RESPECT"})


class ValueGrammar:
    """A cursor over the tokens. `variables` counts the columns and time-dependent functions met so far: a range of
    tokens during which it did not grow is constant."""

    def __init__(self, tokens: Tokens, policy: Policy) -> None:
        self.tokens = tokens
        self.policy = policy
        self.kinds = tokens.kinds
        self.shapes = tokens.shapes
        self.at = 0
        self.depth = -1  # the outermost expression is level 0
        self.variables = 0
        self.open_calls = 0
        self.open_cases = 0

    def expression(self) -> Syntax:
        """A whole expression, Boolean operators included: the upper half of the grammar."""
        raise NotImplementedError

    def value(self) -> Value:
        value = Value([self.operand()])
        while self.kinds[self.at] in _COMPARISONS:
            value.comparisons.append(self.kinds[self.at])
            self.at += 1
            value.operands.append(self.operand())
        return value

    def operand(self) -> Operand:
        start, variables = self.at, self.variables
        operand = self.signed()
        while self.kinds[self.at] in _ARITHMETIC:
            self.at += 1
            self.signed()
        if operand.start == start and operand.end == self.at:
            return operand
        return Operand(start, self.at, variables == self.variables)

    def signed(self) -> Operand:
        signs = 0
        while self.kinds[self.at] in _SIGNS:
            self.descend()
            self.at += 1
            signs += 1
        operand = self.primary()
        self.depth -= signs
        return operand

    def primary(self) -> Operand:
        start, variables = self.at, self.variables
        operand = self.atom()
        if self.kinds[self.at] in (".", "[", "::", ":", "COLLATE"):
            self.suffixes(start)
            return Operand(start, self.at, variables == self.variables)
        return operand

    def atom(self) -> Operand:
        start = self.at
        kind = self.kinds[start]
        if kind == "number" or kind in ("NULL", "TRUE", "FALSE"):
            self.at += 1
            return Operand(start, self.at, True)
        if kind == "string":
            while self.kinds[self.at] == "string":
                self.at += 1
            return Operand(start, self.at, True)
        if kind == "(":
            return self.brackets()
        if kind == "CASE":
            return self.case()
        following = self.kinds[start + 1] if kind != "end" else ""
        if kind == "INTERVAL" and following != "(":
            end = interval_end(self.tokens, start)
            if end is not None:
                self.at = end
                self.shapes[start:end] = ["INTERVAL '1' DAY", *[""] * (end - start - 1)]
                return Operand(start, end, True)
        if kind in ("CAST", "TRY_CAST") and following == "(":
            return self.cast()
        if not self.is_name(start, following):
            raise self.expected_value()
        self.at += 1
        if following == "(":
            return self.call(start)
        if following == "->":
            self.shapes[start] = "c"
            return self.lambda_function(start)
        if following == "string" and kind == "word":
            return self.typed_literal(start)
        return self.column(start)

    def is_name(self, at: int, following: str) -> bool:
        """Whether a token may name a column, or a function if a bracket follows."""
        kind = self.kinds[at]
        if kind == "word" or kind == "quoted":
            return True
        if kind not in KEYWORDS:
            return False
        if kind in _CASE_WORDS and self.open_cases:
            return False
        return kind not in (_NEVER_FUNCTIONS if following == "(" else _RESERVED)

    def column(self, start: int) -> Operand:
        if self.tokens.texts[start].strip("`").lower() in ENVIRONMENT_WORDS:
            raise self.tokens.error(start, "reveals the environment of the query", "Compare with the value itself.")
        if self.word_at(start) in _BEGINS_QUERY and self.kinds[self.at] in _TURNS_INTO_QUERY:
            # Whoever puts brackets around `from COLLATE x` has a query.
            self.at = start
            raise self.subquery()
        self.shapes[start] = "c"
        self.variables += 1
        return Operand(start, self.at, False)

    def typed_literal(self, start: int) -> Operand:
        if self.tokens.texts[start].upper() not in _TYPED_LITERALS:
            raise self.tokens.error(
                start, "unexpected word before a string", "Typed literals are DATE '2020-01-31' ..."
            )
        if self.tokens.texts[start] in "xX":
            # sqlglot knows X'1F' only without space and with hexadecimal digits.
            self.shapes[start : self.at + 1] = ["X'1F'", ""]
        self.at += 1
        return Operand(start, self.at, True)

    def lambda_function(self, start: int) -> Operand:
        if not self.open_calls:
            raise self.tokens.error(start, "a lambda outside of a function", "Use it in exists, filter, transform, ...")
        self.at += 1
        self.expression()
        return Operand(start, self.at, False)

    def brackets(self) -> Operand:
        start, variables = self.at, self.variables
        parameters_end = self.lambda_parameters_end(start)
        if parameters_end is not None:
            self.at = parameters_end
            return self.lambda_function(start)
        self.at += 1
        self.refuse_query()
        inner = [self.expression()]
        named = self.field_name()
        while self.kinds[self.at] == ",":
            self.at += 1
            inner.append(self.expression())
            self.field_name()
        if named and len(inner) == 1:
            raise self.tokens.error(
                named, "a name for one value in brackets", "Name the values of a row: (a AS x, b AS y)."
            )
        self.expect(")", "Close the bracket.")
        form = "brackets" if len(inner) == 1 else "row"
        return Operand(start, self.at, variables == self.variables, form, tuple(inner))  # type: ignore[arg-type]

    def field_name(self) -> int:
        """`AS name` behind a value of a row or of struct(...), which sqlglot need not see: where AS is, else 0."""
        start = self.at
        if self.kinds[start] != "AS":
            return 0
        self.at += 1
        self.name("expected the name of a field")
        self.shapes[start : self.at] = [""] * (self.at - start)
        return start

    def lambda_parameters_end(self, start: int) -> int | None:
        """Behind the brackets of `(x, y) -> ...`, or None if these are other brackets."""
        at = start
        while self.kinds[at] in ("(", ","):
            kind = self.kinds[at + 1]
            if kind not in ("word", "quoted") and (kind not in KEYWORDS or kind in _RESERVED):
                return None
            at += 2
            if at == start + 2 and self.kinds[at] == ")":
                return None  # (x) -> is not Spark's
        if self.kinds[at] == ")" and self.kinds[at + 1] == "->":
            for parameter in range(start + 1, at, 2):
                self.shapes[parameter] = "c"
            return at + 1
        return None

    def case(self) -> Operand:
        start, variables = self.at, self.variables
        self.open_cases += 1
        self.at += 1
        if self.kinds[self.at] != "WHEN":
            self.expression()
        if self.kinds[self.at] != "WHEN":
            raise self.tokens.error(self.at, "expected WHEN", "CASE WHEN condition THEN value [ELSE value] END.")
        while self.kinds[self.at] == "WHEN":
            self.at += 1
            self.expression()
            self.expect("THEN", "CASE WHEN condition THEN value [ELSE value] END.")
            self.expression()
        if self.kinds[self.at] == "ELSE":
            self.at += 1
            self.expression()
        self.expect("END", "CASE WHEN condition THEN value [ELSE value] END.")
        self.open_cases -= 1
        return Operand(start, self.at, variables == self.variables)

    def cast(self) -> Operand:
        start, variables = self.at, self.variables
        self.tokens.calls.add(start + 1)
        self.at += 2
        self.expression()
        self.expect("AS", "Write CAST(value AS type).")
        self.data_type()
        self.expect(")", "Close the bracket of CAST.")
        return Operand(start, self.at, variables == self.variables)

    def data_type(self) -> None:
        """A data type; sqlglot need not know it, and is shown INT."""
        start = self.at
        self.at = data_type_end(self.tokens, start)
        self.shapes[start : self.at] = ["INT", *[""] * (self.at - start - 1)]

    def suffixes(self, start: int) -> None:
        """`.field`, `[index]`, `::type`, `COLLATE name` and `:path`, as many as there are."""
        while True:
            kind = self.kinds[self.at]
            if kind == ".":
                self.at += 1
                self.name("expected the name of a field")
                if self.kinds[self.at] == "(":
                    self.call(start)
            elif kind == "[":
                self.descend()
                self.at += 1
                self.value()
                self.expect("]", "Close the bracket of the index.")
                self.depth -= 1
            elif kind == "::":
                self.at += 1
                self.data_type()
            elif kind == "COLLATE":
                self.at += 1
                self.name("expected the name of a collation")
                while self.kinds[self.at] == ".":
                    self.at += 1
                    self.name("expected the name of a collation")
            elif kind == ":":
                self.variant_path()
            else:
                return

    def name(self, reason: str) -> None:
        kind = self.kinds[self.at]
        if kind == "*":
            raise self.tokens.error(self.at, "a star is not a value", "Name the columns.")
        if kind not in ("word", "quoted") and kind not in KEYWORDS:
            raise self.tokens.error(self.at, reason, "Quote unusual names with backticks.")
        self.shapes[self.at] = "c"
        self.at += 1

    def variant_path(self) -> None:
        """`v:a.b[0]` takes a value out of a variant; the path is text, not columns."""
        start = self.at
        self.at += 1
        if self.kinds[self.at] != "[":
            self.name("expected a path into a variant")
        while self.kinds[self.at] in (".", "["):
            self.at += 1
            if self.kinds[self.at - 1] == ".":
                self.name("expected the name of a field")
            elif self.kinds[self.at] in ("number", "string", "word") and self.kinds[self.at + 1] == "]":
                self.at += 2
            elif self.at == start + 2:
                raise self.tokens.error(self.at, "expected an index or a name in quotes")
            else:
                self.at -= 1  # an index by an expression is no part of the path
                break
        for i in range(start, self.at):
            self.shapes[i] = ""

    # --- calls

    def call(self, start: int) -> Operand:
        """A function call whose name starts at `start`; the cursor is at its opening bracket."""
        bracket = self.at
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
        if name in TIME_FUNCTIONS or (name in TIME_FUNCTIONS_WITHOUT_ARGUMENTS and not inner):
            self.variables += 1
        return Operand(start, self.at, variables == self.variables, "call", inner, name)

    def require_plain_key(self, key: Operand | None) -> None:
        """Spark makes a regular expression of the key that parse_url looks for, one that nobody bounds."""
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
        """Behind a bracket, Spark reads `(from COLLATE x)` as a query of the table `collate`, and not as a column."""
        following = self.kinds[self.at + 1] if self.kinds[self.at] != "end" else ""
        if self.word() in _BEGINS_QUERY and (following in ("word", "quoted") or following in KEYWORDS):
            raise self.subquery()

    def arguments(self, name: str) -> tuple[Syntax, ...]:
        self.refuse_query()
        if self.kinds[self.at] == ")":
            self.at += 1
            return ()
        separators = _SEPARATORS.get(name, _NO_SEPARATORS)
        unit = name in _UNIT_FUNCTIONS and self.kinds[self.at + 1] == "," and self.word() in _UNITS
        unit_at = self.at
        if self.word() in _QUANTIFIERS and self.kinds[self.at + 1] not in _AFTER_NAMES:
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
            # dateadd(DAY, 1, d): what looked like a column is a unit. With two arguments it is a column.
            self.variables -= 1
            self.shapes[unit_at] = self.tokens.texts[unit_at]
        return tuple(arguments)

    def leading_words(self, name: str) -> None:
        """The words before the first argument of EXTRACT(YEAR FROM d) and TRIM(BOTH 'x' FROM s)."""
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
        """An argument that ends at the IN of POSITION('x' IN s)."""
        raise NotImplementedError

    # --- errors and small steps

    def word(self) -> str:
        """The unquoted word at the cursor in upper case, else an empty text."""
        return self.word_at(self.at)

    def word_at(self, at: int) -> str:
        kind = self.kinds[at]
        return self.tokens.texts[at].upper() if kind == "word" or kind in KEYWORDS else ""

    def expect(self, kind: str, remedy: str) -> None:
        if self.kinds[self.at] != kind:
            raise self.unexpected(remedy)
        self.at += 1

    def descend(self) -> None:
        self.depth += 1
        if self.depth > self.policy.max_depth:
            raise self.tokens.error(
                self.at,
                f"nested deeper than {self.policy.max_depth} levels",
                "Write the rule flatter, or raise Policy.max_depth.",
            )

    def expected_value(self) -> RuleError:
        kind = self.kinds[self.at]
        if kind == "SELECT":
            return self.subquery()
        if kind == "*":
            return self.tokens.error(self.at, "a star is not a value", "Name the columns.")
        if kind == ":":
            return self.tokens.error(self.at, "parameter markers are not allowed", "Write the value itself.")
        if kind in _QUANTIFIERS:
            return self.tokens.error(self.at, "aggregates are not allowed", "A rule sees one row.")
        before = self.kinds[self.at - 1] if self.at else ""
        remedy = "A column of that name needs backticks." if kind in KEYWORDS else ""
        if kind == "&" and before == "&":
            remedy = "Write AND instead of &&."
        elif before == "||":
            remedy = "In Spark || joins texts: write OR between conditions."
        elif kind == "=" and before in _COMPARISONS:
            remedy = "Write = or <>."
        return self.tokens.error(self.at, "expected a value", remedy)

    def unexpected(self, remedy: str = "") -> RuleError:
        """The error for a token that cannot follow what is before it."""
        previous = self.tokens.texts[self.at - 1].upper() if self.at else ""
        if self.at <= 2 and self.tokens.texts[0].upper() == "WHERE":
            return self.tokens.error(0, "WHERE is not part of a rule", "Drop the word: a rule is what follows it.")
        if previous in _QUANTIFIERS and self.kinds[max(self.at - 2, 0)] not in ("IS", "NOT"):
            return self.tokens.error(self.at - 1, "aggregates are not allowed", "A rule sees one row.")
        if previous in _QUERY_WORDS:
            self.at -= 1
            return self.subquery()
        if self.word() in _WINDOW_WORDS:
            return self.tokens.error(self.at, "aggregates and windows are not allowed", "A rule sees one row.")
        remedy = about_word(self.word()) or remedy or "Join conditions with AND or OR."
        return self.tokens.error(self.at, "unexpected here", remedy)

    def subquery(self) -> RuleError:
        return self.tokens.error(
            self.at,
            "subqueries and statements are not allowed",
            "Write only what stands behind WHERE. A rule sees one row: join beforehand. "
            "A column of that name needs backticks.",
        )
