"""Seed formats: recognises seed files by their content, without running them."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

from eqfuzz.program import script
from eqfuzz.program.parsing import parse
from eqfuzz.program.policy import require_allowed
from eqfuzz.program.program import InvalidSeed, Program, SeedFormat
from eqfuzz.program.provenance import InvalidProvenance, provenance_of

INPUT_HINT = (
    "define `inputs(rng)` (or `input_tensors`, `args` beside `fuzzed_program`, `get_inputs()`, "
    "or tensors named like forward's parameters)"
)
ENTRY_HINT = "define a function `program(...)` or one class that derives from torch.nn.Module"


def read_program(path: Path, name: str | None = None) -> Program:
    """The program in the file at ``path``.

    Raises InvalidSeed when the file cannot be read, is not Python, or is none of the known formats.
    """
    name = name or str(path)
    try:
        source = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSeed(name, f"not UTF-8 text: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise InvalidSeed(name, f"cannot be read: {error.strerror}") from None
    return recognise(source, name, path.parent)


def recognise(source: str, name: str, folder: Path | None = None) -> Program:
    """The program in ``source``; ``name`` is how messages and reports call it.

    Weights lie in ``folder``; None: in that of ``name``. Raises InvalidSeed, also where it is untrusted and its text
    breaks the policy.
    """
    try:
        provenance = provenance_of(source)
    except InvalidProvenance as error:
        raise InvalidSeed(name, str(error), 1) from None
    program = _recognise(source, name)
    if provenance is not None:
        weights = _weights_file(provenance.weights, name, folder or Path(name).parent)
        program = dataclasses.replace(
            program,
            untrusted=provenance.untrusted,
            configs=provenance.configs,
            weights=weights,
            private=provenance.private,
        )
    require_allowed(program)
    return program


def _weights_file(file: str, name: str, folder: Path) -> str:
    """The absolute path of the file with a seed's weights; empty where it has none. Raises InvalidSeed."""
    if not file:
        return ""
    path = folder.absolute() / file
    if not path.is_file():
        raise InvalidSeed(name, f"its weights are missing: put {file} beside it, or import the model again")
    return str(path)


def _recognise(source: str, name: str) -> Program:
    try:
        tree = parse(source)
    except SyntaxError as error:
        raise InvalidSeed(name, f"not valid Python: {error.msg}", error.lineno) from None
    except ValueError as error:
        raise InvalidSeed(name, f"not valid Python: {error}") from None
    file = _ParsedFile(name, source, tree)
    for attempt in (_torchfuzz, _kernelbench, _eqfuzz, _ptmodule, _whitefox):
        program = attempt(file)
        if program is not None:
            return program
    if not file.module_classes and not file.functions:
        raise InvalidSeed(name, f"no program: {ENTRY_HINT}")
    raise InvalidSeed(name, f"no inputs: {INPUT_HINT}")


class _ParsedFile:
    """A parsed file and what its top level defines."""

    def __init__(self, name: str, source: str, tree: ast.Module) -> None:
        self.name = name
        self.source = source
        self.tree = tree
        self.functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
        self.module_classes = _module_classes(tree)
        self.assigned = script.assigned_names(tree.body)

    def only_module_class(self, preferred: str) -> ast.ClassDef | None:
        """The class named ``preferred``, else the only class that no other class of the file uses."""
        if preferred in self.module_classes:
            return self.module_classes[preferred]
        used_inside = {
            node.id
            for cls in self.module_classes.values()
            for node in ast.walk(cls)
            if isinstance(node, ast.Name) and node.id != cls.name
        }
        outer = [cls for name, cls in self.module_classes.items() if name not in used_inside]
        return outer[-1] if outer else None

    def program(self, format: SeedFormat, entry: str, construct: str, inputs: str) -> Program:
        definitions = script.keep_definitions(self.source, self.tree, entry, f"({construct}, {inputs})")
        return Program(self.name, script.with_usual_imports(definitions), format, entry, construct, inputs)


def _eqfuzz(file: _ParsedFile) -> Program | None:
    if "inputs" not in file.functions:
        return None
    parameters = file.functions["inputs"].args
    count = len(parameters.posonlyargs) + len(parameters.args) - len(parameters.defaults)
    if count > 1:
        raise InvalidSeed(file.name, "`inputs` takes one argument, the rng", file.functions["inputs"].lineno)
    call = "inputs(rng)" if parameters.args or parameters.posonlyargs else "inputs()"
    if "program" in file.functions:
        return Program(file.name, file.source, SeedFormat.EQFUZZ, "program", "program", call)
    cls = file.only_module_class("Program")
    if cls is not None:
        return Program(file.name, file.source, SeedFormat.EQFUZZ, cls.name, f"{cls.name}()", call)
    others = [name for name in file.functions if name != "inputs" and not name.startswith("_")]
    if len(others) == 1:
        return Program(file.name, file.source, SeedFormat.EQFUZZ, others[0], others[0], call)
    raise InvalidSeed(file.name, f"no entry beside `inputs`: {ENTRY_HINT}")


def _torchfuzz(file: _ParsedFile) -> Program | None:
    entry = file.functions.get("fuzzed_program")
    if entry is None or "inputs" in file.functions:
        return None
    if "args" not in file.assigned:
        raise InvalidSeed(file.name, "`fuzzed_program` is there but the tuple `args` is missing", entry.lineno)
    names = [a.arg for a in entry.args.posonlyargs + entry.args.args]
    takes_sentinel = bool(names) and names[-1] == "sentinel" and "sentinel" in file.assigned
    inputs = "(*args, sentinel)" if takes_sentinel else "(*args,)"
    return file.program(SeedFormat.TORCHFUZZ, "fuzzed_program", "fuzzed_program", inputs)


def _kernelbench(file: _ParsedFile) -> Program | None:
    cls = file.only_module_class("Model")
    if cls is None or "get_inputs" not in file.functions:
        return None
    construct = "Model(*get_init_inputs())" if cls.name == "Model" else f"{cls.name}(*get_init_inputs())"
    return file.program(SeedFormat.KERNELBENCH, cls.name, construct, "get_inputs()")


def _ptmodule(file: _ParsedFile) -> Program | None:
    cls = file.only_module_class("PtModule")
    if cls is None or "input_tensors" not in file.assigned:
        return None
    return file.program(SeedFormat.PTMODULE, cls.name, script.construction(file.tree, cls.name), "input_tensors")


def _whitefox(file: _ParsedFile) -> Program | None:
    cls = file.only_module_class("Model")
    if cls is None:
        return None
    construct = script.construction(file.tree, cls.name)
    arguments = script.last_call_arguments(file.tree, cls.name)
    if arguments is None:
        parameters = _forward_parameters(cls)
        if not parameters or not set(parameters) <= file.assigned:
            return None
        arguments = "(" + "".join(f"{p}, " for p in parameters) + ")"
    return file.program(SeedFormat.WHITEFOX, cls.name, construct, arguments)


def _forward_parameters(cls: ast.ClassDef) -> list[str]:
    """Names of forward's required positional parameters, without self."""
    for statement in cls.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "forward":
            names = [a.arg for a in statement.args.posonlyargs + statement.args.args][1:]
            return names[: len(names) - len(statement.args.defaults)]
    return []


def _module_classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Top-level classes that derive from ``nn.Module``, directly or through another class of the file."""
    classes: dict[str, ast.ClassDef] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            bases = {ast.unparse(base) for base in statement.bases}
            if any(base.split(".")[-1] == "Module" or base in classes for base in bases):
                classes[statement.name] = statement
    return classes
