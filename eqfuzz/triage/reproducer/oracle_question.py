"""Asks a user's oracle about a program: what reproducers of its complaints import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from eqfuzz.oracle.compare.oracles import ORACLES, Comparison, ask_oracle
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.reference.error_bound import growing_references
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.program.call import Call
from eqfuzz.run.devices import Transform, observe_on, on_device
from eqfuzz.run.preload import execute_source

__all__ = ["Call", "ask", "register"]


def register(name: str, source: str) -> None:
    """Execute the ``source`` of a preload file, unless its oracle ``name`` is registered in this process already.

    Raises what the file raises, and SystemExit with status 2 where it registers no such oracle.
    """
    if name not in ORACLES:
        execute_source(source, Path(sys.argv[0]).with_name("preload.py"))
    if name not in ORACLES:
        print(f"the preload file registers no oracle {name!r}", file=sys.stderr)  # noqa: T201
        sys.exit(2)


def ask(
    name: str, make_model: Callable[[], Any], calls: Sequence[Call], compiling: Transform, *, device: str = "cpu"
) -> str:
    """What the oracle complains of, as ``kind: message``; empty where it has no complaint.

    As in a run, it is asked without a reference first, and its complaint counts with that of the most noisy runs. The
    outcomes of both runs are printed. Raises what the oracle raises.
    """
    eager = _observed("eager:   ", make_model, calls, device)
    compiled = _observed("compiled:", make_model, calls, device, compiling)
    verdict = ask_oracle(name, Comparison(eager, compiled, None))
    measured = _references(make_model, calls)
    while verdict is not None and verdict.kind is not VerdictKind.AGREE:
        reference = next(measured, None)
        if reference is None:
            break
        verdict = ask_oracle(name, Comparison(eager, compiled, reference))
    return f"{verdict.kind}: {verdict.message}" if verdict is not None and verdict.is_finding else ""


def _observed(
    label: str, make_model: Callable[[], Any], calls: Sequence[Call], device: str, compiling: Transform | None = None
) -> Observation:
    observation = observe_on(make_model, calls, device, compiling)
    raised = observation.calls[-1].raised
    words = "returns" if raised is None else f"raises {raised.type}: {raised.message}"
    print(label, words, flush=True)  # noqa: T201
    return observation


def _references(make_model: Callable[[], Any], calls: Sequence[Call]) -> Iterator[Reference]:
    """References are measured on the CPU."""

    def model() -> Any:
        instance = make_model()
        return instance.cpu() if isinstance(instance, torch.nn.Module) else instance

    return growing_references(model, [on_device(call, "cpu") for call in calls])
