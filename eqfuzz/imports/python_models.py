"""Import of Python classes and functions as seeds: ``package.module:Class`` with its definitions in one file."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.atomic_file import write_atomically
from eqfuzz.errors import UsageError
from eqfuzz.imports.model_uses import FORWARD, USES, ModelUse
from eqfuzz.imports.python.bundle import Bundle, Bundler
from eqfuzz.imports.python.module_file import NotBundled
from eqfuzz.imports.recorded_objects import RecordedObjects
from eqfuzz.imports.recordings import RecordedName, StoredRecording
from eqfuzz.program.formats import recognise
from eqfuzz.program.provenance import Provenance
from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.recorder.recording import MODEL

_REFERENCE = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<name>[A-Za-z_]\w*)")
_IN_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")
_RESERVED = tuple(
    "Program program inputs rng weights self super model mean_of first_call detached recorded RecordedUnpickler"
    " io pickle types".split()
)


class NotGathered(UsageError):
    """A class or function cannot be imported. ``str()`` is one line: what, and why."""


@dataclasses.dataclass(frozen=True)
class PythonReference:
    """A class or function by its ``module`` and ``name``; ``folder`` is where to look for the module first."""

    module: str
    name: str
    folder: str = ""

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    @classmethod
    def of(cls, text: str) -> PythonReference | None:
        """The reference in ``package.module:Name`` or ``FILE.py:Name``; None for any other text."""
        if match := _IN_FILE.fullmatch(text):
            module, folder = _module_of(Path(match["file"]).resolve())
            return cls(module, match["name"], str(folder))
        match = _REFERENCE.fullmatch(text)
        return cls(match["module"], match["name"]) if match else None


@dataclasses.dataclass(frozen=True)
class BundledSeed:
    """A seed that was written: its file, and so many ``definitions`` of ``modules``."""

    path: Path
    definitions: int
    modules: tuple[str, ...]


def import_python(reference: PythonReference, construct: str, inputs: Sequence[str], out: Path) -> BundledSeed:
    """Write a class or function, with all that it needs of its project, as ``out/NAME.py``. Nothing is run.

    ``construct`` is an expression that makes the module, in the names of the class's module; empty: ``NAME()``.
    ``inputs`` are expressions of input sets, which may use ``rng``. Raises NotGathered, and OSError where
    ``out`` cannot be written.
    """
    model = gather(reference, construct, inputs)
    path = model.write(FORWARD, out / f"{reference.name}.py")
    return BundledSeed(path, len(model.bundle.definitions), model.bundle.modules)


@dataclasses.dataclass(frozen=True)
class GatheredModel:
    """A class or function with all that it needs of its project: ``bundle`` has the definitions.

    ``function`` is the definition of a function; None for a class. ``recorded`` is where its parameters and inputs come
    from; None where expressions make them. ``with_values``: reproducers may have them in their text.
    """

    reference: PythonReference
    bundle: Bundle
    function: ast.stmt | None
    recorded: RecordedObjects | None = None
    with_values: bool = False

    @property
    def name(self) -> str:
        """The name of the class or function."""
        return self.reference.name

    @property
    def title(self) -> str:
        """What people call it: ``package.module:Name``."""
        return str(self.reference)

    @property
    def definitions(self) -> int:
        """Number of definitions of the project that it consists of."""
        return len(self.bundle.definitions)

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of their modules."""
        return self.bundle.modules

    @property
    def has_submodules(self) -> bool:
        """Whether parts of it can be called by themselves."""
        return self.function is None

    @property
    def uses(self) -> tuple[ModelUse, ...]:
        """What can be done with it: a function has no parameters and no mode."""
        return USES if self.function is None else tuple(use for use in USES if use.is_of_functions)

    def write(self, use: ModelUse, path: Path) -> Path:
        """Write the seed of one use; its path is returned. Raises InvalidSeed, and OSError if it cannot be written.

        Recorded objects must be in its folder.
        """
        weights = self._weights if self.recorded is not None else ""
        # Programs with other values have other text: findings are named after it.
        recorded = {"recorded": self.recorded.digest} if self.recorded is not None else {}
        provenance = Provenance(
            "python",
            {"model": str(self.reference), **recorded},
            configs=use.configs,
            weights=weights,
            private=self.recorded is not None and not self.with_values,
        )
        text = provenance.header() + _text(self, use)
        recognise(text, path.name, path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        return path

    def write_weights(self, folder: Path) -> None:
        """Write the recorded objects, if there are any, into the folder of the seeds. Raises OSError."""
        if self.recorded is not None:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / self._weights, self.recorded.weights)

    @property
    def _weights(self) -> str:
        return f"{self.reference.name}.safetensors"


def gather(reference: PythonReference, construct: str, inputs: Sequence[str]) -> GatheredModel:
    """A class or function as in ``import_python``. Raises NotGathered."""
    try:
        bundler = Bundler(reference.module, _RESERVED, (reference.folder,) if reference.folder else ())
        definition = _definition(bundler, reference.name)
        is_function = isinstance(definition, ast.FunctionDef) and not construct
        expression = construct or (reference.name if is_function else f"{reference.name}()")
        bundle = bundler.bundle((expression, *inputs))
    except NotBundled as error:
        raise NotGathered(f"{reference}: {error}") from None
    return GatheredModel(reference, bundle, definition if is_function else None)


def gather_recording(recording: StoredRecording, *, with_values: bool = False) -> GatheredModel:
    """A recorded module or function with what the recorded objects need of its project. ``with_values`` as in
    ``GatheredModel``. Raises NotGathered.
    """
    reference = PythonReference(recording.module, recording.name)
    needed = [RecordedName(recording.module, recording.name), *map(recording.importable, recording.names)]
    root = next((name.module for name in needed if not _is_foreign(name.module)), None)
    sets = tuple(f"recorded({name!r})" for name in recording.inputs)
    classes: dict[RecordedName, str] = {}
    function = None
    try:
        if root is None and not recording.is_module:
            raise NotBundled("functions of torch itself are not gathered: use them in a function of your own")
        bundle = Bundle((), (), (), ())
        if root is not None:
            bundler = Bundler(root, _RESERVED, recording.search)
            for name in recording.names:
                importable = recording.importable(name)
                gathered = bundler.gathered(importable.module, importable.name)
                if gathered is not None:
                    classes[name] = gathered
            if not recording.is_module:
                own = bundler.gathered(recording.module, recording.name)
                function = bundler.definition(recording.name) if own is not None else None
            bundle = bundler.bundle(() if recording.is_module else (recording.name,))
    except NotBundled as error:
        raise NotGathered(f"{reference}: {error}") from None
    expression = f"recorded({MODEL!r})" if recording.is_module else bundle.expressions[0]
    bundle = dataclasses.replace(bundle, expressions=(expression, *sets))
    return GatheredModel(reference, bundle, function, RecordedObjects(classes, recording.weights()), with_values)


def _module_of(file: Path) -> tuple[str, Path]:
    """The full name of the module in a file, and the folder that it is imported from."""
    names = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return ".".join(names), folder


def _is_foreign(module: str) -> bool:
    """Whether a module is none of a user's project."""
    top = module.split(".")[0]
    return top in sys.stdlib_module_names or top in ("torch", "numpy", "__builtin__", "copy_reg")


def _definition(bundler: Bundler, name: str) -> ast.stmt | None:
    """The statement that defines the name; None where another project does. Raises NotBundled."""
    module = bundler.module
    definition = bundler.definition(name)
    if definition is not None or name in module.imports or module.stars:
        return definition
    raise NotBundled(f"{module.path} defines no {name!r}{did_you_mean(name, module.names())}")


def _text(model: GatheredModel, use: ModelUse) -> str:
    reference, bundle, function = model.reference, model.bundle, model.function
    expression, *sets = bundle.expressions
    future = [line for line in bundle.imports if line.startswith("from __future__")]
    imports = [line for line in bundle.imports if line not in future]
    wanted = ["from torch import nn"] if function is None else []
    wanted += ["import torch"] if model.recorded or "torch." in use.body + use.setup + use.helper else []
    wanted += ["import io", "import pickle", "import types"] if model.recorded else []
    imports += [line for line in wanted if line not in imports]
    sets = sets[:1] if use.submodule else sets
    hook = "def inputs(rng):\n" + "".join(f"    yield {use.input_set(text)}\n" for text in sets)
    parts = [
        f'"""{reference.name} of {reference.module}."""',
        *(["\n".join(future)] if future else []),
        *(["\n".join(sorted(imports, key=lambda line: (line.startswith("from"), line)))] if imports else []),
    ]
    helpers = model.recorded.definitions() if model.recorded is not None else []
    definitions = [*_grouped(bundle.definitions), *helpers, *_program(expression, function, use), hook.rstrip()]
    return "\n\n".join(parts) + "\n\n\n" + "\n\n\n".join(definitions) + "\n"


def _grouped(definitions: Sequence[str]) -> list[str]:
    """Definitions, with statements that are neither functions nor classes on adjacent lines."""
    groups: list[list[str]] = []
    for text in definitions:
        is_simple = not re.match(r"@|class |def |async ", text)
        if is_simple and groups and not re.match(r"@|class |def |async ", groups[-1][-1]):
            groups[-1].append(text)
        else:
            groups.append([text])
    return ["\n".join(group) for group in groups]


def _program(expression: str, function: ast.stmt | None, use: ModelUse) -> list[str]:
    if not isinstance(function, ast.FunctionDef):
        return use.program(expression)
    parameters, arguments = _parameters(function.args)
    return [f"def program({parameters}):\n    return {expression}({arguments})"]


def _parameters(arguments: ast.arguments) -> tuple[str, str]:
    """The parameters of a function that passes its arguments on, and those arguments."""
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        return "*args, **kwargs", "*args, **kwargs"
    names = ", ".join(one.arg for one in (*arguments.posonlyargs, *arguments.args))
    return names, names
