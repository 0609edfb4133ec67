"""Import of ``eqfuzz seeds import``: one model after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.errors import UsageError
from eqfuzz.events.event import Handler
from eqfuzz.events.seeds import ModelImported, SeedsStarted, SeedsSummary, SeedTakenUp
from eqfuzz.imports.models import ImportOptions, NotImported, import_model, require_readers
from eqfuzz.imports.python_models import PythonReference, import_python


def model_files(paths: Sequence[Path]) -> list[Path]:
    """Files, and all ONNX files and archives of torch.export below folders, each once. Raises UsageError."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix in (".onnx", ".pt2"))
        if not inside:
            raise UsageError(f"{path}: no .onnx or .pt2 files in this folder")
        files += inside
    return list(dict.fromkeys(files))


def import_models(models: Sequence[Path], out: Path, handler: Handler, options: ImportOptions) -> SeedsSummary:
    """Import ``models`` into the folder ``out`` and hand every event to ``handler``; the last one is returned.

    Ctrl-C ends it early. Raises UsageError where the package onnx is missing or two models have one name, and
    SandboxUnavailable.
    """
    require_readers(models)
    began = time.monotonic()
    _require_names(models)
    failed: list[str] = []
    done, interrupted = 0, False
    handler(SeedsStarted(count=len(models)))
    try:
        for index, path in enumerate(models):
            handler(SeedTakenUp(index=index, path=str(path)))
            event = _imported(index, path, out, options)
            failed += [str(path)] if event.problem else []
            done += 1
            handler(event)
    except KeyboardInterrupt:
        interrupted = True
    seconds = round(time.monotonic() - began, 3)
    summary = SeedsSummary(done=done, failed=failed, interrupted=interrupted, seconds=seconds)
    handler(summary)
    return summary


def import_class(
    reference: PythonReference, construct: str, inputs: Sequence[str], out: Path, handler: Handler
) -> SeedsSummary:
    """Import one Python class or function as ``import_models`` does a model. Raises NotGathered."""
    began = time.monotonic()
    handler(SeedsStarted(count=1))
    handler(SeedTakenUp(index=0, path=str(reference)))
    seed = import_python(reference, construct, inputs, out)
    handler(
        ModelImported(
            index=0, path=str(reference), seed=str(seed.path), definitions=seed.definitions, modules=seed.modules
        )
    )
    summary = SeedsSummary(done=1, failed=[], interrupted=False, seconds=round(time.monotonic() - began, 3))
    handler(summary)
    return summary


def _require_names(models: Sequence[Path]) -> None:
    names: dict[str, Path] = {}
    for path in models:
        if path.stem in names:
            raise UsageError(f"{path} and {names[path.stem]} would be the same seed: import them with two --out")
        names[path.stem] = path


def _imported(index: int, path: Path, out: Path, options: ImportOptions) -> ModelImported:
    try:
        seed = import_model(path, out, options)
    except NotImported as error:
        return ModelImported(index=index, path=str(path), problem=error.reason)
    weights = str(seed.weights or "")
    return ModelImported(
        index=index, path=str(path), seed=str(seed.path), weights=weights, operators=dict(seed.operators)
    )
