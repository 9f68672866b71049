"""All findings of a rule set, for people and for programs.

>>> from sparkrules.lint.finding import Finding
>>> report = Report([Finding("covered", ("r2", "r1"), "r1 matches whenever it does")], {"r1": "a > 3", "r2": "a > 5"})
>>> print(report)
info covered: r2, r1
    r1 matches whenever it does
<BLANKLINE>
1 finding in 2 rules: 1 covered
>>> report.to_json().splitlines()[0], report.worst
('{', 'info')
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparkrules.lint.finding import KINDS, SEVERITIES, Finding, Kind, Severity

if TYPE_CHECKING:
    from sparkrules.lint.baseline import Baseline


@dataclass(frozen=True)
class Report:
    """Findings, the worst first. `notes` says where a limit made the check incomplete."""

    findings: Sequence[Finding]
    texts: Mapping[str, str] = field(repr=False, default_factory=dict)
    notes: Sequence[str] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def counts(self) -> dict[Kind, int]:
        """The number of findings of each kind."""
        counted = Counter(finding.kind for finding in self.findings)
        return {kind: counted[kind] for kind in KINDS if counted[kind]}

    @property
    def worst(self) -> Severity | None:
        """The highest severity, or None without findings."""
        return min((finding.severity for finding in self.findings), key=SEVERITIES.index, default=None)

    def of(self, kind: Kind) -> list[Finding]:
        """The findings of a kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def without(self, baseline: Baseline) -> Report:
        """The findings that the baseline does not accept."""
        left = [finding for finding in self.findings if finding.fingerprint(self.texts) not in baseline.accepted]
        return Report(left, self.texts, self.notes)

    def to_json(self) -> str:
        """One JSON object: `findings`, `counts`, `rules`, `notes`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_dict(self) -> dict[str, Any]:
        """The content of `to_json` as a dictionary."""
        findings = [{**found.to_dict(), "fingerprint": found.fingerprint(self.texts)} for found in self.findings]
        return {
            "rules": len(self.texts),
            "counts": self.counts,
            "findings": findings,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        number = f"{len(self)} finding{'' if len(self) == 1 else 's'} in {len(self.texts):,} rules"
        counted = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        summary = f"{number}: {counted}" if counted else f"no findings in {len(self.texts):,} rules"
        return "\n\n".join([*map(str, self.findings), "\n".join([*self.notes, summary])])
