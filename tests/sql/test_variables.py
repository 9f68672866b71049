"""Rules with variables: what they become, what unifies, and what is rejected."""

from __future__ import annotations

import itertools
import random

import pytest

from sparkrules import RuleSet
from sparkrules.rules.compile import compile_texts
from sparkrules.sql import Constant, Policy, RuleError, distinct_predicates, parse_rule, spark_sql
from sparkrules.sql.bindings import without_variables
from sparkrules.sql.policy import AnyFunction
from sparkrules.sql.variable_templates import VariableTemplates
from tests.specification.unification import Call, Variable, renamed

POLICY = Policy(
    operators={"f": "p INT", "g": "p INT, q STRING", "h": "x DOUBLE, l ARRAY<INT>, n DECIMAL(10, 2)"},
    extra_functions={"located_in"},
)
F, G = "CAST(f(x) AS ARRAY<STRUCT<p: INT>>)", "CAST(g(x) AS ARRAY<STRUCT<p: INT, q: STRING>>)"


def meaning(text: str) -> str:
    """The rule as Spark SQL, without the types of the outputs."""
    return spark_sql(text, policy=POLICY).replace(F, "f(x)").replace(G, "g(x)")


TRANSLATED = {
    "f(x, :a) AND :a > 5": "exists(f(x), b1 -> b1.p > 5)",
    ":a > 5 AND f(x, :a)": "exists(f(x), b1 -> b1.p > 5)",
    "F(x, :A) and :a > 5": "exists(f(x), b1 -> b1.p > 5)",
    "g(x, :a, :b) AND :a > 5 AND located_in(:b, 'Rome')": "exists(g(x), b1 -> b1.p > 5 AND located_in(b1.q, 'Rome'))",
    "c = 1 AND f(x, :a) AND :a > c": "c = 1 AND exists(f(x), b1 -> b1.p > c)",
    "f(x, 5)": "exists(f(x), b1 -> b1.p = 5)",
    "f(x, c + 1)": "exists(f(x), b1 -> b1.p = (c + 1))",
    "f(x, :a)": "exists(f(x), b1 -> TRUE)",
    "g(x, :a, :a)": "exists(g(x), b1 -> b1.q = b1.p)",
    "f(x, :a) AND g(x, :b, :c)": "exists(f(x), b1 -> TRUE) AND exists(g(x), b1 -> TRUE)",
    "f(x, :a) AND g(x, :a, :c)": (
        "exists(array(struct(f(x) AS c1, g(x) AS c2)), b0 -> exists(b0.c1, b1 -> exists(b0.c2, b2 -> b2.p = b1.p)))"
    ),
    "f(x, :a) AND f(x, :b) AND :a < :b": (
        "exists(array(struct(f(x) AS c1)), b0 -> exists(b0.c1, b1 -> exists(b0.c1, b2 -> b1.p < b2.p)))"
    ),
    "f(x, :a) OR c = 1": "(exists(f(x), b1 -> TRUE)) OR (c = 1)",
    "NOT f(x, :a)": "NOT (exists(f(x), b1 -> TRUE))",
    "f(x, :a) AND (:a = 1 OR :a = 2)": "exists(f(x), b1 -> ((b1.p = 1) OR (b1.p = 2)))",
    "(f(x, :a) OR g(x, :a, :b)) AND :a > 5": ("((exists(f(x), b1 -> b1.p > 5)) OR (exists(g(x), b1 -> b1.p > 5)))"),
    "f(x, :a) AND b1 = :a": "exists(f(x), b_1 -> b1 = b_1.p)",
    "f(x, :a) AND exists(t, b1 -> b1 = :a)": "exists(f(x), b_1 -> exists(t, b1 -> b1 = b_1.p))",
    "f(x, :a) AND :a::string = v:path.b": "exists(f(x), b1 -> b1.p :: string = v : path.b)",
    "f(x, :a) AND (:a = 1 XOR c XOR d)": "exists(f(x), b1 -> ((((b1.p = 1) <> (c)) <> (d))))",
    "size(f(x)) > 1": "size(f(x)) > 1",
    "a = ':x'": "a = ':x'",
}


@pytest.mark.parametrize("text", TRANSLATED)
def test_a_rule_becomes_exists(text: str) -> None:
    assert meaning(text) == TRANSLATED[text]


WITH_ROW_FUNCTIONS = {
    "at_least(2, f(x, :a) AND :a > 5, b = 2, c < 3)": "at_least(2, exists(f(x), b1 -> b1.p > 5), b = 2, c < 3)",
    "f(x, :a) AND exactly(1, :a > 5, b = 2) AND c": "exists(f(x), b1 -> exactly(1, b1.p > 5, b = 2)) AND c",
    "f(x, :a) AND at_least(1, :a > 5 XOR c, b = 2)": "exists(f(x), b1 -> at_least(1, ((b1.p > 5) <> (c)), b = 2))",
    "NOT At_Most(1, f(x, :a), NOT f(x, :a), b)": (
        "NOT (at_most(1, exists(f(x), b1 -> TRUE), NOT (exists(f(x), b1 -> TRUE)), b))"
    ),
    "f(x, :a) AND at_least(1, g(x, :b, :c) AND :b > :a, d)": (
        "exists(array(struct(f(x) AS c1, g(x) AS c2)), b0 -> "
        "exists(b0.c1, b1 -> at_least(1, exists(b0.c2, b2 -> b2.p > b1.p), d)))"
    ),
    "f(x, :a) AND matched(:a > 5) + matched(b > 1) < 9": "exists(f(x), b1 -> matched(b1.p > 5) + matched(b > 1) < 9)",
    "f(x, :a) AND matched(b > 1) + c < 9": "exists(f(x), b1 -> TRUE) AND matched(b > 1) + c < 9",
    "f(x, :a) AND min(:a, b, 3) = 2": "exists(f(x), b1 -> min(b1.p, b, 3) = 2)",
    "coalesce(at_least(1, b, c), d) AND f(x, :a)": "coalesce(at_least(1, b, c), d) AND exists(f(x), b1 -> TRUE)",
    "f(x, sum(b, c))": "exists(f(x), b1 -> b1.p = (sum(b, c)))",
}


@pytest.mark.parametrize("text", WITH_ROW_FUNCTIONS)
def test_row_functions_stay_as_they_are_written(text: str) -> None:
    said = without_variables(text, POLICY)
    assert said.replace(F, "f(x)").replace(G, "g(x)") == WITH_ROW_FUNCTIONS[text]
    assert parse_rule(text, policy=POLICY) == parse_rule(said, policy=POLICY)
    sql = spark_sql(text, policy=POLICY)
    assert spark_sql(said, policy=POLICY) == sql
    denied = Policy(operators=POLICY.operators, denied_functions={"at_least", "at_most", "exactly", "matched", "sum"})
    parse_rule(sql, policy=denied)  # no row function is left


def test_a_condition_that_is_counted_is_indexed() -> None:
    tree = parse_rule("at_least(2, f(x, :a) AND :a > 5, b = 2, c < 3)", policy=POLICY)
    assert [str(own) for own in distinct_predicates(tree)] == ["exists(f(x), b -> b.p > 5)", "b = 2", "c < 3"]


def test_an_operator_comes_before_a_row_function_of_its_name() -> None:
    policy = Policy(operators={"matched": "n INT"})
    said = spark_sql("matched(x, :n) AND :n > 5", policy=policy)
    assert said == "exists(CAST(matched(x) AS ARRAY<STRUCT<n: INT>>), b1 -> b1.n > 5)"
    assert parse_rule(said, policy=AnyFunction.within(policy)) == parse_rule(said, policy=policy)


def test_an_operator_may_take_a_bound_variable() -> None:
    text = "f(x, :a) AND f(:a, :b) AND :b > 1"
    inner = "CAST(f(b1.p) AS ARRAY<STRUCT<p: INT>>)"
    nested = f"exists(b0.c1, b1 -> exists({inner}, b2 -> b2.p > 1))"
    assert meaning(text) == f"exists(array(struct(f(x) AS c1)), b0 -> {nested})"


def test_calls_that_unify_are_one_predicate() -> None:
    calls = [(first, second) for first, second in itertools.product(["a", "b", "z", "5"], repeat=2)]

    def known(call: tuple[str, str]) -> Call:
        return renamed(Call("g", tuple(Constant("integer", own) if own == "5" else Variable(own) for own in call)))

    def rule(call: tuple[str, str]) -> object:
        text = ", ".join(own if own == "5" else f":{own}" for own in call)
        return parse_rule(f"g(x, {text})", policy=POLICY)

    for one, other in itertools.product(calls, repeat=2):
        assert (rule(one) == rule(other)) == (known(one) == known(other)), (one, other)


REJECTED = {
    # Reason, column, and a part of the remedy.
    ":a > 5": ("the variable :a is not bound", 1, "Bind it by an operator"),
    "f(x, :a) AND :b > 5": ("the variable :b is not bound", 14, "Bind it by an operator"),
    "lower(:a) = 'x'": ("the variable :a is not bound", 7, "Bind it by an operator"),
    "NOT f(x, :a) AND :a > 5": ("the variable :a is not bound", 18, "under NOT"),
    "(f(x, :a) OR c = 1) AND :a > 5": ("the variable :a is not bound", 25, "every side of an OR"),
    "f(x, :a) OR :a > 5": ("the variable :a is not bound", 13, "every side of an OR"),
    "NOT f(x, :a) AND NOT f(y, :a)": ("the variable :a is not bound", 10, "under NOT"),
    "f(:a, :b)": ("the variable :a is not bound", 3, "It is an input here"),
    "f(:a, :b) AND f(:b, :a)": ("the variable :a is not bound", 3, "It is an input here"),
    "g(x)": ("g has 2 outputs (p, q), but 1 argument here", 1, "g(..., :p, :q)"),
    "c = 1 AND f()": ("f has 1 output (p), but 0 arguments here", 11, "f(..., :p)"),
    "f(:a)": ("f has 1 output (p), but 1 argument here", 1, "f(..., :p)"),
    "g(x, :a)": ("g has 2 outputs (p, q), but 2 arguments here", 1, "g(..., :p, :q)"),
    "g(x, :a, :b, :c)": ("the variable :a is not bound", 6, "It is an input here"),
    "g(x, :people, :b) AND :peple > 5": ("the variable :peple is not bound", 23, "Did you mean :people?"),
    "gg(x, :a)": ("an unknown operator", 1, "Policy(operators="),
    "unknown(x, :a) AND :a > 1": ("an unknown operator", 1, "Policy(operators={'unknown': 'a STRING'})"),
    "size(f(x, :a)) > 1": ("an operator inside a value", 6, "Join calls with variables by AND, OR and NOT"),
    "f(x, :a) = TRUE": ("an operator inside a value", 1, "Join calls"),
    "f(x, :a) IS NULL": ("an operator inside a value", 1, "Join calls"),
    "CASE WHEN f(x, :a) THEN 1 END = 1": ("an operator inside a value", 11, "Join calls"),
    "at_least(1, f(x, :a), c = 1) AND :a > 5": ("the variable :a is not bound", 34, "in a count"),
    "at_least(1, f(x, :a), :a > 1)": ("the variable :a is not bound", 23, "in a count"),
    "at_least(3, f(x, :a), c = 1)": ("at_least(3, ...) of 2 conditions is never true", 10, "1 to 2"),
    "at_least(1, size(f(x, :a)) > 1, c)": ("an operator inside a value", 18, "Join calls"),
    "coalesce(at_least(1, f(x, :a), c), d)": ("an operator inside a value", 22, "Join calls"),
    "f(x, :a) AND matched(:a > 5)": ("matched(...) is a value, not a condition", 14, "Compare it"),
    "f(x, :a) AND matched(:a > 5 OR c > 1) > 1": ("matched needs predicates of one attribute", 22, ""),
    "f(x, :a) AND matched(:a > 1 XOR :a > 5) < 9": ("XOR inside a value", 29, "Write (a) <> (b)"),
    "matched(f(x, :a)) > 1": ("matched needs a predicate", 9, ""),
    "f(x, : 5)": ("expected the name of a variable", 6, ":x"),
    "f(a => x, :a)": ("an argument with a name", 3, "in order"),
    "f(x, :a) AND rand() > :a": ("this function is not allowed in a rule", 14, ""),
    "f(x, :a) AND :a > (SELECT 1)": ("subqueries and statements are not allowed", 20, ""),
    "f(x, :a) AND :a > 5; DROP TABLE t": ("a rule is one expression, not a statement", 20, ""),
}


@pytest.mark.parametrize("text", REJECTED)
def test_what_is_wrong_is_said_with_its_place(text: str) -> None:
    reason, column, remedy = REJECTED[text]
    with pytest.raises(RuleError) as caught:
        parse_rule(text, policy=POLICY)
    assert (caught.value.reason, caught.value.column) == (reason, column)
    assert remedy in caught.value.remedy
    assert caught.value.text == text


def test_an_error_names_the_rule() -> None:
    with pytest.raises(RuleError, match=r"(?s)rule 'mobs': the variable :a is not bound at line 1, column 1: :a"):
        RuleSet("variables", policy=POLICY).subscribe("mobs", ":a > 5")


def test_without_operators_there_are_no_variables() -> None:
    with pytest.raises(RuleError, match="parameter markers are not allowed") as caught:
        parse_rule("a = :x")
    assert "Policy(operators=" in caught.value.remedy


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "mysql", "tsql", "bigquery", "databricks"])
def test_variables_in_other_dialects(dialect: str) -> None:
    said = spark_sql("g(x, :people, :place) AND :people > 50 AND :place = 'Rome'", dialect=dialect, policy=POLICY)
    assert said == f"exists({G}, b1 -> b1.p > 50 AND b1.q = 'Rome')"


def test_too_many_ways_to_bind_a_variable() -> None:
    ways = " OR ".join(f"f(x{n}, :a)" for n in range(70))
    with pytest.raises(RuleError, match="more than 64 ways"):
        parse_rule(f"({ways}) AND :a > 5", policy=POLICY)


class TestIndex:
    """A single comparison with a constant is a predicate on a column of values, not a lambda."""

    @pytest.mark.parametrize(
        "constraint",
        [":a > 5", ":a <= 1.5", ":a <> 3", ":a = 3", "3 < :a", ":b = 'x'", ":b IN ('x', 'y')", ":b < 'x'", ":a > 1e3"],
    )
    def test_one_comparison(self, constraint: str) -> None:
        for text in (f"g(x, :a, :b) AND {constraint}", f"NOT (g(x, :a, :b) AND {constraint})"):
            for own in distinct_predicates(parse_rule(text, policy=POLICY)):
                assert "b1" not in own.attribute
                assert all("5" not in own.attribute or constant.text != "5" for constant in own.constants)

    @pytest.mark.parametrize(
        "constraint", [":b > 5", ":b = 5", ":a > 'x'", ":a > NULL", ":a LIKE 'x'", ":a > c", ":a + 1 > 5", ":a <=> 5"]
    )
    def test_what_could_be_compared_otherwise_is_left_to_spark(self, constraint: str) -> None:
        (own,) = distinct_predicates(parse_rule(f"g(x, :a, :b) AND {constraint}", policy=POLICY))
        assert own.attribute.startswith("exists(CAST(g(x)")

    def test_several_comparisons_are_a_lambda_behind_predicates(self) -> None:
        tree = parse_rule("g(x, :a, :b) AND :a > 5 AND :b = 'Rome' AND located_in(:b, 'Italy')", policy=POLICY)
        gates = [str(own) for own in distinct_predicates(tree)]
        assert gates[:2] == ["exists(g(x), b -> b.p > 5)", "exists(g(x), b -> b.q = 'Rome')"]
        assert gates[2].startswith("exists(g(x), b1 -> b1.p > 5 AND b1.q = 'Rome' AND located_in")

    def test_decimals_that_could_overflow_are_left_to_spark(self) -> None:
        wide = Policy(operators={"f": "n DECIMAL(38, 10)"})
        (own,) = distinct_predicates(parse_rule("f(x, :n) AND :n > 1.5", policy=wide))
        assert own.operator == "is true"


TEMPLATES = [
    "g(x, :a, :b) AND :a > {n} AND c < {m}",
    "c < {m} AND g(x, :a, 'p{n}')",
    "NOT (g(x, :a, :b) AND :b IN ('p{n}', 'p{m}')) OR c = {n}.5",
    "(f(x, :a) OR g(x, :a, :b)) AND :a = {n}",
    "g(x, :a, :b) AND :a = -{n} AND :b LIKE 'a{m}%'",
    "f(x, :a) AND g(x, :a, :b) AND :b > '{n}' AND :a < {m}",
    "f(substr(x, {m}, 3), :a) AND :a >= {n}",
    "g(x, :a, :b) AND :c > {n}",
    "at_least(2, f(x, :a) AND :a > {n}, b = {m}, c < 3)",
    "f(x, :a) AND at_most(1, :a > {n}, b = {m}) AND matched(b > {n}) + matched(c > 1) < {m}",
    "f(x, :a) AND :a = {n} AND matched(b > {n}) < {m}",
]


def test_rules_that_differ_in_constants_become_what_each_becomes_alone() -> None:
    draw = random.Random(2)
    texts = [
        text.format(n=draw.choice([n, n % 3, 10**17 + n]), m=draw.randrange(50))
        for text in TEMPLATES
        for n in range(40)
    ]
    draw.shuffle(texts)
    templates = VariableTemplates(POLICY)
    done = compile_texts(texts, policy=POLICY)
    for place, number in enumerate(done.accepted.tolist()):
        own = texts[number]
        assert done.translated[number] == spark_sql(own, policy=POLICY)
        assert templates.without_variables(own) == without_variables(own, POLICY)
        parsed = compile_texts([texts[number]], policy=POLICY)
        assert done.forest.tree(int(done.forest.roots[place])) == parsed.forest.tree(int(parsed.forest.roots[0]))
    assert {texts[number].split(":c")[0] for number in done.errors} == {"g(x, :a, :b) AND "}
    assert len(done.errors) == 40
    translated = [skeleton for (skeleton, *_), pieces in templates.known.items() if pieces is not None]
    assert len(set(translated)) == len(TEMPLATES) - 1, "all but the rejected one are translated once"


def test_names_that_need_quotes() -> None:
    policy = Policy(operators={"Tools.my mob": "`how many` INT, end STRING"})
    said = spark_sql("tools.`My Mob`(x, :n, :e) AND :n > 5 AND :e = 'b'", policy=policy)
    call = "CAST(tools.`my mob`(x) AS ARRAY<STRUCT<`how many`: INT, end: STRING>>)"
    assert said == f"exists({call}, b1 -> b1.`how many` > 5 AND b1.end = 'b')"
    assert len(distinct_predicates(parse_rule("tools.`my mob`(x, :n, :e) AND :n > 5", policy=policy))) == 1


class TestPolicy:
    def test_operators_are_allowed_functions(self) -> None:
        assert POLICY.allows("G")
        assert "g" in POLICY.names()
        assert not Policy(operators={"g": "p INT"}, denied_functions={"g"}).allows("g")

    @pytest.mark.parametrize(
        ("operators", "error", "said"),
        [
            ("mob", TypeError, "maps names of functions to their outputs"),
            ({"mob": ["people"]}, TypeError, "maps names to names with types"),
            ({"mob": ""}, ValueError, "expected the name of an output"),
            ({"mob": "people"}, ValueError, "expected a data type"),
            ({"mob": "people NUMBER"}, ValueError, "not a data type of Spark's"),
            ({"mob": "people INT place STRING"}, ValueError, "Separate outputs by commas"),
            ({"mob": "people INT, People STRING"}, ValueError, "names an output twice"),
        ],
    )
    def test_what_is_wrong_with_a_declaration(self, operators: object, error: type[Exception], said: str) -> None:
        with pytest.raises(error, match=said):
            Policy(operators=operators)  # type: ignore[arg-type]
