"""A predicate as Spark SQL, written to mean the same in any context."""

from __future__ import annotations

from sparkrules.sql.tree import Constant, Predicate

_FUNCTIONS = ("contains", "startswith", "endswith")


def predicate_sql(predicate: Predicate) -> str:
    """A Boolean expression that is true exactly when the predicate is.

    >>> predicate_sql(Predicate("a + b", ">", (Constant("decimal", "1.5"),)))
    '(a + b) > 1.5BD'
    >>> predicate_sql(Predicate("name", "not contains", (Constant("string", "it's"),)))
    "NOT contains(name, 'it\\\\'s')"
    >>> predicate_sql(Predicate("a", "not <=>", (Constant("null"),)))
    'NOT ((a) <=> NULL)'
    """
    attribute, operator = predicate.attribute, predicate.operator
    constants = [constant_sql(constant) for constant in predicate.constants]
    positive = operator.removeprefix("not ")
    negation = "NOT " if positive != operator else ""
    if positive in _FUNCTIONS:
        return f"{negation}{positive}({attribute}, {constants[0]})"
    if positive == "in network":
        return f"{negation}cidr_contains({constants[0]}, {attribute})"
    if positive == "in list":
        return f"{negation}in_list({constants[0]}, {attribute})"
    if positive == "<=>":
        return f"{negation}(({attribute}) <=> {constants[0]})"
    if positive == "in":
        return (
            f"({attribute}) {operator.upper()} ({', '.join(constants)})" if constants else f"{bool(negation)}".lower()
        )
    return " ".join([f"({attribute})", operator.upper(), *constants])


def constant_sql(constant: Constant) -> str:
    """A constant as Spark SQL.

    >>> constant_sql(Constant("decimal", "1.50")), constant_sql(Constant("sql", "DATE '2020-01-01'"))
    ('1.50BD', "(DATE '2020-01-01')")
    """
    suffixes = {"decimal": "BD", "double": "D"}
    if constant.kind == "sql":
        return f"({constant.text})"
    return str(constant) + suffixes.get(constant.kind, "")


def quoted(name: str) -> str:
    """A name as a quoted identifier.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"
