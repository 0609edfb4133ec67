"""Starts the processes of untrusted jobs, with the strongest sandbox that the machine has."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import eqfuzz
from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.toolchain import lay_out, place
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.process_messages import StartupMessage
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.run.sandbox.bubblewrap import TEMPORARY, start_sandboxed
from eqfuzz.run.sandbox.detection import SandboxLevel, sandbox_support
from eqfuzz.run.sandbox.mounts import USER, MountView, clean_variables, narrow_view
from eqfuzz.run.sandbox.policy import DISK_BYTES, SandboxPolicy

_PACKAGE = Path(eqfuzz.__file__).parents[1]


class SandboxUnavailable(RunnerFailed):
    """There is no sandbox for untrusted programs; ``str()`` is one line that says what to do."""


def require_level() -> SandboxLevel:
    """The level in force. Raises SandboxUnavailable where there is none."""
    support = sandbox_support()
    if support.level is SandboxLevel.NONE:
        raise SandboxUnavailable(f"no sandbox for untrusted seeds: {support.lacks}; `--unsafe` runs them without")
    return support.level


def runs_without(environment: Environment) -> bool:
    """Whether there is no sandbox here and the user lets untrusted programs run all the same."""
    return environment.unsafe and sandbox_support().level is SandboxLevel.NONE


class Sandbox:
    """A sandbox for one fork server, whose children run one at a time. ``close`` must be called.

    Raises SandboxUnavailable.
    """

    def __init__(self, environment: Environment, *, warm: bool) -> None:
        self._level = require_level()
        self._environment = environment
        self._toolchain = place()
        self._single = warm and self._toolchain is None
        self._folder: Path | None = None
        temporary = environment.temporary_dir()
        if self._level is SandboxLevel.LANDLOCK:
            temporary.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=temporary))
            for name in ("own", "cases"):
                (self._folder / name).mkdir()
            if self._toolchain is not None:
                lay_out(self._toolchain, self._own, USER, self._own / "cache", read_only=True)

    @property
    def _own(self) -> Path:
        """Where the fork server keeps its own files."""
        return self._folder / "own" if self._folder is not None else Path(TEMPORARY)

    @property
    def single(self) -> bool:
        """Whether it can be used for one job only."""
        return self._single

    @property
    def namespaced(self) -> bool:
        """Whether processes in it have other numbers than outside."""
        return self._level is SandboxLevel.BUBBLEWRAP

    def cases(self) -> Path:
        """Where the parent creates the folder of a job."""
        return self._folder / "cases" if self._folder is not None else self._environment.temporary_dir()

    def hello(self, hello: StartupMessage) -> StartupMessage:
        """The first packet for a process inside, from that for one outside."""
        read = tuple(str(path) for path in (*self._view().paths, self._own)) if self._folder is not None else ()
        policy = SandboxPolicy(
            level="landlock" if self._folder is not None else "bubblewrap",
            folder=str(self.cases()) if self._folder is not None else TEMPORARY,
            read=read,
            toolchain=str(self._toolchain or ""),
            memory_bytes=hello.memory_bytes or Limits().memory_bytes,
            single=self._single,
        )
        view = self._view()
        path = [entry for entry in hello.path if entry and view.shows(Path(entry))]
        return dataclasses.replace(hello, path=(*path, str(_PACKAGE)), folder=str(self._own), cuda=False, policy=policy)

    def start(self, module: str, descriptor: int, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start ``python -m module descriptor`` in it, which prints to ``output``. Raises OSError."""
        command = [sys.executable, "-m", module, str(descriptor)]
        own = self._environment.settings(temporary=self._own, cache=self._own / "cache", kernels=self._own / "kernels")
        variables = {**clean_variables(), **own}
        if self._folder is None:
            return start_sandboxed(
                command,
                self._view(),
                variables,
                folder=str(_PACKAGE),
                disk_bytes=DISK_BYTES,
                output=output,
                pass_fds=[descriptor],
            )
        return subprocess.Popen(
            command,
            env=variables,
            cwd=_PACKAGE,
            pass_fds=[descriptor],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def close(self) -> None:
        """Remove its files; its process has ended."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _view(self) -> MountView:
        return narrow_view().with_paths([self._toolchain, self._environment.preload, *self._environment.shown])
