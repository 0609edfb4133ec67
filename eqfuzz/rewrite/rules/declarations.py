"""Declarations of rules, read from the text of rule files: listings need no torch, which loading a rule imports."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eqfuzz.program import shipped
from eqfuzz.program.derived import derived
from eqfuzz.program.parsing import parse
from eqfuzz.rewrite.rules.exactness import Exactness


@dataclasses.dataclass(frozen=True)
class RuleDeclaration:
    """What a rule declares, as ``Rule`` has it.

    Attributes:
        name: ``family/function``.
        exact: How equal both sides are.
        gradients: Whether both sides have equal gradients.
        layout: Whether the rewrite changes strides or splits, and so how later kernels round.
        breaks_graph: Whether Dynamo cannot keep one graph.
        is_generator: Whether it is a generator, and no equation.
        source: Where the rule is published; empty for nowhere.
        doc: Its docstring.
        place: ``file:line`` of its declaration.
    """

    name: str
    exact: Exactness
    gradients: bool
    layout: bool
    breaks_graph: bool
    is_generator: bool
    source: str
    doc: str
    place: str

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]


def shipped_declarations() -> tuple[RuleDeclaration, ...]:
    """Those of all shipped rules, by name."""
    folder = shipped.folder("rewrites")
    files = rule_files(folder)

    def derive() -> list[dict[str, Any]]:
        declared = [dataclasses.asdict(rule) for file in files for rule in _declared_in(file, folder)]
        return sorted(declared, key=lambda rule: rule["name"])

    where = shortened(folder)
    return tuple(
        RuleDeclaration(**{**rule, "exact": Exactness(rule["exact"]), "place": f"{where}/{rule['place']}"})
        for rule in derived("rules", [Path(__file__), *files], derive)
    )


def rule_files(path: Path) -> list[Path]:
    """The rule files below a folder, or the file itself; names that begin with ``_`` or ``.`` are skipped."""
    if not path.is_dir():
        return [path]
    return [file for file in sorted(path.rglob("*.py")) if not _is_skipped(file.relative_to(path))]


def family_of(path: Path) -> str:
    """The family of the rules in a file."""
    return path.stem.replace("_", "-")


def shortened(path: Path) -> str:
    """``path`` relative to the working folder where it lies below it."""
    absolute = path.absolute()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(path)


def _is_skipped(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _declared_in(file: Path, folder: Path) -> Iterator[RuleDeclaration]:
    """The rules of a file; their places are relative to ``folder``."""
    body = parse(file.read_text(encoding="utf-8")).body
    constants = {
        node.targets[0].id: node.value.value
        for node in body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    family, where = family_of(file), file.relative_to(folder)
    for function in body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "rule":
                arguments = {word.arg: _value(word.value, constants) for word in decorator.keywords if word.arg}
                declared = RuleDeclaration(
                    name=f"{family}/{function.name}",
                    exact=Exactness(arguments["exact"]),
                    gradients=arguments.get("gradients", True),
                    layout=arguments.get("layout", False),
                    breaks_graph=arguments.get("breaks_graph", False),
                    is_generator="example" in arguments,
                    source=arguments.get("source", ""),
                    doc=ast.get_docstring(function) or "",
                    place=f"{where}:{function.decorator_list[0].lineno}",
                )
                yield declared
                if arguments.get("both_ways", False):
                    yield dataclasses.replace(declared, name=f"{declared.name}_back")


def _value(node: ast.expr, constants: dict[str, Any]) -> Any:
    """The value of a constant or of a name for one; None for any other expression."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    return node.value if isinstance(node, ast.Constant) else None
