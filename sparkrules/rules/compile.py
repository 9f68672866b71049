"""The texts of many rules at once, to the forest of their trees.

    texts ─ lifted ─▶ skeletons ─ one parse each ─▶ templates ─ constants as arrays ─▶ forests ─ merged ─▶ forest
              └ too few alike: cut ─▶ predicates, which are compiled in that way ─ outlines ─▶ forest ┤
                                  └ else: parsed one by one ─▶ trees ─▶ forest ───────────────────────┘

The result equals that of parsing and building the rules one by one, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sparkrules.index.builder import trees_forest
from sparkrules.index.csr import Ints
from sparkrules.index.forest import Forest
from sparkrules.index.merge_forests import merge_forests
from sparkrules.rules.alike import AlikeTexts
from sparkrules.rules.outlined import OutlinedTexts
from sparkrules.sql import DEFAULT_POLICY, Node, Policy, RuleError, called_functions
from sparkrules.sql.dialect import SPARK_DIALECTS
from sparkrules.sql.outline import PLACE
from sparkrules.sql.rule import in_spark_dialect, read_spark_sql
from sparkrules.sql.template import SEPARATOR, lift
from sparkrules.sql.variable_templates import VariableTemplates

# Below this, parsing each text costs less than making and checking a template.
FEWEST_ALIKE = 16
# Of so many texts, the first few show whether texts are alike. If they are not, the others are cut at once.
_STRETCH, _TRIED = 1_024, 128


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


class _Compilation:
    def __init__(self, dialect: str, policy: Policy) -> None:
        self.dialect = dialect
        self.policy = policy
        self.is_spark = dialect.lower() in SPARK_DIALECTS
        self.longest = policy.max_characters
        self.count = 0
        self.alike = AlikeTexts(policy, lambda texts, _: len(texts) >= FEWEST_ALIKE)
        self.outlined = OutlinedTexts(policy, self.alike.numbered)
        self.unlike = 0  # how many of the tried texts of this stretch are like few others
        self.variables = VariableTemplates(policy)
        self.trees: dict[int, Node] = {}
        self.errors: dict[int, RuleError] = {}
        self.translated: dict[int, str] = {}
        self.functions: set[str] = set()

    def read(self, text: str) -> None:
        """Group a text with those that differ only in their constants, or parse it."""
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
        is_odd = SEPARATOR in sql or PLACE in sql
        if is_odd or len(sql) > self.longest or not (sql.isascii() or _is_unicode(sql)):
            self._parse(number, sql)
            return
        skeleton, literals = lift(sql)
        numbers = map(self.alike.numbered.__getitem__, literals)
        place = number % _STRETCH
        if place == 0:
            self.unlike = 0
        if place >= _TRIED and self.unlike > _TRIED // 2:
            self.outlined.read(number, skeleton, numbers)
        elif self.alike.read(number, skeleton, numbers) < FEWEST_ALIKE:
            self.unlike += 1

    def _without_variables(self, text: str) -> str:
        if self.is_spark and len(text) <= self.longest and (text.isascii() or _is_unicode(text)):
            return self.variables.without_variables(text)
        return in_spark_dialect(text, self.dialect, self.policy)

    def compiled(self) -> CompiledTexts:
        self.alike.compile()
        forests, members = list(self.alike.forests), list(self.alike.members)
        self.translated |= self.alike.translated
        self.functions.update(*(functions for texts, functions in self.alike.functions if len(texts)))
        outlined = self.outlined
        for skeleton, texts, literals in self.alike.left:
            for number, own in zip(texts.tolist(), literals.tolist(), strict=True):
                outlined.read(number, skeleton, own)
        outlined.compile()
        forests.append(outlined.forest)
        members.append(outlined.members)
        self.functions |= outlined.functions
        for number, sql in outlined.left:
            self._parse(number, sql)
        if self.trees:
            forests.append(trees_forest({str(number): tree for number, tree in self.trees.items()}))
            members.append(np.array(list(self.trees), np.int32))
        return CompiledTexts(
            merge_forests(forests),
            np.concatenate([np.empty(0, np.int32), *members]),
            dict(sorted(self.errors.items())),
            self.translated,
            frozenset(self.functions),
        )

    def _parse(self, number: int, sql: str) -> None:
        try:
            tree, rewritten = read_spark_sql(sql, self.policy)
            self.trees[number] = tree
            if rewritten is not None:
                self.translated[number] = rewritten
            self.functions |= called_functions(tree)
        except RuleError as error:
            self.errors[number] = error


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
