"""Folders stay small, and a class name stands for one class."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_MODULES = 20
DATA = {ROOT / "tools" / "fault_detection" / name for name in ("faults", "real", "blind")}
"""One file for each entry: they grow."""


def test_no_folder_has_more_than_twenty_modules():
    files = [file for name in ("eqfuzz", "rewrites", "tools") for file in (ROOT / name).rglob("*.py")]
    modules = Counter(file.parent for file in files if file.name != "__init__.py" and file.parent not in DATA)
    assert {str(folder): count for folder, count in modules.items() if count > MOST_MODULES} == {}


def test_no_class_name_is_used_twice():
    modules = defaultdict(list)
    for file in sorted((ROOT / "eqfuzz").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in modules.items() if len(files) > 1} == {}
