"""How a command is added: with a line for the list, a description, and examples below its help."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Any]"


class Parser(argparse.ArgumentParser):
    """A parser that guesses what a misspelt command was to be."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search("invalid choice: '([^']*)'", message)
        known = [name for action in self._actions if action.choices for name in action.choices]
        near = get_close_matches(wrong.group(1), known, 1) if wrong else []
        super().error(f"{message}{f'; did you mean {near[0]}?' if near else ''}")


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
