"""The scripts and notebooks of examples/ as part of the site, and links to them: MkDocs knows only the files in docs/.

Pages link to `../examples/data_quality.py`, which is right where the repository is read as it is. In the site the
scripts are in `examples/`, and a notebook is a page there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_EXAMPLE = re.compile(r"\]\(((?:\.\./)*)\.\./examples/(\w+\.(?:py|ipynb))\)")
# Source files are linked where the repository is read as it is; the site does not have them.
_SOURCE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:benchmarks|jars|sparkrules|tests)/[^)]*\)")
_NOTEBOOK = re.compile(r"\]\(([\w/.]+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the scripts as they are, and each notebook as a page."""
    for path in sorted(_EXAMPLES.glob("*.py")):
        files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    for path in sorted(_EXAMPLES.glob("*.ipynb")):
        page = notebook_page(json.loads(path.read_text(encoding="utf-8")))
        files.append(File.generated(config, f"examples/{path.stem}.md", content=page))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to examples, and from notebooks to pages, stay inside the site. The first page has the whole width."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    elif page.file.src_uri == "papers.md":
        page.meta["hide"] = ["navigation"]  # wide tables
    markdown = _SOURCE.sub(r"`\1`", markdown)
    return _NOTEBOOK.sub(r"](\1.md)", _EXAMPLE.sub(r"](\1examples/\2)", markdown)).replace("](../docs/", "](../")


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: its texts, its code, and what that has printed.

    >>> print_cell = {"cell_type": "code", "source": ["print(1)"], "outputs": [{"text": ["1\\n"]}]}
    >>> print(notebook_page({"cells": [{"cell_type": "markdown", "source": ["# One"]}, print_cell]}))
    # One
    <BLANKLINE>
    ```python
    print(1)
    ```
    <BLANKLINE>
    ```text
    1
    ```
    """
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_shown(output) for output in cell["outputs"]]
    return "\n\n".join(parts)


def _shown(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    for kind in ("image/svg+xml", "text/html"):
        if kind in data:
            return "".join(data[kind])
    text = "".join(output.get("text") or data["text/plain"])
    return f"```text\n{text.rstrip()}\n```"
