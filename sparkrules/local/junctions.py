"""The second phase of matching: the inner nodes of a forest, level by level, 64 rows at a time.

Junctions of one level, operator and number of children are joined together, child by child. Most ANDs are false for
most rows. So after the first child, which should be the one that is true most rarely, only the words with a bit left
are looked at again. Which child that is, the first rows show; it changes the speed, never the answer.

>>> from sparkrules.index.builder import trees_forest
>>> from sparkrules.sql.tree import Junction, Predicate
>>> a, b = Predicate("a", "is true"), Predicate("b", "is true")
>>> forest = trees_forest({"both": Junction("and", (a, b)), "either": Junction("or", (a, b))})
>>> words = np.array([[0b0011], [0b0101], [0], [0]], np.uint64)
>>> Junctions(forest).fill(words)
>>> words.ravel().tolist()
[3, 5, 1, 7]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sparkrules.index.forest import AND, OR, Forest
from sparkrules.local.truth import Words

# If more words than this have a bit left, looking at all of them is faster.
_SPARSE = 0.2


@dataclass
class _Step:
    """Junctions of one level, operator and number of children, which are the columns of `children`. The first child of
    junction i is `firsts[first_of[i]]`."""

    is_and: bool
    nodes: NDArray[np.int64]
    children: NDArray[np.int64]
    firsts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    first_of: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


class Junctions:
    """See the module."""

    def __init__(self, forest: Forest) -> None:
        nodes = forest.nodes
        lengths = nodes.children.lengths
        self._always = np.flatnonzero((nodes.operator == AND) & (lengths == 0))
        self._steps: list[_Step] = []
        self._is_ordered = False
        # By level first: a junction needs its children.
        order = np.lexsort((lengths, nodes.operator, nodes.level))
        order = order[((nodes.operator[order] == AND) | (nodes.operator[order] == OR)) & (lengths[order] > 0)]
        alike = np.stack([nodes.level[order], nodes.operator[order], lengths[order]])
        for own in np.split(order, np.flatnonzero((alike[:, 1:] != alike[:, :-1]).any(axis=0)) + 1):
            if len(own):
                width = int(lengths[own[0]])
                children = nodes.children.values[nodes.children.offsets[own][:, None] + np.arange(width)]
                self._steps.append(_Step(bool(nodes.operator[own[0]] == AND), own, children.astype(np.int64)))

    def fill(self, words: Words) -> None:
        """Compute the words of all junctions, which must be zero, given those of the predicates."""
        words[self._always] = ~np.uint64(0)
        for step in self._steps:
            if step.is_and:
                if not self._is_ordered:
                    _put_rarest_first(step, words)
                _fill_and(step, words)
            else:
                found = words[step.children[:, 0]]
                for column in range(1, step.children.shape[1]):
                    found |= words[step.children[:, column]]
                words[step.nodes] = found
        self._is_ordered = True


def _put_rarest_first(step: _Step, words: Words) -> None:
    used, which = np.unique(step.children, return_inverse=True)
    filled = (words[used] != 0).sum(axis=1)
    order = np.argsort(filled[which].reshape(step.children.shape), axis=1, kind="stable")
    step.children = np.take_along_axis(step.children, order, axis=1)
    step.firsts, step.first_of = np.unique(step.children[:, 0], return_inverse=True)


def _fill_and(step: _Step, words: Words) -> None:
    width = words.shape[1]
    # Many ANDs have the same first child, so its words are looked through once for all of them.
    firsts = words[step.firsts]
    some = np.flatnonzero((firsts != 0).ravel())
    counts = np.bincount(some // width, minlength=len(firsts))
    repeats = counts[step.first_of]
    if repeats.sum() < _SPARSE * len(step.nodes) * width:
        ends = np.cumsum(repeats)
        starts = (np.cumsum(counts) - counts)[step.first_of] - (ends - repeats)
        own = some[np.arange(int(ends[-1])) + np.repeat(starts, repeats)]
        node = np.repeat(np.arange(len(step.nodes)), repeats)
        _fill_sparse(step, words, node, own % width, firsts.reshape(-1)[own])
        return
    found = firsts[step.first_of]
    for column in range(1, step.children.shape[1]):
        found &= words[step.children[:, column]]
    words[step.nodes] = found


def _fill_sparse(step: _Step, words: Words, node: NDArray[np.int64], word: NDArray[np.int64], left: Words) -> None:
    """Join the other children where the first left a bit: `left` has these words, for each the junction and place."""
    width = words.shape[1]
    flat = words.reshape(-1)
    for other in range(1, step.children.shape[1]):
        left = left & flat[step.children[node, other] * width + word]
        kept = np.flatnonzero(left != 0)
        node, word, left = node[kept], word[kept], left[kept]
    flat[step.nodes[node] * width + word] = left
