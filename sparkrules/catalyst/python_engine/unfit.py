"""Reports rules that do not fit a DataFrame: an error that lists them by reason, with the plugin's wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sparkrules.catalyst.python_engine.analysis import Rejection
from sparkrules.errors import RuleSetError, listed

_REASONS, _IDS = 10, 5


def refuse(rule_set: str, columns: Sequence[str], rejections: Mapping[str, Rejection]) -> None:
    """Raise `RuleSetError` if there are rejections, given by rule id.

    >>> refuse("alerts@1", ["price"], {"typo": Rejection.no_column(["prise"])})
    Traceback (most recent call last):
    ...
    sparkrules.errors.RuleSetError: 1 rule of alerts@1 is rejected on the input (price):
      'typo': there is no column prise
    Set spark.sparkrules.missingColumns=null to read missing columns as NULL, set spark.sparkrules.invalidRules=skip ...
    """
    if not rejections:
        return
    is_missing = any(rejection.missing for rejection in rejections.values())
    remedies = "set spark.sparkrules.missingColumns=null to read missing columns as NULL, " if is_missing else ""
    remedies += "set spark.sparkrules.invalidRules=skip to skip such rules, or change the rules."
    raise RuleSetError(f"{described(rule_set, columns, rejections)}\n{remedies[0].upper()}{remedies[1:]}")


def described(rule_set: str, columns: Sequence[str], rejections: Mapping[str, Rejection]) -> str:
    """The rejected rules and their reasons, at most the first few."""
    by_reason: dict[Rejection, list[str]] = {}
    for id, rejection in rejections.items():
        by_reason.setdefault(rejection, []).append(id)
    ranked = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    count, are = (f"{len(rejections)} rules", "are") if len(rejections) > 1 else ("1 rule", "is")
    lines = [f"{count} of {rule_set} {are} rejected on the input "]
    lines[0] += f"({', '.join(columns)}):"
    for rejection, ids in ranked[:_REASONS]:
        quoted = (f"'{id}'" for id in ids)
        lines.append(f"  {listed(quoted, _IDS)}: {rejection.reason}")
    if len(ranked) > _REASONS:
        lines.append(f"  ... and {len(ranked) - _REASONS} other reasons")
    return "\n".join(lines)
