"""How a command is added: with a line for the list, a description, and examples below its help."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Any]"


def add_command(
    commands: Commands, name: str, summary: str, description: str | None = None, *, examples: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """A command; `summary` stands in the list of all, the description, or else the summary, above its own help."""
    # Filled here, since argparse either fills all text or, as the examples need it, none.
    about = textwrap.fill(description or f"{summary[0].upper()}{summary[1:]}.", 80)
    shown = "".join(f"\n  {line}" for line in examples)
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=about,
        epilog=f"examples:{shown}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return command
