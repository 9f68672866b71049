"""Runs the notebooks of examples/ in a separate kernel; `python -m tests.docs.notebooks` stores their output."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook with the outputs that its cells have now; raises if one of them fails."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as directory:
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": directory}}
        )
        client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
        if cell.cell_type == "code":
            cell.outputs = _steady(cell.outputs)
    notebook.metadata = {**notebook.metadata, "language_info": {"name": "python"}}
    return notebook


def _steady(given: list[Any]) -> list[Any]:
    """Outputs that are the same each time: what is printed comes in pieces, which depend on when it comes.

    Warnings of Spark and Python differ between machines, and are not what a reader wants to see.
    """
    kept: list[Any] = []
    for output in given:
        if output.get("name") == "stderr":
            continue
        if kept and output.output_type == kept[-1].output_type == "stream":
            kept[-1].text += output.text
        else:
            kept.append(output)
    return kept


def outputs(notebook: Any) -> list[list[Any]]:
    """What each cell of code shows."""
    return [
        [output.get("text") or output["data"] for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


if __name__ == "__main__":
    for own in NOTEBOOKS:
        nbformat.write(executed(own), own)
