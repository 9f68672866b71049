"""How a command is added: with a line for the list of commands, a description, and examples."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Any]"
_NAMING = {"--ruleset": "NAME", "--rules": "FILE"}


class Parser(argparse.ArgumentParser):
    """A parser that suggests the right spelling of a command or an option."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse, but an unknown option is an error of the command that it follows."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(map(str, unknown))}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}{self._hint(message)}")

    def _hint(self, message: str) -> str:
        choice = re.search("invalid choice: '([^']*)'", message)
        if choice is not None:
            known = [str(name) for action in self._actions if action.choices for name in action.choices]
            near = get_close_matches(choice.group(1), known, 1)
            return f"; did you mean {near[0]}?" if near else ""
        options = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        if re.search("unrecognized arguments: [^-]|invalid int value", message):
            named = [f"{name} {what}" for name, what in _NAMING.items() if name in options]
            return f"; rules are named with {' or '.join(named)}" if named else ""
        unknown = re.search("unrecognized arguments: (--?[^ =]+)", message)
        if unknown is None:
            return ""
        flag = unknown.group(1)
        if flag == "--name" and "--ruleset" in options:
            return "; did you mean --ruleset?"
        positional = [action for action in self._actions if not action.option_strings]
        if any(action.dest == flag.lstrip("-") for action in positional):
            return f"; {flag.lstrip('-')} is given without a flag: {self.prog} {flag.lstrip('-').upper()}"
        near = get_close_matches(flag, options, 1) or [name for name in options if name.startswith(flag)][:1]
        return f"; did you mean {near[0]}?" if near else f"; {self.prog} --help lists the options"


def add_command(
    commands: Commands, name: str, summary: str, description: str | None = None, *, examples: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """A command. The list of commands shows its `summary`, and its own help the description or else the summary."""
    # Wrapped here: argparse either wraps all text or none, and the examples must not be wrapped.
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
