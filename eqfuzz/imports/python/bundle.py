"""Gathers a definition, and all that it needs of its project, into the text of one file."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import re
from collections.abc import Sequence

from eqfuzz.imports.python.module_file import ImportedName, ModuleFile, ModuleFinder, Node, NotBundled, text_of
from eqfuzz.imports.python.references import GlobalReference, bound_names, references
from eqfuzz.program.parsing import parse
from eqfuzz.program.suggestions import did_you_mean

_USUAL = {
    "torch": ImportedName("torch"),
    "nn": ImportedName("torch", "nn"),
    "F": ImportedName("torch.nn", "functional"),
    "np": ImportedName("numpy"),
    "math": ImportedName("math"),
}
"""What expressions of the user may use although the module does not import it."""


_CALLED = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<name>[A-Za-z_]\w*)")


@dataclasses.dataclass(frozen=True)
class _Global:
    """A definition of the project's: a name of a module."""

    module: str
    name: str


@dataclasses.dataclass(frozen=True)
class Bundle:
    """The parts of a file: ``imports`` and ``definitions``, and ``expressions`` in the names of the file.

    ``modules`` are those that definitions come from.
    """

    imports: tuple[str, ...]
    definitions: tuple[str, ...]
    expressions: tuple[str, ...]
    modules: tuple[str, ...]


class Bundler:
    """Gathers what expressions in the names of a module need; ``other.module:function`` is a call of that function.

    Names of different modules that are the same get a number. ``reserved`` names are never used; in expressions they
    stay what they are. ``search`` are folders to look for modules in before the search path. Raises NotBundled.
    """

    def __init__(self, module: str, reserved: tuple[str, ...] = (), search: Sequence[str] = ()) -> None:
        self._finder = ModuleFinder(module, search)
        self._module = self._require(module)
        self._names: dict[_Global | ImportedName, str] = {}
        self._reserved = frozenset(reserved)
        self._taken: set[str] = set(reserved)
        self._submodules: dict[str, None] = {}
        self._statements: dict[str, dict[int, str]] = {}
        self._has_future_annotations = False

    @property
    def module(self) -> ModuleFile:
        """The module that expressions are read in."""
        return self._module

    def definition(self, name: str) -> ast.stmt | None:
        """The statement of the project that defines a name of the module, wherever it was imported from; None for names
        that have none. Raises NotBundled.
        """
        key = self._lookup(self._module, name)
        inside = self._inside(key) if isinstance(key, ImportedName) else key
        if not isinstance(inside, _Global):
            return None
        module = self._require(inside.module)
        return module.statements[module.statements_of(inside.name)[0]]

    def gathered(self, module: str, name: str) -> str | None:
        """The name in the file of a definition, after it has been gathered; None where it is another project's.

        Raises NotBundled.
        """
        file = self._finder.find(module)
        if file is None:
            return None
        key = self._lookup(file, name)
        if not isinstance(key, _Global):
            raise NotBundled(f"{file.path} defines no {name!r} at its top level")
        self._gather(key)
        return self._name(key, name)

    def bundle(self, expressions: tuple[str, ...]) -> Bundle:
        """The file's parts for the expressions. Raises NotBundled."""
        texts = [self._edited(text.strip()) for text in expressions]
        definitions = [
            self._statements[name][index]
            for name in self._in_order_of_import()
            for index in sorted(self._statements.get(name, {}))
        ]
        future = ["from __future__ import annotations"] if self._has_future_annotations else []
        imports = {_import(key, name) for key, name in self._names.items() if isinstance(key, ImportedName)}
        imports |= {f"import {name}" for name in self._submodules}
        return Bundle((*future, *sorted(imports)), tuple(definitions), tuple(texts), tuple(self._statements))

    def _edited(self, text: str) -> str:
        """An expression in the names of the file, after all that it needs has been gathered."""
        called = _CALLED.fullmatch(text)
        module = self._require(called["module"]) if called else self._module
        text = f"{called['name']}()" if called else text
        try:
            statements = parse(text).body
        except (SyntaxError, ValueError) as error:
            raise NotBundled(f"{text!r} is not valid Python: {getattr(error, 'msg', error)}") from None
        if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
            raise NotBundled(f"{text!r} is no expression")
        edits: dict[Node, str] = {}
        for reference in references(statements[0].value):
            if reference.name not in self._reserved:
                edits.update(self._edit(module, reference, usual=True))
        return text_of(text.encode().splitlines(keepends=True), statements[0], edits)

    def _require(self, name: str) -> ModuleFile:
        module = self._finder.find(name)
        if module is None:
            raise NotBundled(f"there is no module {name!r} with Python text on the search path")
        return module

    def _edit(self, module: ModuleFile, reference: GlobalReference, *, usual: bool = False) -> dict[Node, str]:
        """The new text of the nodes of a reference, after all that it needs has been gathered."""
        resolved = self._resolve(module, reference)
        if resolved is None:
            if not usual or hasattr(builtins, reference.name):
                return {}
            if reference.name not in _USUAL:
                hint = did_you_mean(reference.name, [*module.names(), *module.imports])
                raise NotBundled(f"{module.path}: it has no {reference.name!r}{hint}")
            resolved = _USUAL[reference.name], 1
        key, length = resolved
        name = self._name(key, reference.name)
        if isinstance(key, _Global):
            self._gather(key)
        elif name == key.module:
            self._submodules.update(dict.fromkeys(module.submodules.get(reference.name, ())))
        node = (reference.root, *reference.chain)[length - 1]
        return {} if length == 1 and name == reference.name else {node: name}

    def _resolve(self, module: ModuleFile, reference: GlobalReference) -> tuple[_Global | ImportedName, int] | None:
        """What a reference is, and how many of its nodes say so; None for builtins and unknown names."""
        key = self._lookup(module, reference.name)
        length = 1
        while isinstance(key, ImportedName):
            inside = self._inside(key)
            if inside is None:
                return key, length
            if isinstance(inside, _Global):
                return inside, length
            if length > len(reference.attributes):
                raise NotBundled(
                    f"{module.place(reference.root)}: the module {inside.name} is used as a value,"
                    " which cannot be gathered in one file"
                )
            attribute = reference.attributes[length - 1]
            length += 1
            key = self._lookup(inside, attribute) or self._submodule(inside.name, attribute)
            if key is None:
                raise NotBundled(f"{module.place(reference.root)}: {inside.name} has no {attribute!r}")
        return (key, length) if key is not None else None

    def _inside(self, imported: ImportedName) -> _Global | ModuleFile | None:
        """The definition or module of the project that an import means; None: another project's."""
        seen: set[ImportedName] = set()
        while imported not in seen:
            seen.add(imported)
            module = self._finder.find(imported.module)
            if imported.attribute is None:
                return module
            bound = self._lookup(module, imported.attribute) if module is not None else None
            if isinstance(bound, _Global):
                return bound
            if bound is None or bound == imported:
                return self._finder.find(imported.full_name)
            imported = bound
        raise NotBundled(f"imports of {imported.attribute!r} go in a circle")

    def _lookup(self, module: ModuleFile, name: str) -> _Global | ImportedName | None:
        if module.statements_of(name):
            return _Global(module.name, name)
        if name in module.imports:
            return module.imports[name]
        for star in module.stars:
            inside = self._finder.find(star)
            definition = self._lookup(inside, name) if inside is not None and inside is not module else None
            if definition is not None:
                return definition
        return None

    def _submodule(self, module: str, name: str) -> ImportedName | None:
        full = f"{module}.{name}"
        return ImportedName(module, name) if self._finder.find(full) is not None else None

    def _name(self, key: _Global | ImportedName, wanted: str) -> str:
        """The name in the file: the one of the module, with a number where it is taken."""
        if key not in self._names:
            base = key.name if isinstance(key, _Global) else wanted
            number, name = 1, base
            while name in self._taken:
                number += 1
                name = f"{base}_{number}"
            self._taken.add(name)
            self._names[key] = name
        return self._names[key]

    def _gather(self, key: _Global) -> None:
        module = self._require(key.module)
        for index in module.statements_of(key.name):
            texts = self._statements.setdefault(module.name, {})
            if index in texts:
                continue
            statement = module.statements[index]
            texts[index] = ""
            self._has_future_annotations |= module.has_future_annotations
            for name in bound_names(statement):
                self._name(_Global(module.name, name), name)
            edits = self._edits_of_inner_imports(module, statement)
            for reference in references(statement):
                edits.update(self._edit(module, reference))
            texts[index] = self._renamed(module, statement, module.text(statement, edits))

    def _renamed(self, module: ModuleFile, statement: ast.stmt, text: str) -> str:
        """The text of a function or class with its new name. Raises NotBundled for names that cannot be replaced."""
        for old in bound_names(statement):
            new = self._names[_Global(module.name, old)]
            if new == old or isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
                continue
            text, count = re.subn(
                rf"^((?:async\s+)?(?:def|class)\s+){old}\b", rf"\g<1>{new}", text, count=1, flags=re.M
            )
            if not count:
                raise NotBundled(
                    f"{module.place(statement)}: {old!r} is also the name of something else that is needed"
                )
        return text

    def _edits_of_inner_imports(self, module: ModuleFile, statement: ast.stmt) -> dict[Node, str]:
        """The imports of the project inside a statement, which are not needed where the names are the file's own."""
        edits: dict[Node, str] = {}
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                inside = [alias.name for alias in node.names if self._finder.find(alias.name) is not None]
            elif isinstance(node, ast.ImportFrom):
                names = [ImportedName(module.absolute(node), alias.name) for alias in node.names]
                keys = [self._inside(name) for name in names]
                gathered = [key for key in keys if isinstance(key, _Global)]
                bound = [alias.asname or alias.name for alias in node.names]
                if len(gathered) == len(keys) and [self._name(key, key.name) for key in gathered] == bound:
                    edits[node] = "pass"
                    for key in gathered:
                        self._gather(key)
                    continue
                inside = [name.full_name for name, key in zip(names, keys, strict=True) if key is not None]
            else:
                continue
            if inside:
                raise NotBundled(
                    f"{module.place(node)}: the import of {inside[0]} inside another statement cannot be gathered"
                    " in one file: move it to the top level"
                )
        return edits

    def _in_order_of_import(self) -> list[str]:
        """Modules, each after those that it imports."""
        order: dict[str, None] = {}
        seen: set[str] = set()

        def visit(module: ModuleFile) -> None:
            if module.name in seen:
                return
            seen.add(module.name)
            names = [name for one in module.imports.values() for name in (one.module, one.full_name)]
            for name in [*names, *module.stars, *(n for names in module.submodules.values() for n in names)]:
                inside = self._finder.find(name)
                if inside is not None:
                    visit(inside)
            order.setdefault(module.name)

        visit(self._module)
        for name in list(self._statements):
            visit(self._require(name))
        return list(order)


def _import(imported: ImportedName, name: str) -> str:
    last = imported.attribute or imported.module
    alias = "" if last == name else f" as {name}"
    return f"from {imported.module} import {last}{alias}" if imported.attribute else f"import {last}{alias}"
