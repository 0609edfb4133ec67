"""Running a reproducer in a fresh process: confirmation while hunting, replay afterwards."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

FIXED, STILL_FAILING, ERROR = "FIXED", "STILL FAILING", "ERROR"

REPLAY_SECONDS = 600.0
"""A reproducer of a hang waits twice its own limit, and a cold compile on a loaded machine takes a minute."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """``status`` is FIXED, STILL FAILING or ERROR; ``output`` the end of what the script printed."""

    status: str
    output: str


def replay(
    folder: Path,
    python: str = sys.executable,
    seconds: float = REPLAY_SECONDS,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run ``folder/repro.py`` in a fresh process with an empty kernel cache; ``seconds`` is wall time."""
    variables = dict(os.environ if environment is None else environment)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-replay-") as cache:
        variables["TORCHINDUCTOR_CACHE_DIR"] = cache
        variables.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        process = subprocess.Popen(
            [python, str((folder / "repro.py").resolve())],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=variables,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Outcome(ERROR, f"the reproducer did not end within {seconds:g} s")
        finally:
            _end(process)
    status = {0: FIXED, 1: STILL_FAILING}.get(process.returncode, ERROR)
    if status == STILL_FAILING and _raised(output):
        status = ERROR  # Python exits 1 for an uncaught exception too: that is the script's own failure
    return Outcome(status, output[-4000:])


def _raised(output: str) -> bool:
    """Whether the script itself broke down: a traceback, and no verdict line printed."""
    return "Traceback (most recent call last)" in output and "compiled:" not in output


def _end(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
