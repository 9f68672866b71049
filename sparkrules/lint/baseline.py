"""A baseline of accepted findings: a JSON file next to the rules, so that only new findings are reported.

Contract: a finding stays accepted while its message and the texts of its rules are unchanged. When one of the rules
changes, the finding is reported again.

>>> from sparkrules.lint.finding import Finding
>>> from sparkrules.lint.report import Report
>>> report = Report([Finding("costly", ("r",), "a regular expression")], {"r": "a RLIKE 'x'"})
>>> len(report.without(Baseline.of(report)))
0
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from sparkrules.errors import RuleSetError
from sparkrules.lint.report import Report

_FORMAT = 1


@dataclass(frozen=True)
class Baseline:
    """Accepted findings: messages by fingerprint."""

    accepted: dict[str, str]

    @staticmethod
    def of(report: Report) -> Baseline:
        """Accept every finding of a report."""
        return Baseline({found.fingerprint(report.texts): _summary(str(found)) for found in report})

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Baseline:
        """Read a file written by `write`."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            accepted = {str(entry["fingerprint"]): str(entry["finding"]) for entry in content["accepted"]}
            version = content["format"]
        except (ValueError, TypeError, KeyError) as error:
            raise RuleSetError(f"{path} is not a baseline of findings ({error!r}): write it again") from None
        if version != _FORMAT:
            raise RuleSetError(f"{path} has the format {version!r}; this version of sparkrules reads format {_FORMAT}")
        return Baseline(accepted)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, sorted so that it diffs well under version control."""
        entries = [{"fingerprint": key, "finding": said} for key, said in sorted(self.accepted.items())]
        content = json.dumps({"format": _FORMAT, "accepted": entries}, ensure_ascii=False, indent=1)
        Path(path).write_text(content + "\n", encoding="utf-8")


def _summary(finding: str) -> str:
    return " ".join(finding.splitlines()[0].split())
