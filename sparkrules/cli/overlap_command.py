"""`sparkrules overlap`: which rules could match rows of which sources."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

import pyarrow as pa

from sparkrules.cli.command import Commands, add_command
from sparkrules.cli.data_files import read_schema
from sparkrules.cli.exit_codes import DONE
from sparkrules.cli.json_text import json_text
from sparkrules.cli.options import add_advertisements, add_json, add_limit, add_rules, add_schema
from sparkrules.cli.rules import advertise, chosen_rules
from sparkrules.cli.text_table import counted, terminal_width, text_table
from sparkrules.errors import SparkRulesError
from sparkrules.index import Rule, build_segment
from sparkrules.rules import Advertisement, OverlappingPair, OverlapQuestions
from sparkrules.ruleset import RuleSet

_SHOWN = 50


def add_overlap(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "overlap",
        "list the rules that could match rows of sources",
        "List the rules that could match rows which fulfil a condition, or rows of an advertisement; or the "
        "advertisements whose rows a rule could match; or by default all such pairs. An overlap is certain if some row "
        "fulfils both. Rules that are not listed match no such row.",
        examples=[
            'sparkrules overlap --ruleset alerts --where "t BETWEEN 25 AND 35"',
            "sparkrules overlap --ruleset alerts --advertisement cellar",
            "sparkrules overlap --ruleset alerts --subscription hot --json",
        ],
    )
    add_rules(command)
    add_advertisements(command)
    asked = command.add_mutually_exclusive_group()
    asked.add_argument(
        "--where", metavar="CONDITION", help="list the rules that could match rows which fulfil this condition"
    )
    asked.add_argument(
        "--advertisement", metavar="ID", help="list the rules that could match rows of this advertisement"
    )
    asked.add_argument("--subscription", metavar="ID", help="list the advertisements whose rows this rule could match")
    add_schema(command)
    add_limit(command, _SHOWN)
    add_json(command)
    command.set_defaults(run=_overlap)


def _overlap(arguments: argparse.Namespace) -> int:
    rules = chosen_rules(arguments)
    if arguments.advertisements:
        advertise(rules, arguments.advertisements)
    schema = read_schema(arguments.schema) if arguments.schema else None
    if arguments.where is not None:
        condition = Advertisement.parsed(None, arguments.where, rules.dialect, rules.policy)
        found = list(OverlapQuestions(rules._segment, schema).pairs([condition]))
        _write(found, ["subscription"], rules, arguments)
    elif arguments.advertisement is not None:
        own = _advertisements(rules)[arguments.advertisement]
        found = list(OverlapQuestions(rules._segment, schema).pairs([own]))
        _write(found, ["subscription"], rules, arguments)
    elif arguments.subscription is not None:
        _write(_sources(rules, arguments.subscription, schema), ["advertisement"], rules, arguments)
    else:
        _advertisements(rules)
        _write(rules.advertisements.overlaps(schema=schema), ["advertisement", "subscription"], rules, arguments)
    return DONE


def _advertisements(rules: RuleSet) -> dict[str, Advertisement]:
    if not rules.advertisements:
        raise SparkRulesError(
            f"rule set {rules.name!r} has no advertisements: give a condition with --where or a file with "
            "--advertisements, or publish some with sparkrules publish --advertisements FILE"
        )
    return _Known(rules.advertisements)


class _Known(dict[str, Advertisement]):
    def __missing__(self, id: str) -> Advertisement:
        raise SparkRulesError(f"there is no advertisement {id!r}; there are: {', '.join(self)}")


def _sources(rules: RuleSet, id: str, schema: pa.Schema | None) -> list[OverlappingPair]:
    """The advertisements that a rule could match: the same question with the sides swapped."""
    known, rule = _advertisements(rules), rules.subscriptions[id]
    sources = build_segment(Rule(own.id, own.where, own.tree) for own in known.values())
    asked = Advertisement(id, rule.where, rule.sql or rule.where, rule.tree)
    found = {pair.subscription: pair for pair in OverlapQuestions(sources, schema).pairs([asked])}
    return [OverlappingPair(own, id, found[own].certain) for own in known if own in found]


def _write(
    found: Iterable[OverlappingPair], fields: Sequence[str], rules: RuleSet, arguments: argparse.Namespace
) -> None:
    pairs = list(found)
    if arguments.json:
        listed = [{**{field: getattr(pair, field) for field in fields}, "certain": pair.certain} for pair in pairs]
        print(json_text(listed, indent=2))
        return
    lines = []
    for pair in pairs[: arguments.limit or None]:
        last = getattr(pair, fields[-1])
        text = rules.advertisements[last].where if fields[-1] == "advertisement" else rules.subscriptions[last].where
        named = [getattr(pair, field) for field in fields]
        lines.append([*named, "certain" if pair.certain else "possible", text])
    if lines:
        print(text_table([*fields, "overlap", "where"], lines, terminal_width()), end="\n\n")
    cut = f"; the first {arguments.limit:,} are shown, --limit 0 shows all" * (0 < arguments.limit < len(pairs))
    print(f"{counted(len(pairs), 'overlap')}, {sum(pair.certain for pair in pairs):,} of them certain{cut}")
