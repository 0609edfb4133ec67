"""A Python process of its own, with a kernel cache of its own and nothing left of it afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.run.kernels import toolchain
from eqfuzz.run.processes.process_tree import die_with_parent
from eqfuzz.run.sandbox.one_shot import run_sandboxed

_CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE})


@dataclasses.dataclass(frozen=True)
class ProcessResult:
    """``status`` is the exit status, None where the time was up; ``output`` what it printed, errors included.

    ``saved`` is what it wrote to the file that a sandbox gives it. In a sandbox ``status`` is None, too, where it was
    ended for what it used.
    """

    status: int | None
    output: str
    saved: str = ""

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it that its own doing brings about; not one that somebody sends."""
        return self.status is not None and -self.status in _CRASHES


def run_fresh(
    command: Sequence[str],
    seconds: float,
    environment: Mapping[str, str] | None = None,
    shut_in: Sequence[Path] | None = None,
) -> ProcessResult:
    """Run ``command`` for at most ``seconds`` of wall time, and no longer than this thread lives.

    ``environment`` is all of it. Given paths to show it, it runs ``shut_in`` a sandbox, where ``environment`` comes on
    top of what every sandbox sets. Raises SandboxUnavailable.
    """
    if shut_in is not None:
        told = run_sandboxed(command, seconds, shut_in, environment or {})
        return ProcessResult(told.status, told.output, told.saved) if told is not None else ProcessResult(None, "")
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
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return ProcessResult(None, "")
        finally:
            _end(process)
    return ProcessResult(process.returncode, output)


def _copy_probes(cache: Path) -> None:
    """Spare the process what depends on the machine alone: a third of its CPU time."""
    kept = toolchain.place()
    if kept is not None:
        with contextlib.suppress(OSError):  # pruned meanwhile, or no space: it makes its own
            toolchain.copy_probes(kept, cache)


def _end(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
