"""``eqfuzz.check`` and ``eqfuzz.assert_equivalent``: a model or function of this process, compiled and in eager."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from eqfuzz.api.defaults import current_defaults
from eqfuzz.api.notebook import is_notebook, session_text
from eqfuzz.api.report import NotEquivalent, Report, report_of
from eqfuzz.campaign.durations import seconds
from eqfuzz.commands.models.check_log import AGREES, unusable
from eqfuzz.commands.models.check_model import check_model, check_settings
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Handler
from eqfuzz.imports.python_models import GatheredModel, gather_recording
from eqfuzz.imports.recordings import StoredRecording
from eqfuzz.mutate.settings import CompileSettings, DeviceName, Settings
from eqfuzz.program.program import InvalidSeed
from eqfuzz.recorder.recording import SUFFIX, NotRecorded, Recording
from eqfuzz.report.terminal import make_console
from eqfuzz.report.verbs.model_check import ModelCheckReport
from eqfuzz.run.configs.named import Config, choose, known_configs
from eqfuzz.run.limits import GIB
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.torch_internals.dynamo import uncompiled
from eqfuzz.torch_internals.trees import tree_leaves

_MOST_BYTES = 4 * GIB
_CELL_SECONDS = 180.0
_NOTEBOOK = "notebook_cells.py"

Model = torch.nn.Module | Callable[..., Any]


def check(
    model: Model,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    variants: int | None = None,
    time: float | str | None = None,
    config: str | None = None,
    backend: str | None = None,
    preload: Path | str | None = None,
    seed: int = 0,
    jobs: int | None = None,
    out: Path | str | None = None,
    progress: bool | None = None,
    with_values: bool = False,
) -> Report:
    """Check that a model computes the same compiled, and so do equal rewrites of its source.

    The definition of ``model`` is gathered from its module, with all that it needs of the same project; parameters and
    inputs are those of this process. Everything runs in child processes: the model and the inputs stay as they are.

    Args:
        model: A module of torch.nn or a function, also one that ``torch.compile`` returned. Its class or itself is
            defined at the top level of a module, script or notebook. It is checked on the device of its parameters and
            inputs, CPU or CUDA.
        inputs: The arguments of a call.
        kwargs: Keyword arguments of the call.
        variants: Number of rewritten variants of the source (default: 3).
        time: When to stop: wall seconds, or a text like ``"10m"`` (default: 5 minutes).
        config: Name of a compile configuration, as ``--config`` of ``eqfuzz mutate`` has it (default: inductor).
        backend: In its place, the name of a backend that is registered with ``torch.compile``.
        preload: Python file that is run in every child process, such as one that registers the backend.
        seed: Decides every random choice.
        jobs: Number of programs run at once (default: one for each core).
        out: Folder for programs and findings (default: eqfuzz-out).
        with_values: Whether inputs may be in the scripts of findings, not only in files beside them.
        progress: Whether progress is shown on standard error (default: in terminals and notebooks).

    Raises:
        UsageError: The model cannot be saved, gathered or called; ``str()`` is one line.
        RuntimeError: A defect of eqfuzz.
    """
    if variants is not None and variants < 0:
        raise UsageError(f"variants: {variants} is less than 0")
    if config is not None and backend is not None:
        raise UsageError("give a config or a backend, not both")
    named: dict[str, Any] = {"variants": variants, "time": time, "config": config, "backend": backend, "jobs": jobs}
    defaults = current_defaults().with_({**named, "preload": preload, "out": out})
    settings = Settings(
        out=Path(defaults.out),
        seed=seed,
        jobs=defaults.jobs or len(os.sched_getaffinity(0)),
        time=_seconds(defaults.time),
        compiling=CompileSettings(
            timeout=_CELL_SECONDS,
            preload=defaults.preload and Path(defaults.preload),
            devices=(_device(model, inputs, kwargs),),
        ),
        configs=(_config(defaults.config, None if config is not None else defaults.backend),),
    )
    gathered = _gathered(uncompiled(model), inputs, dict(kwargs or {}), with_values=with_values)
    with _handler(progress) as handler:
        try:
            summary = check_model(gathered, check_settings(settings, defaults.variants), handler)
        except (RunnerFailed, InvalidSeed) as error:
            raise UsageError(str(error)) from None
    if summary.interrupted:
        raise KeyboardInterrupt
    report = report_of(summary)
    if summary.errors and not report.differs:
        raise RuntimeError(f"internal error of eqfuzz: {summary.errors[0]}")
    if reason := unusable(report.uses):
        raise UsageError(f"{report.model} cannot be used: {reason}")
    return report


def assert_equivalent(model: Model, *inputs: Any, allow_known_issues: bool = False, **options: Any) -> None:
    """Check a model as ``check`` does, and require that compiled code does not differ from eager.

    What cannot be decided is a warning.

    Args:
        model: As in ``check``.
        inputs: As in ``check``.
        allow_known_issues: Whether known issues of PyTorch are no failure.
        options: The keyword arguments of ``check``.

    Raises:
        NotEquivalent: Some use of the model, or some variant, differs. An AssertionError.
        UsageError: The model cannot be used, or nothing agrees, say for want of time.
    """
    __tracebackhide__ = True  # pytest shows the caller
    report = check(model, *inputs, **options)
    if any(not (use.issue and allow_known_issues) for use in report.differences):
        raise NotEquivalent(report)
    if not report.differs and not any(use.outcome == AGREES for use in report.uses):
        raise UsageError(f"nothing of {report.model} was compared: {_reason(report)}")
    if report.undecided:
        titles = ", ".join(f"{use.title} ({use.outcome})" for use in report.undecided)
        warnings.warn(f"{report.model}: {titles}", stacklevel=2)


def _reason(report: Report) -> str:
    first = report.uses[0]
    if not report.is_complete:
        return f"{first.title} not done after {report.seconds:.0f} s; give it more time"
    return f"{first.title}: {first.outcome}" + (f": {first.message}" if first.message else "")


def _device(model: Model, inputs: Any, kwargs: Any) -> DeviceName:
    values = [*tree_leaves((inputs, kwargs)), *(model.parameters() if isinstance(model, torch.nn.Module) else ())]
    return "cuda" if any(isinstance(value, torch.Tensor) and value.is_cuda for value in values) else "cpu"


def _seconds(time: float | str) -> float:
    try:
        return seconds(str(time))
    except ValueError as error:
        raise UsageError(f"time: {error}") from None


def _config(name: str, backend: str | None) -> Config:
    try:
        (config,) = choose([name], known_configs(None))
    except ValueError as error:
        raise UsageError(f"config: {error}") from None
    return config if backend is None else config.on(backend)


def _gathered(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, with_values: bool) -> GatheredModel:
    """The model with the arguments of a call, gathered by way of a recording. Raises UsageError."""
    if isinstance(model, type):
        raise UsageError(f"{model.__name__} is a class: give a model, {model.__name__}(…)")
    with tempfile.TemporaryDirectory(prefix="eqfuzz-check-") as folder:
        file = Path(folder) / f"model{SUFFIX}"
        try:
            recording = Recording(model, _MOST_BYTES)
            recording.add(args, kwargs)
        except NotRecorded as error:
            raise UsageError(str(error)) from None
        recording.write(file, main=_session(Path(folder)))
        stored = StoredRecording.read(file)
        if not stored.module:
            raise UsageError(f"{stored.name} is defined in a session without a text: put it in a file, and import it")
        return gather_recording(stored, with_values=with_values)


def _session(folder: Path) -> Path | None:
    """A file with the text of this session, where ``__main__`` has no file; None otherwise."""
    text = session_text() if not hasattr(sys.modules["__main__"], "__file__") else ""
    if not text:
        return None
    file = folder / _NOTEBOOK
    file.write_text(text, encoding="utf-8")
    return file


@contextlib.contextmanager
def _handler(progress: bool | None) -> Iterator[Handler]:
    """What shows the progress of a check."""
    is_watched = sys.stderr.isatty() or is_notebook()
    if not (is_watched if progress is None else progress):
        yield lambda _: None
        return
    with ModelCheckReport(make_console(stderr=True), shows_results=False) as report:
        yield report.handle
