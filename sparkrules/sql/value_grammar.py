"""The lower half of Spark's grammar: values, which are the operands of predicates.

    value       := operand (comparison operand)*
    operand     := sign* primary (arithmetic sign* primary)*
    primary     := literal | name | call | CASE ... END | (expression) | lambda, followed by .field [index] ::type ...

Everything outside this grammar is rejected: subqueries, windows, stars and statements are not in it. For calls see
`call_grammar`.
"""

from __future__ import annotations

from sparkrules.sql.call_grammar import BEGINS_QUERY, CallGrammar
from sparkrules.sql.cursor import COMPARISONS
from sparkrules.sql.datatype import data_type_end, interval_end
from sparkrules.sql.functions import ENVIRONMENT_WORDS
from sparkrules.sql.syntax import Operand, Value
from sparkrules.sql.tokens import KEYWORDS, RESERVED

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "||", "<<", ">>", ">>>", "&", "^", "|"})
_SIGNS = frozenset({"-", "+", "~"})
_NEVER_FUNCTIONS = RESERVED - {"BETWEEN", "LIKE", "ILIKE", "RLIKE"} | {"DISTINCT", "ALL"}
_CASE_WORDS = frozenset({"WHEN", "THEN", "ELSE", "END"})
_TYPED_LITERALS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "X"})
_TURNS_INTO_QUERY = KEYWORDS - {"AND", "OR", "XOR", "WHEN", "THEN", "ELSE", "END", "AS", "FROM"}


class ValueGrammar(CallGrammar):
    """Values; see the module."""

    def value(self) -> Value:
        value = Value([self.operand()])
        while self.kinds[self.at] in COMPARISONS:
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
            operand = self.suffixes(start) or Operand(start, self.at, False)
            operand.constant = variables == self.variables
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
        return kind not in (_NEVER_FUNCTIONS if following == "(" else RESERVED)

    def column(self, start: int) -> Operand:
        if self.tokens.texts[start].strip("`").lower() in ENVIRONMENT_WORDS:
            raise self.tokens.error(start, "reveals the environment of the query", "Compare with the value itself.")
        if self.word_at(start) in BEGINS_QUERY and self.kinds[self.at] in _TURNS_INTO_QUERY:
            # In brackets, `from COLLATE x` is a query.
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
            # sqlglot accepts X'1F' only without a space and with hexadecimal digits.
            self.shapes[start : self.at + 1] = ["X'1F'", ""]
        self.at += 1
        return Operand(start, self.at, True)

    def lambda_function(self, start: int) -> Operand:
        if not self.open_calls:
            raise self.tokens.error(start, "a lambda outside of a function", "Use it in exists, filter, transform, ...")
        self.at += 1
        body = self.expression()
        return Operand(start, self.at, False, "lambda", (body,))

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

    def lambda_parameters_end(self, start: int) -> int | None:
        """The index after the brackets of `(x, y) -> ...`, or None if these are other brackets."""
        at = start
        while self.kinds[at] in ("(", ","):
            kind = self.kinds[at + 1]
            if kind not in ("word", "quoted") and (kind not in KEYWORDS or kind in RESERVED):
                return None
            at += 2
            if at == start + 2 and self.kinds[at] == ")":
                return None  # Spark does not accept (x) ->
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
        """Parse a data type. sqlglot sees INT instead, because it may not know the type."""
        start = self.at
        self.at = data_type_end(self.tokens, start)
        self.shapes[start : self.at] = ["INT", *[""] * (self.at - start - 1)]

    def suffixes(self, start: int) -> Operand | None:
        """Parse any number of `.field`, `[index]`, `::type`, `COLLATE name` and `:path`. The call, if the last is one:
        `catalog.function(x)`."""
        called: Operand | None = None
        while True:
            kind = self.kinds[self.at]
            if kind in (".", "[", "::", "COLLATE", ":"):
                called = None
            if kind == ".":
                self.at += 1
                self.name("expected the name of a field")
                if self.kinds[self.at] == "(":
                    called = self.call(start)
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
                return called

    def variant_path(self) -> None:
        """Parse `v:a.b[0]`, which extracts a value from a variant. The path is text, not columns."""
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
                self.at -= 1  # an index by an expression is not part of the path
                break
        for i in range(start, self.at):
            self.shapes[i] = ""
