"""Runs a command of the user's and records the models that it calls."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.errors import UsageError, one_line
from eqfuzz.imports.recordings import StoredRecording
from eqfuzz.recorder import tracer
from eqfuzz.recorder.recording import SUFFIX

_STARTUP = Path(tracer.__file__).parent / "startup"


@dataclasses.dataclass(frozen=True)
class RecordedModel:
    """A model that was recorded: ``file`` has its parameters and the inputs of its ``calls``, which are shapes here."""

    name: str
    file: str
    calls: tuple[str, ...]
    bytes: int


@dataclasses.dataclass(frozen=True)
class RecordedRun:
    """What came of a command: its exit ``status`` (negative: the signal that ended it), what was recorded, and what
    could not be.
    """

    status: int
    models: tuple[RecordedModel, ...]
    problems: tuple[str, ...]


def record_calls(
    command: Sequence[str], out: Path, *, chosen: Sequence[str], calls: int, limit: int, silent: bool
) -> RecordedRun:
    """Run ``command`` and write what it calls into ``out``, a file for each model.

    ``chosen`` are names of classes and functions, ``calls`` is the number of calls of each with different shapes,
    ``limit`` the size in bytes of a recording. ``silent``: its standard output goes to standard error. Raises
    UsageError where the command cannot be started or ``out`` cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".recording-", dir=out) as name:
            folder = Path(name)
            settings = {"folder": str(folder.resolve()), "chosen": list(chosen), "calls": calls, "limit": limit}
            status = _run(command, {tracer.VARIABLE: json.dumps(settings)}, silent=silent)
            models = tuple(_moved(path, out) for path in sorted(folder.glob(f"*{SUFFIX}")))
            return RecordedRun(status, models, _problems(folder))
    except OSError as error:
        raise UsageError(f"--out: {out}: {error.strerror}") from None


def _run(command: Sequence[str], variables: dict[str, str], *, silent: bool) -> int:
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(_STARTUP), *([before] if before else [])])
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **variables, "PYTHONPATH": path},
            stdout=sys.stderr if silent else None,
            check=False,
        )
    except KeyboardInterrupt:
        return -signal.SIGINT  # what is recorded by then is worth keeping
    except OSError as error:
        raise UsageError(f"{command[0]}: cannot be run: {error.strerror}") from None
    return done.returncode


def _moved(path: Path, out: Path) -> RecordedModel:
    target = out / path.name
    shutil.move(path, target)
    recording = StoredRecording.read(target)
    return RecordedModel(recording.name, str(target), recording.calls, target.stat().st_size)


def _problems(folder: Path) -> tuple[str, ...]:
    file = folder / tracer.PROBLEMS
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return tuple(dict.fromkeys(one_line(line) for line in lines))
