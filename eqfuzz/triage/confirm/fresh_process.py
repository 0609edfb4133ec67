"""Fresh Python processes, with a kernel cache of their own that is removed afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
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
from eqfuzz.run.processes.cpu_meter import count_cpu
from eqfuzz.run.processes.process_tree import die_with_parent
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.run.sandbox.one_shot import run_sandboxed

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
"""Wall seconds between two looks at whether the process or the run ends."""

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
    with tempfile.TemporaryDirectory(prefix="eqfuzz-replay-") as cache, tempfile.TemporaryFile() as output:
        if command[0] == sys.executable:
            _copy_probes(Path(cache))
        variables["TORCHINDUCTOR_CACHE_DIR"] = cache
        variables.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=variables,
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid()),
        )
        try:
            has_ended = _await_end(process, time.monotonic() + seconds, closing)
        finally:
            _kill(process)
        output.seek(0)
        text = io.TextIOWrapper(output, encoding="utf-8", errors="replace").read()
    return ProcessResult(process.returncode, text) if has_ended else ProcessResult(None, "")


def _await_end(process: subprocess.Popen[bytes], deadline: float, closing: threading.Event | None) -> bool:
    """Whether the process ends in time. Raises RunnerFailed once ``closing`` is set."""
    pause = _SHORTEST_PAUSE
    while not _has_ended(process, os.WNOHANG):
        if closing is not None and closing.is_set():
            raise RunnerFailed("the run ended while a script ran")
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


def _has_ended(process: subprocess.Popen[bytes], options: int) -> bool:
    """Whether it has; its CPU time is counted then, with that of its children."""
    if process.returncode is None:
        pid, status, used = os.wait4(process.pid, options)
        if not pid:
            return False
        process.returncode = os.waitstatus_to_exitcode(status)
        count_cpu(used.ru_utime + used.ru_stime)
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill it, and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    _has_ended(process, 0)


def _copy_probes(cache: Path) -> None:
    """Copy results that depend only on the machine: a third of the CPU time of a fresh process."""
    shared = toolchain.place()
    if shared is not None:
        with contextlib.suppress(OSError):  # removed in the meantime, or a full disk: the process makes its own
            toolchain.copy_probes(shared, cache)
