"""A rule set, published to a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparkrules import RuleSet


def published(rules: RuleSet, store: Path, **options: Any) -> RuleSet:
    """The rule set, which has been published."""
    rules.store = store
    rules.publish(**options)
    return rules
