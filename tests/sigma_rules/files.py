"""Sigma files that tests write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import sparkrules
from sparkrules import sigma

pytest.importorskip("sigma.collection", reason="pySigma is not installed")


def rule(name: str, selection: Any, condition: str = "selection", **fields: Any) -> dict[str, Any]:
    detection = {"selection": selection, "condition": condition}
    return {"title": name, "name": name, "logsource": {"category": "test"}, "detection": detection, **fields}


def written(directory: Path, *documents: Mapping[str, Any], name: str = "rules.yml") -> Path:
    file = directory / name
    file.write_text(yaml.safe_dump_all(documents, allow_unicode=True), encoding="utf-8")
    return file


def subscribed(*paths: Path, **options: Any) -> sparkrules.RuleSet:
    rules = sparkrules.RuleSet("sigma")
    rules.subscribe_all(sigma.read(*paths, **options))
    return rules
