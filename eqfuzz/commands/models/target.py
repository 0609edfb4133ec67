"""What a check is about: a class, a function, a recording, a seed, or a model of another tool."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from eqfuzz.atomic_file import write_atomically
from eqfuzz.errors import UsageError
from eqfuzz.imports.model_uses import FORWARD, USES, ModelUse
from eqfuzz.imports.models import READERS, ImportOptions, import_model, require_readers
from eqfuzz.imports.python_models import PythonReference, gather, gather_recording
from eqfuzz.imports.recordings import StoredRecording, is_recording
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.provenance import Provenance, provenance_of, split_provenance
from eqfuzz.triage.reproducer.weights_beside import copy_weights


class CheckedModel(Protocol):
    """A model whose uses are written as programs."""

    @property
    def name(self) -> str:
        """The beginning of the programs' names."""
        ...

    @property
    def title(self) -> str:
        """What people call it."""
        ...

    @property
    def definitions(self) -> int:
        """Number of definitions that it was gathered from; 0 where it was not."""
        ...

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of their modules, or of its file."""
        ...

    @property
    def has_submodules(self) -> bool:
        """Whether parts of it can be called by themselves."""
        ...

    @property
    def uses(self) -> tuple[ModelUse, ...]:
        """What can be done with it."""
        ...

    def write_weights(self, folder: Path) -> None:
        """Write what the programs read, if anything, into their folder. Raises OSError."""
        ...

    def write(self, use: ModelUse, path: Path) -> Path:
        """Write the program of one use; its path is returned. Raises InvalidSeed and OSError."""
        ...


@dataclasses.dataclass(frozen=True)
class CheckedSeed:
    """The seed in ``path`` as a model: its program is used as it is, and with dynamic sizes."""

    path: Path
    title: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def definitions(self) -> int:
        return 0

    @property
    def modules(self) -> tuple[str, ...]:
        return (str(self.path),)

    @property
    def has_submodules(self) -> bool:
        return False

    @property
    def uses(self) -> tuple[ModelUse, ...]:
        return tuple(use for use in USES if use.is_of_functions)

    def write_weights(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        copy_weights(read_program(self.path), folder)

    def write(self, use: ModelUse, path: Path) -> Path:
        text = self.path.read_text(encoding="utf-8")
        if use != FORWARD:
            provenance = provenance_of(text) or Provenance("person")
            text = dataclasses.replace(provenance, configs=use.configs).header() + split_provenance(text)[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        return path


def model_of(
    target: str,
    construct: str,
    inputs: Sequence[str],
    folder: Path,
    *,
    unsafe: bool = False,
    with_values: bool = False,
) -> CheckedModel:
    """The model that ``target`` names: ``package.module:Name``, ``FILE.py:Name``, or a file.

    ``construct`` and ``inputs`` are expressions as in ``import_python``. Models of other tools become seeds in
    ``folder``; where there is no sandbox to read them in, they are read only if ``unsafe``. ``with_values``: recorded
    values may be in the text of reproducers. Raises UsageError, SandboxUnavailable.
    """
    reference = PythonReference.of(target)
    if reference is not None:
        if not inputs:
            raise UsageError(f"--inputs: {target} needs inputs: write --inputs 'rng.normal(2, 3, 32, 32)'")
        return gather(reference, construct, inputs)
    path = Path(target)
    is_model = path.suffix.lower() in READERS
    if not (is_recording(target) or is_model or path.suffix == ".py"):
        raise UsageError(f"TARGET: {target!r} is no model: write package.module:Name, FILE.py:Name or a model's file")
    needs_inputs = path.suffix.lower() in (".pt", ".pth")
    if construct or (inputs and not needs_inputs):
        option = "--construct" if construct else "--inputs"
        raise UsageError(f"{option}: {target} has its own: leave out {option}")
    if is_recording(target):
        return gather_recording(StoredRecording.read(path), with_values=with_values)
    if is_model:
        require_readers([path])
        path = import_model(path, folder, ImportOptions(gradients=True, inputs=tuple(inputs), unsafe=unsafe)).path
    try:
        read_program(path)
    except InvalidSeed as error:
        hint = f" (for a class in it write {target}:Name)" if path.suffix == ".py" and path.exists() else ""
        raise UsageError(f"{error}{hint}") from None
    return CheckedSeed(path, target)
