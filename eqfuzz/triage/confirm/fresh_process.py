"""Fresh Python processes, with a kernel cache of their own that is removed afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.run.kernels import toolchain
from eqfuzz.run.processes.process_tree import die_with_parent
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.run.sandbox.one_shot import run_sandboxed

_SECONDS_TO_LOOK = 0.5
"""Wall seconds between two looks at whether the run ends."""

_CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE})


@dataclasses.dataclass(frozen=True)
class ProcessResult:
    """``status`` is the exit status, None after a timeout; ``output`` is stdout with stderr.

    ``saved`` is the content of the file that a sandbox provides. In a sandbox ``status`` is also None where the process
    was killed for its use of resources.
    """

    status: int | None
    output: str
    saved: str = ""

    @property
    def crashed(self) -> bool:
        """Whether it died by a signal that the process itself causes, such as SIGSEGV."""
        return self.status is not None and -self.status in _CRASHES


def run_fresh(
    command: Sequence[str],
    seconds: float,
    environment: Mapping[str, str] | None = None,
    sandbox_paths: Sequence[Path] | None = None,
    closing: threading.Event | None = None,
) -> ProcessResult:
    """Run ``command`` for at most ``seconds`` of wall time, and no longer than this thread lives.

    ``environment`` is the whole environment. With ``sandbox_paths`` it runs in a sandbox that can read these
    paths; there ``environment`` is added to what every sandbox sets. Raises SandboxUnavailable, and RunnerFailed once
    ``closing`` is set, unless it is in a sandbox.
    """
    if sandbox_paths is not None:
        result = run_sandboxed(command, seconds, sandbox_paths, environment or {})
        return (
            ProcessResult(result.status, result.output, result.saved) if result is not None else ProcessResult(None, "")
        )
    variables = dict(os.environ if environment is None else environment)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-replay-") as cache:
        if command[0] == sys.executable:
            _copy_probes(Path(cache))
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
            output = _output_of(process, time.monotonic() + seconds, closing)
        finally:
            _end(process)
    return ProcessResult(None, "") if output is None else ProcessResult(process.returncode, output)


def _output_of(process: subprocess.Popen[str], deadline: float, closing: threading.Event | None) -> str | None:
    """What the process prints until it ends; None where it does not end in time. Raises RunnerFailed."""
    while True:
        left = max(0.0, deadline - time.monotonic())
        try:
            return process.communicate(timeout=left if closing is None else min(left, _SECONDS_TO_LOOK))[0]
        except subprocess.TimeoutExpired:
            if closing is not None and closing.is_set():
                raise RunnerFailed("the run ended while a script ran") from None
            if time.monotonic() >= deadline:
                return None


def _copy_probes(cache: Path) -> None:
    """Copy results that depend only on the machine: a third of the CPU time of a fresh process."""
    shared = toolchain.place()
    if shared is not None:
        with contextlib.suppress(OSError):  # removed in the meantime, or a full disk: the process makes its own
            toolchain.copy_probes(shared, cache)


def _end(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
