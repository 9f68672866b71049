"""The rooms of the package are layered, and a lower one never imports a higher one: see `docs/how-it-works.md`.

Every import counts: at the top, inside a function, and for type checkers only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "sparkrules"

# Lowest first: a room, and what it may import besides itself. `sparkrules` is the facade, __init__.py.
ALLOWED = {
    "errors": "",
    "patterns": "errors",
    "sql": "errors",
    "index": "errors sql.tree",  # trees, never their texts
    "logic": "errors sql index",
    "local": "errors patterns sql index logic",
    "store": "errors patterns sql index",
    "lint": "errors patterns sql index logic",
    "rules": "errors patterns sql index logic store lint",
    "sigma": "errors sql rules",
    "catalyst": "errors patterns sql index logic local store rules",
    "report": "errors patterns sql index local store lint catalyst",
    "ruleset": "errors patterns sql index logic local store lint rules catalyst report",
    "sparkrules": "errors patterns sql logic local store lint rules catalyst ruleset",
    "calls": "errors sql local store rules ruleset",
    "demo": "errors catalyst sparkrules",
    "cli": "errors patterns sql index local store lint rules catalyst report ruleset sparkrules demo",
    "__main__": "cli",
}

# Rooms that use others by their fronts only: `from sparkrules.store import Store`, not `sparkrules.store.store`.
BY_FRONTS = ("report", "demo", "cli")


def room_of(module: str) -> str:
    """`sparkrules.sql.tree` lies in `sql`."""
    return module.split(".")[1] if "." in module else module


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """The modules of this package that a file imports, each with the line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}, line {node.lineno}: imports are absolute, so that they say which room"
            names = [node.module or ""]
            if names == ["sparkrules"]:
                # `from sparkrules import cli` imports a room, `from sparkrules import RuleSet` a name of the facade.
                rooms = [alias.name for alias in node.names if alias.name in ALLOWED]
                names = [f"sparkrules.{name}" for name in rooms] + names * (len(rooms) < len(node.names))
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "sparkrules")


def is_allowed(room: str, module: str) -> bool:
    inner = module.removeprefix("sparkrules.")
    return room_of(module) == room or any(f"{inner}.".startswith(f"{own}.") for own in ALLOWED[room].split())


def test_lower_rooms_never_import_higher_ones() -> None:
    broken = []
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT.parent)
        room = "sparkrules" if file == ROOT / "__init__.py" else place.with_suffix("").parts[1]
        assert room in ALLOWED, f"{place}: no rule says what {room!r} may import; add it to ALLOWED, at its height"
        for line, module in imports_of(file):
            if not is_allowed(room, module):
                allowed = ", ".join(ALLOWED[room].split()) or "nothing"
                broken.append(f"{place}, line {line}: {room} imports {module}; allowed: {allowed}")
            elif room in BY_FRONTS and room_of(module) != room and module.count(".") > 1:
                front = f"sparkrules.{room_of(module)}"
                broken.append(f"{place}, line {line}: {room} imports {module}; allowed: its front, {front}")
    assert not broken, "lower rooms never import higher ones:\n" + "\n".join(broken)


def test_the_rules_themselves_are_an_order() -> None:
    rooms = list(ALLOWED)
    for height, room in enumerate(rooms):
        higher = {own.split(".")[0] for own in ALLOWED[room].split()} - set(rooms[:height])
        assert not higher, f"{room} may import {', '.join(higher)}, which lies above it"


def test_importing_the_package_does_not_import_pyspark() -> None:
    for file in sorted(set(ROOT.rglob("*.py")) - set((ROOT / "demo").iterdir())):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            slow = [name for name in names if name.split(".")[0] == "pyspark"]
            assert not slow, f"{file.relative_to(ROOT.parent)}, line {node.lineno}: import {slow[0]} where it is needed"
