"""Sigma's detection rules, filters and correlations as rules and patterns of a rule set.

| to | use |
|---|---|
| read files and directories | `read`, for `RuleSet.subscribe_all` |

It needs pySigma, and Python 3.11 or newer: `pip install "sparkrules-engine[sigma]"`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrules.errors import RuleSetError, SetupError
from sparkrules.rules.sources import RuleRow

if TYPE_CHECKING:
    from sigma.processing.pipeline import ProcessingPipeline

__all__ = ["read"]


def read(
    *paths: str | os.PathLike[str],
    pipeline: ProcessingPipeline | str | os.PathLike[str] | None = None,
    keywords: str | None = None,
) -> Iterator[RuleRow]:
    r"""The rules and patterns of Sigma files, and of those in directories, for `RuleSet.subscribe_all`.

    Rules have Sigma's id and tags, and title, level, status, author, tags and log source as metadata. Filters are
    applied to the rules that are read with them. Correlations become patterns; a rule that is only part of a
    correlation does not match by itself. `pipeline` is a processing pipeline of pySigma, or its file, that renames
    fields and adds conditions. `keywords` names the column in which values without a field are searched. What cannot be
    expressed exactly is rejected with its reason; the rule set keeps it in `rejected`.

    >>> import sparkrules, tempfile
    >>> file = Path(tempfile.mkdtemp(), "whoami.yml")
    >>> _ = file.write_text(r'''
    ... title: Whoami
    ... logsource: {category: process_creation}
    ... detection:
    ...   selection: {Image|endswith: '\whoami.exe'}
    ...   filter: {User: SYSTEM}
    ...   condition: selection and not filter
    ... ''')
    >>> rules = sparkrules.RuleSet("detections")
    >>> rules.subscribe_all(read(file))
    1
    >>> print(rules.subscriptions["Whoami"].where)
    endswith(lower(Image), '\\whoami.exe') AND (User IS NULL OR NOT lower(User) = 'system')
    """
    try:
        import sigma.collection  # noqa: F401
    except ImportError as error:
        raise SetupError(
            f'Sigma needs pySigma, and that Python 3.11 or newer: pip install "sparkrules-engine[sigma]" ({error})'
        ) from error
    from sparkrules.sigma.files import read_files

    if not paths:
        raise RuleSetError("name at least one file or directory of Sigma rules")
    return read_files([Path(path) for path in paths], pipeline, keywords)
