"""Sigma files as rows: all files are read, filters applied, and then every rule and correlation is converted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from sigma.collection import SigmaCollection
from sigma.correlations import SigmaCorrelationRule
from sigma.exceptions import SigmaError, SigmaRuleLocation
from sigma.filters import SigmaFilter
from sigma.processing.pipeline import ProcessingPipeline
from sigma.rule import SigmaRule, SigmaRuleBase

from sparkrules.errors import RuleSetError
from sparkrules.rules.sources import FileRow, NoRule, PatternRow, RuleRow
from sparkrules.sigma.backend import SparkRulesBackend
from sparkrules.sigma.correlation import any_of, rule_id
from sparkrules.sql.rejected import Source

_SUFFIXES = (".yml", ".yaml")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_files(
    paths: Sequence[Path], pipeline: ProcessingPipeline | str | os.PathLike[str] | None, keywords: str | None
) -> Iterator[RuleRow]:
    """The rows of all files: what is rejected while they are read, then rules, then patterns."""
    backend = SparkRulesBackend(_pipeline(pipeline), keywords)
    files = [file for path in paths for file in _files(path)]
    rows: list[RuleRow] = []
    placed: dict[int, Source] = {}
    read: list[SigmaRuleBase] = []
    for file in files:
        try:
            collection = _collection(file)
        except (RuleSetError, SigmaError) as error:
            rows.append(_rejected("", error, (str(file), "rule", 1)))
            continue
        own: list[SigmaRuleBase] = [*collection.rules, *collection.filters]
        known = {id(error) for rule in own for error in rule.errors}
        rows += [_rejected("", e, (str(file), "rule", 1)) for e in collection.errors if id(e) not in known]
        placed |= {id(rule): (str(file), "rule", number) for number, rule in enumerate(own, start=1)}
        read += own
    rows += [_rejected(rule_id(rule), rule.errors[0], placed[id(rule)]) for rule in read if rule.errors]
    yield from rows
    yield from _converted([rule for rule in read if not rule.errors], placed, backend)


def _converted(
    read: Iterable[SigmaRuleBase], placed: dict[int, Source], backend: SparkRulesBackend
) -> Iterator[RuleRow]:
    filters = [own for own in read if isinstance(own, SigmaFilter)]
    rules = [own for own in read if isinstance(own, SigmaRule)]
    correlations = [own for own in read if isinstance(own, SigmaCorrelationRule)]
    everything = SigmaCollection([*rules, *correlations], resolve_references=False)
    rejected: list[RuleRow] = []
    resolved: list[SigmaCorrelationRule] = []
    for correlation in correlations:
        try:
            correlation.resolve_rule_references(everything)
            resolved.append(correlation)
        except SigmaError as error:
            rejected.append(_rejected(rule_id(correlation), error, placed[id(correlation)]))
    for rule in rules:
        source = placed[id(rule)]
        try:
            for own in filters:
                own.apply_on_rule(rule)
            backend.convert_rule(rule)
            if rule._output:
                row = FileRow(
                    rule_id(rule), any_of(rule.get_conversion_result()), metadata=_metadata(rule), tags=_tags(rule)
                )
                row.source = source
                yield row
        except SigmaError as error:
            yield _rejected(rule_id(rule), error, source)
    yield from rejected
    for correlation in resolved:
        source = placed[id(correlation)]
        try:
            [fields] = backend.convert_correlation_rule(correlation)
            pattern = PatternRow.of({"id": rule_id(correlation), "metadata": _metadata(correlation), **fields})
            pattern.source = source
            yield pattern
        except SigmaError as error:
            yield _rejected(rule_id(correlation), error, source)


def _metadata(rule: SigmaRule | SigmaCorrelationRule) -> dict[str, Any]:
    found: dict[str, Any] = {
        "title": rule.title,
        "level": None if rule.level is None else str(rule.level),
        "status": None if rule.status is None else str(rule.status),
        "author": rule.author,
        "tags": _tags(rule),
        "logsource": _logsource(rule) if isinstance(rule, SigmaRule) else None,
    }
    return {name: value for name, value in found.items() if value}


def _tags(rule: SigmaRule | SigmaCorrelationRule) -> list[str]:
    return [str(tag) for tag in rule.tags]


def _logsource(rule: SigmaRule) -> dict[str, str]:
    own = rule.logsource
    found = {"category": own.category, "product": own.product, "service": own.service}
    return {name: value for name, value in found.items() if value}


def _rejected(id: str, error: Exception, source: Source) -> FileRow:
    # The place is in the row, and need not be repeated as pySigma does.
    reason = str(error.args[0]) if isinstance(error, SigmaError) and error.args else str(error)
    row = FileRow(NoRule(reason, id), None)
    row.source = source
    return row


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
    if not path.exists():
        raise RuleSetError(f"{path}: there is no such file or directory of Sigma rules")
    return [path]


def _collection(file: Path) -> SigmaCollection:
    try:
        documents = list(yaml.load_all(file.read_text(encoding="utf-8-sig"), _LOADER))
    except (yaml.YAMLError, ValueError, RecursionError, OSError) as error:
        raise RuleSetError(f"this cannot be read as YAML in UTF-8: {' '.join(str(error).split())}") from None
    if not all(isinstance(own, dict) for own in documents if own is not None):
        raise RuleSetError("this is not a Sigma rule: it is no mapping with title, logsource and detection")
    try:
        found: SigmaCollection = SigmaCollection.from_dicts(
            documents,
            collect_errors=True,
            source=SigmaRuleLocation(file),
            collect_filters=True,
            resolve_references=False,
        )
        return found
    except SigmaError:
        raise
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        # pySigma stumbles over some wrong types instead of saying so.
        raise RuleSetError(f"this is not a Sigma rule: {type(error).__name__}: {error}") from None


def _pipeline(pipeline: ProcessingPipeline | str | os.PathLike[str] | None) -> ProcessingPipeline | None:
    if pipeline is None or isinstance(pipeline, ProcessingPipeline):
        return pipeline
    try:
        made: ProcessingPipeline = ProcessingPipeline.from_yaml(Path(pipeline).read_text(encoding="utf-8"))
    except (OSError, SigmaError, UnicodeDecodeError) as error:
        raise RuleSetError(f"{pipeline}: not a processing pipeline of pySigma: {error}") from error
    return made
