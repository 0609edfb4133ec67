"""The local audit of one program in a child process: what its compiled run does whole, then operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.compiled_audit import audit_calls
from eqfuzz.run.jobs.dispatch import line_in

TARGET = "eqfuzz.run.jobs.audit:run_audit"
"""What a pool is told to run."""

_AUDIT_COMPILES = 4


def run_audit(data: dict[str, Any], emit: Callable[[dict[str, Any]], None]) -> None:
    """The case ``{program, seed, config, load_seconds, eager_seconds, compile_seconds}``, told in events.

    ``judged`` has the verdict on the unmodified compiled program, ``audited`` the audit; ``invalid`` ends it before.
    """
    program, seed, config = Program.from_json(data["program"]), data["seed"], Config(**data["config"])
    emit({"event": "stage", "stage": "load", "seconds": data["load_seconds"]})
    try:
        loaded = Loaded(program)
        loaded.instance()
        calls = loaded.calls(seed)
    except InvalidSeed as error:
        emit({"event": "invalid", "reason": error.reason, "line": error.line})
        return
    except (Exception, SystemExit) as error:  # whatever a seed raises while loading makes it invalid
        reason = f"does not load: {type(error).__name__}: {error}"
        emit({"event": "invalid", "reason": reason, "line": line_in(error, program)})
        return
    emit({"event": "stage", "stage": "eager", "seconds": data["eager_seconds"]})
    eager = observe(loaded.instance, calls)
    for call in eager.calls:
        if call.raised is not None:
            reason = f"raises in eager: {call.raised.type}: {call.raised.message}"
            emit({"event": "invalid", "reason": reason, "line": None})
            return
    emit({"event": "stage", "stage": "compile", "seconds": data["compile_seconds"]})
    with config.patched():
        compiled = observe(loaded.instance, calls, transform=config.compile)
    emit({"event": "stage", "stage": "reference", "seconds": 20 * data["eager_seconds"]})
    verdict = judge_compiled(eager, compiled, None)
    for samples in THRESHOLDS.samples:
        if verdict.kind not in FINDINGS and verdict.kind is not VerdictKind.INCONCLUSIVE:
            break
        verdict = judge_compiled(eager, compiled, reference(loaded.instance, calls, seed=seed, samples=samples))
    emit({"event": "judged", "verdict": verdict.to_json()})
    emit({"event": "stage", "stage": "audit", "seconds": _AUDIT_COMPILES * data["compile_seconds"]})
    emit({"event": "audited", "audit": audit_calls(loaded, calls, seed, config).to_json()})
