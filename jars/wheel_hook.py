"""Puts the plugin into the wheel: its Scala source, and its jar if `make build` has left one in build/jar.

Without the jar, or under another Spark minor than it was built for, users build it from the source on first use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # the source is read from the checkout
        content = {
            "jars/src": "src",
            "build/jar/sparkrules.jar": "sparkrules.jar",
            "build/jar/built.json": "built.json",
        }
        for path, name in content.items():
            if Path(self.root, path).exists():
                build_data["force_include"][path] = f"sparkrules/_jar/{name}"
