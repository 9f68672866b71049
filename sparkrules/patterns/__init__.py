"""Patterns: what is looked for in more than one row. A pattern is defined over the rules that rows match.

| to | use |
|---|---|
| define | `Pattern`, whose steps have `Term`s |
| read and write spans of time | `span_of`, `span_words` |

This package knows neither the texts of rules nor how they are matched.
"""

from sparkrules.patterns.pattern import KINDS, MOST_COLUMNS, MOST_STEPS, Pattern, Step, Term
from sparkrules.patterns.span import span_of, span_words

__all__ = ["KINDS", "MOST_COLUMNS", "MOST_STEPS", "Pattern", "Step", "Term", "span_of", "span_words"]
