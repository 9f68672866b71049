"""Writes random texts from choices, made by a seed or by Hypothesis, which then shrinks them."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Writer(ABC):
    """The choices of a grammar; a subclass has a method for each of its symbols, which gives the text of one."""

    @abstractmethod
    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""

    @abstractmethod
    def between(self, least: int, most: int) -> int:
        """A number, both ends included."""

    @abstractmethod
    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred."""

    def maybe(self, word: str) -> str:
        """The word, or nothing."""
        return self.pick(["", word])

    def several(self, part: Callable[[], str], least: int, most: int, between: str = ", ") -> str:
        """So many parts."""
        return between.join(part() for _ in range(self.between(least, most)))


class Seeded(Writer):
    """The same texts for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def between(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def chance(self, percent: int) -> bool:
        return self.random.random() < percent / 100


class Drawn(Writer):
    """Texts of Hypothesis, which makes the failing ones small: what is chosen by chance goes away first."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def pick(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def between(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent
