"""Folders stay small, a class name stands for one class, and large records explain their fields."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_MODULES = 20
MOST_SELF_EVIDENT = 6
"""Fields of a record that may go without an explanation."""
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


def test_every_field_of_a_large_public_record_is_explained():
    """By a string below it, by the docstring of its class, or in the call that declares it."""
    unexplained = {}
    for file in sorted(file for name in ("eqfuzz", "tools") for file in (ROOT / name).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and _is_record(node):
                fields = _fields(node)
                names = [name for name, is_explained in fields.items() if not is_explained]
                if len(fields) > MOST_SELF_EVIDENT and names:
                    unexplained[f"{file.relative_to(ROOT)}: {node.name}"] = names
    assert unexplained == {}


def _is_record(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list) or any(
        ast.unparse(base).endswith(("BaseModel", "NamedTuple")) for base in node.bases
    )


def _fields(node: ast.ClassDef) -> dict[str, bool]:
    """The fields of a record, but for tags of a single value, and whether each is explained."""
    explained = {}
    documentation = ast.get_docstring(node) or ""
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        annotation = ast.unparse(statement.annotation)
        if annotation.startswith("ClassVar") or re.fullmatch(r"Literal\['[\w-]+'\]", annotation):
            continue
        name = statement.target.id
        declaration = ast.unparse(statement.value) if statement.value is not None else ""
        explained[name] = (
            f"``{name}``" in documentation
            or re.search(rf"^ *{name}: ", documentation, re.MULTILINE) is not None
            or "description=" in declaration
            or declaration.startswith("_threshold(")
            or (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant))
        )
    return explained
