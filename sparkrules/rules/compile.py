"""The texts of many rules at once, to the forest of their trees.

    texts ─ lifted ─▶ skeletons ─ one parse each ─▶ templates ─ constants as arrays ─▶ forests ─ merged ─▶ forest
                          └ too few alike: parsed one by one ─▶ trees ─▶ forest ┘

The result equals that of parsing and building the rules one by one, in any order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from sparkrules.index.builder import trees_forest
from sparkrules.index.csr import Ints
from sparkrules.index.forest import Forest
from sparkrules.index.instances import ConstantTable, Instances, instances_forest
from sparkrules.index.merge_forests import distinct_rows, merge_forests
from sparkrules.sql import DEFAULT_POLICY, Node, Policy, RuleError, called_functions
from sparkrules.sql.dialect import SPARK_DIALECTS
from sparkrules.sql.rule import in_spark_dialect, read_spark_sql
from sparkrules.sql.template import (
    SEPARATOR,
    Hole,
    Template,
    joined,
    lift,
    literal_class,
    make_template,
)
from sparkrules.sql.variable_templates import VariableTemplates

# Below this, parsing each text costs less than making and checking a template.
FEWEST_ALIKE = 16


@dataclass(frozen=True)
class CompiledTexts:
    """The forest of the accepted texts: root i belongs to text `accepted[i]`.

    `errors` says what is wrong with the others, `translated` has the Spark SQL of texts that are not,
    `functions` the functions that the rules call.
    """

    forest: Forest
    accepted: Ints
    errors: dict[int, RuleError]
    translated: dict[int, str]
    functions: frozenset[str]


def compile_texts(texts: Iterable[str], *, dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> CompiledTexts:
    """Compile WHERE texts.

    >>> done = compile_texts([f"price < {n}" for n in range(100)] + ["price <"])
    >>> len(done.forest.roots), {number: error.reason for number, error in done.errors.items()}
    (100, {100: 'expected a value'})
    """
    compilation = _Compilation(dialect, policy)
    for text in texts:
        compilation.read(text)
    return compilation.compiled()


@dataclass
class _Alike:
    """The texts with one skeleton: their numbers, and the numbers of their literals, text by text."""

    texts: array[int] = field(default_factory=lambda: array("i"))
    literals: array[int] = field(default_factory=lambda: array("i"))


class _Numbered(dict[str, int]):
    """Literals by number, in order of first appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class _Compilation:
    def __init__(self, dialect: str, policy: Policy) -> None:
        self.dialect = dialect
        self.policy = policy
        self.is_spark = dialect.lower() in SPARK_DIALECTS
        self.longest = policy.max_characters
        self.count = 0
        self.alike: dict[str, _Alike] = {}
        self.numbered = _Numbered()
        self.variables = VariableTemplates(policy)
        self.trees: dict[int, Node] = {}
        self.table = ConstantTable()
        self.constant_numbers: dict[tuple[bool, bool], Ints] = {}  # of the literals, by the kind of hole
        self.forests: list[Forest] = []
        self.members: list[Ints] = []
        self.errors: dict[int, RuleError] = {}
        self.translated: dict[int, str] = {}
        self.functions: set[str] = set()

    def read(self, text: str) -> None:
        """Split a text into skeleton and literals, and group it with those that have the same skeleton."""
        number = self.count
        self.count += 1
        sql = text
        if not self.is_spark or self.policy.operators:
            try:
                sql = self._without_variables(text)
            except RuleError as error:
                self.errors[number] = error
                return
            if sql != text or not self.is_spark:
                self.translated[number] = sql
        if len(sql) > self.longest or SEPARATOR in sql or not (sql.isascii() or _is_unicode(sql)):
            self._parse(number, sql)
            return
        skeleton, literals = lift(sql)
        alike = self.alike.get(skeleton)
        if alike is None:
            alike = self.alike[skeleton] = _Alike()
        alike.texts.append(number)
        alike.literals.extend(map(self.numbered.__getitem__, literals))

    def _without_variables(self, text: str) -> str:
        if self.is_spark and len(text) <= self.longest and (text.isascii() or _is_unicode(text)):
            return self.variables.without_variables(text)
        return in_spark_dialect(text, self.dialect, self.policy)

    def compiled(self) -> CompiledTexts:
        self.literals = list(self.numbered)
        self.classes = np.array([_CLASSES.index(literal_class(literal)) for literal in self.literals], np.int32)
        for skeleton, alike in self.alike.items():
            texts = np.frombuffer(alike.texts, np.int32)
            self._compile_alike(skeleton, texts, np.frombuffer(alike.literals, np.int32).reshape(len(texts), -1))
        self.alike.clear()
        if self.trees:
            self.forests.append(trees_forest({str(number): tree for number, tree in self.trees.items()}))
            self.members.append(np.array(list(self.trees), np.int32))
        return CompiledTexts(
            merge_forests(self.forests),
            np.concatenate([np.empty(0, np.int32), *self.members]),
            dict(sorted(self.errors.items())),
            self.translated,
            frozenset(self.functions),
        )

    def _compile_alike(self, skeleton: str, texts: Ints, literals: Ints) -> None:
        """Texts with one skeleton. Those with the same pinned literals, and the same classes of the others, share
        one template; making it shows which literals are pinned."""
        template = self._template(skeleton, literals[0]) if len(texts) >= FEWEST_ALIKE else None
        if template is None:
            for number, own in zip(texts.tolist(), literals, strict=True):
                self._parse(number, self._text(skeleton, own))
            return
        decisive = np.concatenate([literals[:, list(template.pinned)], self.classes[literals]], axis=1)
        is_like_first = (decisive == decisive[0]).all(axis=1)
        self._instantiate(skeleton, template, texts[is_like_first], literals[is_like_first])
        if not is_like_first.all():
            others = ~is_like_first
            _, group = distinct_rows(decisive[others])
            for number in range(int(group.max()) + 1):
                self._compile_alike(skeleton, texts[others][group == number], literals[others][group == number])

    def _template(self, skeleton: str, literals: Ints) -> Template | None:
        """The template, if instantiating it gives the same tree as parsing."""
        own = [self.literals[number] for number in literals.tolist()]
        template = make_template(skeleton, own, self.policy)
        if template is None:
            return None
        parsed = read_spark_sql(self._text(skeleton, literals), self.policy).tree
        roots = trees_forest({"parsed": parsed, "instantiated": template.tree_of(own)}).roots
        return template if roots[0] == roots[1] else None

    def _instantiate(self, skeleton: str, template: Template, texts: Ints, literals: Ints) -> None:
        columns = sorted(set(template.holes.values()))
        constants = np.empty((len(texts), len(columns)), np.int32)
        for column, hole in enumerate(columns):
            constants[:, column] = self._constant_numbers(literals[:, hole.number], hole)
        holes = {constant: columns.index(hole) for constant, hole in template.holes.items()}
        self.functions |= called_functions(template.tree)
        if template.sql is not None:
            for number, own in zip(texts.tolist(), literals, strict=True):
                filled = template.sql_of([self.literals[literal] for literal in own.tolist()])
                assert filled is not None
                self.translated[number] = filled
        forest, usual = instances_forest(Instances(template.tree, holes, constants), self.table)
        self.forests.append(forest)
        self.members.append(texts[usual])
        for number, own in zip(texts[~usual].tolist(), literals[~usual], strict=True):
            self._parse(number, self._text(skeleton, own))

    def _constant_numbers(self, literals: Ints, hole: Hole) -> Ints:
        """The constants of literals; each literal is converted once."""
        kind = (hole.negative, hole.is_searched)
        known = self.constant_numbers.setdefault(kind, np.full(len(self.literals), -1, np.int32))
        for number in np.unique(literals[known[literals] < 0]).tolist():
            known[number] = self.table.number(hole.constant(self.literals[number]))
        return known[literals]

    def _text(self, skeleton: str, literals: Ints) -> str:
        return joined(skeleton, [self.literals[number] for number in literals.tolist()])

    def _parse(self, number: int, sql: str) -> None:
        try:
            tree, rewritten = read_spark_sql(sql, self.policy)
            self.trees[number] = tree
            if rewritten is not None:
                self.translated[number] = rewritten
            self.functions |= called_functions(tree)
        except RuleError as error:
            self.errors[number] = error


_CLASSES = ("string", "integer", "decimal")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
