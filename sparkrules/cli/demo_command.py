"""`sparkrules demo`."""

from __future__ import annotations

from sparkrules import demo
from sparkrules.cli.command import Commands, add_command


def add_demo(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "demo",
        "try it: 10,000 rules on a million rows, on an embedded Spark",
        demo.DESCRIPTION,
        examples=["sparkrules demo", "sparkrules demo --rules 300 --rows 5000"],
    )
    demo.add_options(command)
    command.set_defaults(run=demo.run)
