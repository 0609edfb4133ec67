"""Measurements of the judge as cases: what a child runs for ``eqfuzz self-check``, one program at a time."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eqfuzz.oracle.calibration.capability import compared, observed
from eqfuzz.oracle.calibration.recall import measure
from eqfuzz.program.program import Program
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.several_threads import several_threads
from eqfuzz.torch_internals.dynamo import forget_compiled_code

SECONDS = 600.0
"""Wall limit of one program; most take a second or two."""

Emit = Callable[[dict[str, Any]], None]


def run_measurement(data: dict[str, Any], emit: Emit) -> None:
    """Do the ``job`` in ``data`` with its ``program``, one of ``_JOBS``; ``observe`` writes to ``file``."""
    emit({"event": "stage", "stage": data["job"], "seconds": SECONDS})
    program = Program.from_json(data["program"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _JOBS[data["job"]](program, data, emit)


def _recall(program: Program, data: dict[str, Any], emit: Emit) -> None:
    def compiled(target: Callable[..., Any]) -> Callable[..., Any]:
        forget_compiled_code()
        return DEFAULT_CONFIG.compile(target)

    with DEFAULT_CONFIG.patched():
        table = measure(program, data["seed"], data["draws"], transform=compiled)
    emit({"event": "recalled", "table": table.to_json()})


def _observe(program: Program, data: dict[str, Any], emit: Emit) -> None:
    Path(data["file"]).write_bytes(pickle.dumps(observed(program, data["seed"])))
    emit({"event": "observed"})


def _compare(program: Program, data: dict[str, Any], emit: Emit) -> None:
    runs = {name: pickle.loads(Path(file).read_bytes()) for name, file in data["files"].items()}
    verdicts, alarms = compared(program, data["seed"], runs)
    emit({"event": "compared", "verdicts": [verdict.to_json() for verdict in verdicts], "alarms": dict(alarms)})


def _threads(program: Program, data: dict[str, Any], emit: Emit) -> None:
    """Eager with one thread and with each number of ``threads``, judged by what bounds it with the last of them."""
    runs = {"1": observed(program, data["seed"])}
    for count in data["threads"]:
        with several_threads(count):
            runs[str(count)] = observed(program, data["seed"])
    with several_threads(data["threads"][-1]):
        verdicts, alarms = compared(program, data["seed"], runs)
    emit({"event": "compared", "verdicts": [verdict.to_json() for verdict in verdicts], "alarms": dict(alarms)})


_JOBS = {"recall": _recall, "observe": _observe, "compare": _compare, "threads": _threads}
