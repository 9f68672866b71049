"""A page about a rule set, for people who did not write the rules: `write_report`, or `RuleSet.report`.

| module | contains |
|---|---|
| `facts` | the content of the page, from the rules and from Spark: `hits`, `rejected_by_table`, `together`, ... |
| `catalogue` | all rules, packed for the page's script |
| `summary`, `sections` and the modules it lists, `ranking`, `marked_error` | the page's words |
| `script_facts` | the page's data |
| `page`, `markup`, `library`, `assets/` | how it becomes one file |
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrules.errors import RuleSetError
from sparkrules.report.facts import ReportedRules, Say, gather
from sparkrules.report.library import plotting_script
from sparkrules.report.markup import join
from sparkrules.report.page import whole_page
from sparkrules.report.script_facts import script_facts
from sparkrules.report.sections import navigation, sections
from sparkrules.report.summary import eyebrow, lead, tiles

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["write_report"]


def write_report(
    rules: ReportedRules,
    path: str | os.PathLike[str],
    df: DataFrame | None = None,
    *,
    time: str | None = None,
    schema: pa.Schema | None = None,
    lint: bool | None = None,
    say: Say = lambda _: None,
) -> Path:
    """Write the HTML report and return its path. See `RuleSet.report`. `say` receives a message before each step."""
    if time is not None and df is None:
        raise RuleSetError(f"time={time!r} is a column of the rows: give them too, df=...")
    plotting_script()  # fails early if it is not installed
    facts = gather(rules, df, time, schema, lint, say)
    say("writing the page")
    found = list(sections(facts))
    parts: dict[str, str] = {
        "title": join(f"{facts.name}: what the rules do"),
        "name": join(facts.name),
        "eyebrow": eyebrow(facts),
        "lead": lead(facts),
        "tiles": tiles(facts),
        "navigation": navigation(found),
        "sections": join(*(section for _, _, section in found)),
        "footer": join("Made by sparkrules. This page is one file and asks nothing of the network."),
    }
    file = Path(path)
    text = whole_page(parts, script_facts(facts), facts.catalogue.packed())
    try:
        # A rejected text may contain half a surrogate pair, which a file cannot hold.
        file.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise RuleSetError(f"{file} cannot be written: {error.strerror}") from error
    return file
