"""Building blocks for attacks of several families."""

from __future__ import annotations

SECRET = "canary-of-the-environment"  # of a variable of the environment, a setting and a file
LONG = "'" + "a" * 60_000 + "'"
SHORT = "'" + "a" * 40 + "'"


def text(value: str) -> str:
    """As a constant of SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def nested(pattern: str, times: int, inner: str) -> str:
    """`f(f(f(inner)))`; the pattern has an x in braces where the value goes, once or more often."""
    for _ in range(times):
        inner = pattern.replace("{x}", inner)
    return inner
