"""A Python process of its own, with an empty kernel cache and nothing left of it afterwards."""

from __future__ import annotations

import dataclasses
import functools
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from eqfuzz.run.family import die_with_parent


@dataclasses.dataclass(frozen=True)
class Ended:
    """``status`` is the exit status, None where the time was up; ``output`` what it printed, errors included."""

    status: int | None
    output: str


def run_fresh(command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> Ended:
    """Run ``command`` for at most ``seconds`` of wall time, and no longer than this thread lives."""
    variables = dict(os.environ if environment is None else environment)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-replay-") as cache:
        variables["TORCHINDUCTOR_CACHE_DIR"] = cache
        variables.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=variables,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid()),
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Ended(None, "")
        finally:
            _end(process)
    return Ended(process.returncode, output)


def _end(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
