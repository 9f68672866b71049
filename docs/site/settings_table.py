"""The table of settings in docs/sql-reference.md, which the plugin itself writes.

`python docs/site/settings_table.py` puts the table of today's plugin into the page.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from sparkrules.catalyst.jar import jar_path
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.spark_home import find_spark_home

PAGE = Path(__file__).resolve().parents[1] / "sql-reference.md"

_TABLE = re.compile(r"^\| setting \|.*\n(?:\|.*\n)+", re.MULTILINE)


def table_of_plugin() -> str:
    """The table as the plugin prints it."""
    classpath = os.pathsep.join([jar_path(), str(find_spark_home().jars / "*")])
    command = [find_java(), "-cp", classpath, "sparkrules.conf.Settings"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True).stdout


def table_of_page(page: str) -> str:
    """The table in the text of a page.

    >>> table_of_page("Settings:\\n\\n| setting |\\n|---|\\n| a |\\n\\nMore.\\n")
    '| setting |\\n|---|\\n| a |\\n'
    """
    found = _TABLE.search(page)
    return found[0] if found else ""


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.replace(table_of_page(page), table_of_plugin()), encoding="utf-8")
