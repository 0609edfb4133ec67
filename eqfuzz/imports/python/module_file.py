"""Modules of a package as text: found on the search path and parsed, never run."""

from __future__ import annotations

import ast
import dataclasses
import importlib.machinery
import importlib.util
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.imports.python.references import bound_names, changed_names
from eqfuzz.program.parsing import parse

Node = ast.stmt | ast.expr
"""A part of a module's text with a place."""


class NotBundled(ValueError):
    """Definitions cannot be gathered in one file; ``str()`` is one line: where, and why."""


@dataclasses.dataclass(frozen=True)
class ImportedName:
    """What an import binds: a top-level ``module``, or an ``attribute`` or submodule of a module."""

    module: str
    attribute: str | None = None

    @classmethod
    def of_module(cls, name: str) -> ImportedName:
        """A module by its full name."""
        package, _, last = name.rpartition(".")
        return cls(package, last) if package else cls(name)

    @property
    def full_name(self) -> str:
        """The name with the module's."""
        return self.module if self.attribute is None else f"{self.module}.{self.attribute}"


class ModuleFile:
    """What the top level of a module binds.

    Attributes:
        name: Its full name.
        path: Its file.
        statements: Top-level statements in their order, without imports and docstring.
        imports: What imports bind, by name.
        submodules: Modules that ``import a.b.c`` loads beside what it binds, by the name that it binds.
        stars: Modules of which all names are imported.
        has_future_annotations: Whether annotations are not evaluated.

    Raises NotBundled where it cannot be read.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        try:
            self._lines = path.read_bytes().splitlines(keepends=True)
            tree = parse(b"".join(self._lines).decode("utf-8"))
        except SyntaxError as error:
            raise NotBundled(f"{path}:{error.lineno}: not valid Python: {error.msg}") from None
        except (OSError, ValueError) as error:
            raise NotBundled(f"{path}: cannot be read: {error}") from None
        self._package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.statements: list[ast.stmt] = []
        self.imports: dict[str, ImportedName] = {}
        self.submodules: dict[str, list[str]] = {}
        self.stars: list[str] = []
        self.has_future_annotations = False
        for statement in tree.body:
            self._read(statement)
        self._binding: dict[str, list[int]] = {}
        for index, statement in enumerate(self.statements):
            for bound in bound_names(statement):
                self._binding.setdefault(bound, []).append(index)
        for index, statement in enumerate(self.statements):
            for changed in set(changed_names(statement)) & self._binding.keys():
                self._binding[changed].append(index)

    def statements_of(self, name: str) -> list[int]:
        """Indexes of the statements that bind or change a name, in order; empty where it is none of the module's."""
        return sorted(set(self._binding.get(name, ())))

    def names(self) -> list[str]:
        """The names of definitions, in order."""
        return list(self._binding)

    def text(self, node: ast.stmt, edits: dict[Node, str]) -> str:
        """The text of a statement with its decorators, and nodes in it replaced."""
        return text_of(self._lines, node, edits)

    def place(self, node: Node) -> str:
        """Where a node is, for messages."""
        return f"{self.path}:{node.lineno}"

    def _read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    top = alias.name.split(".")[0]
                    self.imports[alias.asname or top] = ImportedName.of_module(alias.name if alias.asname else top)
                    if not alias.asname and top != alias.name:
                        self.submodules.setdefault(top, []).append(alias.name)
            case ast.ImportFrom(module="__future__", names=names):
                self.has_future_annotations |= any(alias.name == "annotations" for alias in names)
            case ast.ImportFrom(names=names):
                module = self.absolute(statement)
                for alias in names:
                    if alias.name == "*":
                        self.stars.append(module)
                    else:
                        self.imports[alias.asname or alias.name] = ImportedName(module, alias.name)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                pass
            case _:
                self.statements.append(statement)

    def absolute(self, statement: ast.ImportFrom) -> str:
        """The full name of the module that an import reads from."""
        if not statement.level:
            return statement.module or ""
        parts = self._package.split(".")
        package = parts[: len(parts) - statement.level + 1]
        return ".".join([*package, *([statement.module] if statement.module else [])])


def text_of(lines: Sequence[bytes], node: ast.stmt, edits: Mapping[Node, str]) -> str:
    """The text of a statement with its decorators, and nodes in it replaced; ``lines`` are those of the file."""
    decorators = getattr(node, "decorator_list", [])
    at = (decorators[0].lineno, decorators[0].col_offset - 1) if decorators else _begin(node)
    result = b""
    for first, last, text in sorted((_begin(one), _end(one), text) for one, text in edits.items()):
        result += _between(lines, at, first) + text.encode()
        at = last
    return (result + _between(lines, at, _end(node))).decode()


def _between(lines: Sequence[bytes], first: tuple[int, int], last: tuple[int, int]) -> bytes:
    if first[0] == last[0]:
        return lines[first[0] - 1][first[1] : last[1]]
    return b"".join([lines[first[0] - 1][first[1] :], *lines[first[0] : last[0] - 1], lines[last[0] - 1][: last[1]]])


def _begin(node: Node) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Node) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


class ModuleFinder:
    """Finds modules that belong to the same project as ``module``; others stay imports.

    They are those of its top-level package, and, unless that is installed, those that lie beside it. ``search`` are
    folders to look in before the search path. Raises NotBundled for torch.
    """

    def __init__(self, module: str, search: Sequence[str] = ()) -> None:
        self._top = module.split(".")[0]
        if self._top == "torch":
            raise NotBundled("classes of torch itself are not gathered: use them in a class of your own")
        self._path = [*search, str(Path.cwd()), *(entry for entry in sys.path if entry)]
        self._files: dict[str, ModuleFile | None] = {}
        spec = self._spec(self._top)
        root = Path(spec.origin).parent if spec is not None and spec.origin else None
        if root is not None and spec is not None and spec.submodule_search_locations:
            root = root.parent
        installed = [Path(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
        self._beside = root if root is not None and root not in installed else None

    def find(self, name: str) -> ModuleFile | None:
        """The module, or None where it belongs to another project or has no text. Raises NotBundled."""
        if name not in self._files:
            path = self._file(name)
            self._files[name] = ModuleFile(name, path) if path is not None else None
        return self._files[name]

    def _file(self, name: str) -> Path | None:
        top, *rest = name.split(".")
        if top != self._top and not (self._beside and self._exists(self._beside, top)):
            return None
        spec = self._spec(top)
        if spec is None:
            return None
        if not rest:
            path = Path(spec.origin) if spec.origin else None
            return path if path is not None and path.suffix == ".py" else None
        for location in spec.submodule_search_locations or ():
            base = Path(location, *rest)
            for path in (base.with_name(base.name + ".py"), base / "__init__.py"):
                if path.is_file():
                    return path
        return None

    @staticmethod
    def _exists(folder: Path, top: str) -> bool:
        return (folder / f"{top}.py").is_file() or (folder / top / "__init__.py").is_file()

    def _spec(self, top: str) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(top, self._path)
        if spec is not None:
            return spec
        try:
            return importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
