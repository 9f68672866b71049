"""`sparkrules jar-path` and `build-jar`: the plugin's jar, for users who start Spark themselves."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.exit_codes import DONE


def add_jar(commands: Commands) -> None:
    """The commands and their options."""
    jar_path = add_command(
        commands,
        "jar-path",
        "print the path of the plugin's jar, and build it if necessary",
        examples=["spark-submit --jars $(sparkrules jar-path) job.py"],
    )
    jar_path.set_defaults(run=_jar_path)

    build_jar = add_command(
        commands,
        "build-jar",
        "build the plugin's jar for the installed PySpark",
        "Build the plugin's jar for the installed PySpark, with the Scala compiler inside it, and print its path.",
        examples=["sparkrules build-jar --output /opt/sparkrules/sparkrules.jar"],
    )
    build_jar.add_argument("--output", type=Path, metavar="FILE", help="where to write it (default: the cache)")
    build_jar.add_argument("--strict", action="store_true", help="treat compiler warnings as errors")
    build_jar.add_argument("--prebuilt", type=Path, metavar="DIRECTORY", help=argparse.SUPPRESS)
    build_jar.set_defaults(run=_build_jar)


def _jar_path(_: argparse.Namespace) -> int:
    from sparkrules.catalyst import jar_path

    print(jar_path())
    return DONE


def _build_jar(arguments: argparse.Namespace) -> int:
    from sparkrules.catalyst import build_jar, cached_jar, write_prebuilt

    if arguments.prebuilt:
        print(write_prebuilt(arguments.prebuilt))
    else:
        print(build_jar(arguments.output or cached_jar(), strict=arguments.strict))
    return DONE
