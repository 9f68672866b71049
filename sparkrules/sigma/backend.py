"""The backend for pySigma: conditions as Spark SQL, correlations as the fields of a pattern.

It writes what the kernel matches fast: `=`, `contains`, `startswith`, `endswith` and LIKE on `lower(field)`, which is
computed once per row, RLIKE, and `cidr_contains`. What it cannot write exactly it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from sigma.conditions import (
    ConditionAND,
    ConditionFieldEqualsValueExpression,
    ConditionItem,
    ConditionNOT,
    ConditionOR,
    ConditionValueExpression,
)
from sigma.conversion.base import Backend
from sigma.conversion.state import ConversionState
from sigma.correlations import SigmaCorrelationRule
from sigma.exceptions import SigmaError
from sigma.processing.pipeline import ProcessingPipeline
from sigma.rule import SigmaRule
from sigma.types import (
    SigmaBool,
    SigmaCasedString,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaFieldReference,
    SigmaNumber,
    SigmaRegularExpression,
    SigmaString,
    SpecialChars,
)

from sparkrules.sigma.condition import Condition, column, joined, literal, negated
from sparkrules.sigma.correlation import pattern_fields
from sparkrules.sigma.regex import ForeignRegex, java_regex

_ANY, _ONE = SpecialChars.WILDCARD_MULTI, SpecialChars.WILDCARD_SINGLE
_COMPARISONS = {"LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=", "NEQ": "<>"}
# Up to here every integer is a DOUBLE.
_LARGEST = 2**53 - 1
_FieldTest = ConditionFieldEqualsValueExpression


class NotInSpark(SigmaError):
    """Something that Spark SQL cannot say exactly, and what to do about it."""


def _refused(what: str, remedy: str) -> Callable[..., Any]:
    def refuse(self: Backend, cond: object, state: object = None, *_: object) -> Any:
        raise NotInSpark(f"{what}. {remedy}")

    return refuse


class SparkRulesBackend(Backend):
    """Converts rules to conditions for `RuleSet.subscribe`, and correlations to the fields of a pattern.

    `keywords` is the column in which values without a field are searched.
    """

    name = "sparkrules"
    correlation_methods = {"default": "Patterns of a rule set"}  # noqa: RUF012 - as the base class has it
    finalize_correlation_subqueries = True
    explicit_not_exists_expression = True

    def __init__(self, pipeline: ProcessingPipeline | None = None, keywords: str | None = None) -> None:
        super().__init__(pipeline)
        self.keywords = keywords
        self.init_processing_pipeline()

    def finish_query(self, rule: SigmaRule | SigmaCorrelationRule, query: Any, state: ConversionState) -> Any:
        if state.has_deferred():
            raise NotInSpark("a processing pipeline has left something for later. Use one that is for no other backend")
        return str(query) if isinstance(query, Condition) else query

    def convert_condition_or(self, cond: ConditionOR, state: ConversionState) -> Condition:
        return joined("OR", self._converted(cond, state))

    def convert_condition_and(self, cond: ConditionAND, state: ConversionState) -> Condition:
        return joined("AND", self._converted(cond, state))

    def convert_condition_not(self, cond: ConditionNOT, state: ConversionState) -> Condition:
        return negated(self._converted(cond, state)[0])

    def _converted(self, cond: ConditionItem, state: ConversionState) -> list[Condition]:
        found = [self.convert_condition(cast(Any, argument), state) for argument in cond.args]
        kept = [own for own in found if own is not None]
        if not kept:
            raise NotInSpark("a condition is empty. Name a detection with at least one value")
        return kept

    def convert_condition_field_eq_val_str(self, cond: _FieldTest, state: ConversionState) -> Condition:
        return string_test(column(cond.field), cast(SigmaString, cond.value), any_case=True)

    def convert_condition_field_eq_val_str_case_sensitive(self, cond: _FieldTest, state: ConversionState) -> Condition:
        return string_test(column(cond.field), cast(SigmaCasedString, cond.value), any_case=False)

    def convert_condition_field_eq_val_num(self, cond: _FieldTest, state: ConversionState) -> Condition:
        name, number = column(cond.field), cast(SigmaNumber, cond.value).number
        # A string is converted to the type of the column, once; a number would convert a column of strings, row by row.
        return Condition(f"{name} = '{number}'", (name,)) if isinstance(number, int) else compared(name, "=", number)

    def convert_condition_field_eq_val_bool(self, cond: _FieldTest, state: ConversionState) -> Condition:
        name = column(cond.field)
        return Condition(f"lower({name}) = '{str(cast(SigmaBool, cond.value).boolean).lower()}'", (name,))

    def convert_condition_field_compare_op_val(self, cond: _FieldTest, state: ConversionState) -> Condition:
        value = cast(SigmaCompareExpression, cond.value)
        return compared(column(cond.field), _COMPARISONS[value.op.name], value.number.number)

    def convert_condition_field_eq_val_re(self, cond: _FieldTest, state: ConversionState) -> Condition:
        return regex_test(column(cond.field), cast(SigmaRegularExpression, cond.value))

    def convert_condition_field_eq_val_cidr(self, cond: _FieldTest, state: ConversionState) -> Condition:
        name = column(cond.field)
        network = cast(SigmaCIDRExpression, cond.value).network
        return Condition(f"cidr_contains('{network}', {name})", (name,))

    def convert_condition_field_eq_field(self, cond: _FieldTest, state: ConversionState) -> Condition:
        value = cast(SigmaFieldReference, cond.value)
        left, right = column(cond.field), column(value.field)
        operands = tuple(dict.fromkeys((left, right)))
        if value.starts_with and value.ends_with:
            return Condition(f"contains(lower({left}), lower({right}))", operands)
        if value.starts_with or value.ends_with:
            function = "startswith" if value.starts_with else "endswith"
            return Condition(f"{function}(lower({left}), lower({right}))", operands)
        return Condition(f"lower({left}) = lower({right})", operands)

    def convert_condition_field_eq_val_null(self, cond: _FieldTest, state: ConversionState) -> Condition:
        return Condition(f"{column(cond.field)} IS NULL")

    def convert_condition_field_exists(self, cond: _FieldTest, state: ConversionState) -> Condition:
        return Condition(f"{column(cond.field)} IS NOT NULL")

    def convert_condition_field_not_exists(self, cond: _FieldTest, state: ConversionState) -> Condition:
        return Condition(f"{column(cond.field)} IS NULL")

    def convert_condition_val_str(self, cond: ConditionValueExpression, state: ConversionState) -> Condition:
        value = cast(SigmaString, cond.value)
        return string_test(self._keyword_column(), _ANY + value + _ANY, not isinstance(value, SigmaCasedString))

    def convert_condition_val_num(self, cond: ConditionValueExpression, state: ConversionState) -> Condition:
        number = cast(SigmaNumber, cond.value).number
        return string_test(self._keyword_column(), SigmaString(f"*{number}*"), any_case=True)

    def convert_condition_val_re(self, cond: ConditionValueExpression, state: ConversionState) -> Condition:
        return regex_test(self._keyword_column(), cast(SigmaRegularExpression, cond.value))

    def _keyword_column(self) -> str:
        if self.keywords is None:
            raise NotInSpark(
                "a keyword is searched in the whole event, and no column is said to have that. Name the column: "
                "read(..., keywords='message')"
            )
        return column(self.keywords)

    def _correlation(self, rule: SigmaCorrelationRule, output_format: Any = None, method: str = "default") -> list[Any]:
        return [pattern_fields(rule)]

    convert_condition_as_in_expression = _refused("IN is never asked for", "This is a defect of the backend")
    convert_condition_field_eq_val_timestamp_part = _refused(
        "a part of a time depends on the type of the column and its time zone",
        "Compute it as a column, and name that in the rule",
    )
    convert_condition_field_eq_query_expr = convert_condition_query_expr = _refused(
        "a processing pipeline has put the language of another backend into the rule", "Use another pipeline"
    )
    convert_correlation_event_count_rule = _correlation
    convert_correlation_value_count_rule = _correlation
    convert_correlation_temporal_rule = _correlation
    convert_correlation_temporal_ordered_rule = _correlation
    convert_correlation_extended_temporal_rule = _correlation
    convert_correlation_extended_temporal_ordered_rule = _correlation
    convert_correlation_value_sum_rule = _correlation
    convert_correlation_value_avg_rule = _correlation
    convert_correlation_value_percentile_rule = _correlation
    convert_correlation_value_median_rule = _correlation


def string_test(name: str, value: SigmaString, any_case: bool) -> Condition:
    r"""A string with wildcards.

    >>> for text in ("cmd.exe", "*\\cmd.exe", "a*", "*a\\*b*", "a?_*", "*"):
    ...     print(string_test("Image", SigmaString(text), any_case=True))
    lower(Image) = 'cmd.exe'
    endswith(lower(Image), '\\cmd.exe')
    startswith(lower(Image), 'a')
    contains(lower(Image), 'a*b')
    lower(Image) LIKE 'a_\\_%'
    Image IS NOT NULL
    """
    if value.contains_placeholder():
        raise NotInSpark(
            f"{value} has a placeholder. Give a processing pipeline that replaces it: read(..., pipeline=)"
        )
    parts = [part for at, part in enumerate(value.s) if not (at and part is _ANY and value.s[at - 1] is _ANY)]
    tested = f"lower({name})" if any_case else name
    texts = [part for part in parts if isinstance(part, str)]
    if parts == [_ANY]:
        return Condition(f"{name} IS NOT NULL")
    if len(texts) == len(parts):
        sql = f"{tested} = {_folded(''.join(texts), any_case)}"
    elif len(texts) == 1 and _ONE not in parts:
        first, last = parts[0] is _ANY, parts[-1] is _ANY
        function = "contains" if first and last else "endswith" if first else "startswith"
        sql = f"{function}({tested}, {_folded(texts[0], any_case)})"
    else:
        sql = f"{tested} LIKE {_folded(''.join(map(_like, parts)), any_case)}"
    return Condition(sql, (name,))


def _like(part: object) -> str:
    if isinstance(part, str):
        return part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return "%" if part is _ANY else "_"


def _folded(text: str, any_case: bool) -> str:
    """The literal to compare with `lower(field)`. Python and Java differ in what is the lower case of a few letters."""
    if not any_case:
        return literal(text)
    return literal(text.lower()) if text.isascii() else f"lower({literal(text)})"


def regex_test(name: str, value: SigmaRegularExpression) -> Condition:
    """A search for a regular expression, which respects case unless a flag says otherwise."""
    if value.contains_placeholder():
        raise NotInSpark(f"{value.regexp} has a placeholder. Give a processing pipeline that replaces it")
    flags = "".join(value.sigma_to_re_flag[flag] for flag in value.flags)
    try:
        regex = java_regex(str(value.regexp), flags)
    except ForeignRegex as error:
        raise NotInSpark(f"Java has no {error} in regular expressions. Write the expression without it") from None
    return Condition(f"{name} RLIKE {literal(regex)}", (name,))


def compared(name: str, operator: str, number: float) -> Condition:
    """A comparison of numbers. What is not a number is not less, greater or different.

    >>> print(negated(compared("Port", "<", 1024)))
    (TRY_CAST(Port AS DOUBLE) IS NULL OR NOT TRY_CAST(Port AS DOUBLE) < 1024.0D)
    """
    if abs(number) > _LARGEST:
        raise NotInSpark(f"{number} is too large to be compared exactly. Compare with less than 2^53")
    value = f"TRY_CAST({name} AS DOUBLE)"
    return Condition(f"{value} {operator} {float(number)!r}D", (value,))
