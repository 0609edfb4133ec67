"""Import of model files as seeds: a model is read in the sandbox, its answer is checked here."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import importlib.util
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import eqfuzz
from eqfuzz.atomic_file import write_atomically
from eqfuzz.errors import UsageError, one_line
from eqfuzz.imports.messages import TranslationAnswer, TranslationRequest
from eqfuzz.imports.safetensors import StoredTensor, safetensors_file
from eqfuzz.program.formats import recognise
from eqfuzz.program.policy import first_violation
from eqfuzz.program.provenance import Provenance
from eqfuzz.run.limits import GIB
from eqfuzz.run.messages.codec import decoder_of, encode
from eqfuzz.run.protocol import BadMessage
from eqfuzz.run.sandbox.detection import SandboxLevel, sandbox_support
from eqfuzz.run.sandbox.init_process import SAVED, CommandResult
from eqfuzz.run.sandbox.one_shot import run_sandboxed

MOST_BYTES = 2 * GIB
"""Of a model and its external files together; a protocol buffer holds no more."""

MEMORY_BYTES = 12 * GIB
SECONDS = 300.0
READERS = {
    ".onnx": "eqfuzz.imports.onnx.translate",
    ".pt2": "eqfuzz.imports.exported.translate",
    ".pt": "eqfuzz.imports.exported.translate",
    ".pth": "eqfuzz.imports.exported.translate",
}
"""The module that reads a file, by the end of its name; any other file is read as ONNX."""

_MOST_FILES = 1000


class NotImported(UsageError):
    """A model cannot be imported. ``str()`` is one line: the file and the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{path}: {one_line(reason, 1000)}")


@dataclasses.dataclass(frozen=True)
class ImportOptions:
    """How seeds are written. ``drawn``: weights are drawn in the text; ``gradients``: they are parameters.

    ``sizes`` are values of symbolic sizes by name; ``inputs`` are expressions of input sets for modules that are still
    to be exported. ``unsafe``: where there is no sandbox, models are read without. ``private``: no weight is written as
    it is.
    """

    drawn: bool = False
    gradients: bool = False
    sizes: tuple[tuple[str, int], ...] = ()
    inputs: tuple[str, ...] = ()
    unsafe: bool = False
    private: bool = False


@dataclasses.dataclass(frozen=True)
class ImportedSeed:
    """A seed that was written, the file with its weights (None: it has none), and the model's operators."""

    path: Path
    weights: Path | None
    operators: tuple[tuple[str, int], ...]


def require_readers(models: Iterable[Path]) -> None:
    """Raises UsageError where one of the models is ONNX and the package ``onnx`` is missing."""
    of_onnx = any(_reader(model) == READERS[".onnx"] for model in models)
    if of_onnx and importlib.util.find_spec("onnx") is None:
        raise UsageError("reading ONNX models needs the package onnx: pip install 'eqfuzz[onnx]'")


def _reader(model: Path) -> str:
    return READERS.get(model.suffix.lower(), READERS[".onnx"])


def import_model(path: Path, out: Path, options: ImportOptions) -> ImportedSeed:
    """Write the model at ``path`` as ``out/NAME.py``, its weights as ``out/NAME.safetensors``.

    Raises NotImported, SandboxUnavailable where there is no sandbox, and OSError where ``out`` cannot be written.
    """
    _require_size(path, [path])
    answer = _answer(path, (), options)
    if answer.external and not answer.problem:
        files = tuple((name, str(_inside(path, name))) for name in answer.external)
        _require_size(path, [path, *(Path(file) for _, file in files)])
        answer = _answer(path, files, options)
    if answer.problem or not answer.text:
        raise NotImported(path, answer.problem or "the sandbox gave no seed")
    return _write(path, out, answer)


def _require_size(model: Path, files: list[Path]) -> None:
    """Raises NotImported where a file is none, or all together are too large."""
    size = 0
    for file in files:
        try:
            status = file.stat()
        except OSError as error:
            raise NotImported(model, f"{'' if file == model else f'{file}: '}{error.strerror}") from None
        if not stat.S_ISREG(status.st_mode):
            raise NotImported(model, "no file" if file == model else f"{file} is no file")
        size += status.st_size
    if size > MOST_BYTES:
        raise NotImported(model, f"{size / GIB:.1f} GiB, of which {MOST_BYTES // GIB} are read")


def _inside(model: Path, name: str) -> Path:
    """The file with weights that the model calls ``name``. Raises NotImported where it lies outside its folder."""
    folder = Path(os.path.realpath(model.absolute().parent))
    file = Path(os.path.realpath(folder / name))
    if "\0" in name or Path(name).is_absolute() or not file.is_relative_to(folder):
        raise NotImported(model, f"its weights are said to lie in {name!r}, outside of its folder")
    return file


def _answer(path: Path, external: tuple[tuple[str, str], ...], options: ImportOptions) -> TranslationAnswer:
    """The answer of the process that reads the model. Raises NotImported."""
    model = Path(os.path.realpath(path))
    if len(external) > _MOST_FILES:
        raise NotImported(path, f"its weights lie in {len(external)} files, of which {_MOST_FILES} are read")
    request = TranslationRequest(
        model=str(model),
        name=path.name,
        external=external,
        drawn=options.drawn,
        gradients=options.gradients,
        sizes=options.sizes,
        inputs=options.inputs,
        private=options.private,
    )
    command = [sys.executable, "-m", _reader(path), encode(request).decode()]
    variables = {"PYTHONPATH": str(Path(eqfuzz.__file__).parents[1])}
    if options.unsafe and sandbox_support().level is SandboxLevel.NONE:
        ended = _run_unsandboxed(command, variables)
    else:
        visible = [model, *(Path(file) for _, file in external)]
        ended = run_sandboxed(command, SECONDS, visible, variables, memory_bytes=MEMORY_BYTES)
    if ended is None:
        raise NotImported(path, f"reading it takes more than {SECONDS:g} s")
    try:
        return decoder_of(TranslationAnswer).decode(ended.saved.encode())
    except BadMessage:
        raise NotImported(path, f"the process that reads it {_in_words(ended)}") from None


def _run_unsandboxed(command: list[str], variables: dict[str, str]) -> CommandResult | None:
    with tempfile.TemporaryDirectory(prefix="eqfuzz-import-") as folder:
        saved = Path(folder) / "saved"
        try:
            ended = subprocess.run(
                command,
                env={**os.environ, **variables, SAVED: str(saved)},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        text = saved.read_text(encoding="utf-8") if saved.exists() else ""
        return CommandResult(status=ended.returncode, output=ended.stdout + ended.stderr, saved=text)


def _in_words(ended: CommandResult) -> str:
    last = (ended.output.strip().splitlines() or [""])[-1]
    if ended.status is None:
        return f"was ended: {last}"
    how = f"is killed by signal {-ended.status}" if ended.status < 0 else f"ends with exit status {ended.status}"
    return f"{how}: {last}" if last else how


def _write(path: Path, out: Path, answer: TranslationAnswer) -> ImportedSeed:
    """Check the answer as text of unknown origin, and write it. Raises NotImported."""
    name = re.sub(r"[^0-9A-Za-z_.-]+", "_", path.stem).strip("._-") or "model"
    seed, beside = out / f"{name}.py", out / f"{name}.safetensors"
    details: dict[str, str | int | float | bool] = {"model": path.name, "sha256": _digest(path)}
    if answer.opset:
        details["opset"] = answer.opset
    if answer.producer:
        details["producer"] = answer.producer
    provenance = Provenance(
        "onnx" if answer.opset else "exported", details, weights=beside.name if answer.weights else ""
    )
    try:
        violation = first_violation(answer.text)
    except (SyntaxError, ValueError) as error:
        raise NotImported(path, f"its translation is not Python: {error}") from None
    if violation is not None:
        raise NotImported(
            path, f"its translation breaks the policy for seeds in line {violation.line}: {violation.reason}"
        )
    recognise(answer.text, seed.name)
    try:
        content = safetensors_file(
            StoredTensor(w.name, w.dtype, w.shape, base64.b64decode(w.data, validate=True)) for w in answer.weights
        )
    except (ValueError, binascii.Error) as error:
        raise NotImported(path, str(error)) from None
    out.mkdir(parents=True, exist_ok=True)
    if answer.weights:
        write_atomically(beside, content)
    write_atomically(seed, provenance.header() + answer.text)
    return ImportedSeed(seed, beside if answer.weights else None, answer.operators)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
