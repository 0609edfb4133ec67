"""Detects the strongest sandbox of this machine, by starting one."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from enum import StrEnum
from functools import cache
from pathlib import Path

from eqfuzz.errors import one_line
from eqfuzz.run.sandbox import landlock
from eqfuzz.run.sandbox.bubblewrap import executable, start_sandboxed
from eqfuzz.run.sandbox.mounts import clean_variables, narrow_view
from eqfuzz.run.sandbox.seccomp import filter_program

_SECONDS = 30.0
_DISK_BYTES = 2**20


class SandboxLevel(StrEnum):
    """Kinds of sandbox, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"


@dataclasses.dataclass(frozen=True)
class SandboxSupport:
    """The ``level`` in force, and what is missing for a stronger one, in words; empty if nothing is."""

    level: SandboxLevel
    lacks: str = ""


@cache
def sandbox_support() -> SandboxSupport:
    """The sandbox that works here; tried once in each process."""
    lacks = _problem_of_bubblewrap()
    if not lacks:
        return SandboxSupport(SandboxLevel.BUBBLEWRAP)
    more = _problem_of_landlock()
    if not more:
        return SandboxSupport(SandboxLevel.LANDLOCK, lacks)
    return SandboxSupport(SandboxLevel.NONE, f"{lacks}; {more}")


_TRY = """
import os, socket, sys
outside = sys.argv[1]
open("/tmp/written", "w").write("here")
assert not os.path.exists(outside), "a file outside can be seen"
assert os.getpid() == 1 and len([n for n in os.listdir("/proc") if n.isdigit()]) == 1, "other processes can be seen"
assert not any(line.startswith("CapEff") and int(line.split()[1], 16) for line in open("/proc/self/status")), "rights"
for name in ("core_pattern", "modprobe", "hotplug"):
    if os.path.exists("/proc/sys/kernel/" + name):
        try:
            open("/proc/sys/kernel/" + name, "a").close()
        except OSError:
            continue
        raise SystemExit("settings of the kernel can be written")
assert len(socket.if_nameindex()) <= 1 if sys.argv[2] == "open" else True, "there is a network"
"""


def _problem_of_bubblewrap() -> str:
    """Why bubblewrap does not work here; empty if it does."""
    if executable() is None:
        return "bubblewrap is not installed (`apt install bubblewrap`)"
    with tempfile.NamedTemporaryFile() as outside:
        network = "open" if filter_program() is None else "filtered"
        command = [sys.executable, "-I", "-S", "-c", _TRY, outside.name, network]
        try:
            process = start_sandboxed(
                command,
                narrow_view(),
                clean_variables(),
                folder="/tmp",
                disk_bytes=_DISK_BYTES,
                output=subprocess.PIPE,
            )
        except OSError as error:
            return f"bubblewrap does not start: {error}"
        try:
            output, _ = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"bubblewrap shows no sign of life for {_SECONDS:g} s"
    if process.returncode != 0:
        last = (output.decode(errors="replace").strip().splitlines() or ["it says nothing"])[-1]
        return f"bubblewrap does not work here: {one_line(last, 200)}"
    return ""


def _problem_of_landlock() -> str:
    """Why Landlock does not work here; empty if it does."""
    version = landlock.version()
    if version < landlock.NEEDED:
        has = f"version {version}" if version else "none"
        return f"Landlock {landlock.NEEDED} is needed (Linux 6.12), the kernel has {has}"
    if filter_program() is None:
        return "no seccomp filter is known for this processor"
    with tempfile.TemporaryDirectory(prefix="eqfuzz-level-") as folder:
        outside = Path(folder) / "outside"
        outside.write_text("secret")
        inside = Path(folder) / "inside"
        inside.mkdir()
        code = textwrap.dedent(_TRY_LANDLOCK)
        arguments = [str(outside), str(inside), str(os.getpid())]
        variables = {**clean_variables(), "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        ran = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=variables, capture_output=True, text=True, check=False
        )
    if ran.returncode != 0:
        last = ((ran.stdout + ran.stderr).strip().splitlines() or ["it says nothing"])[-1]
        return f"Landlock does not work here: {one_line(last, 200)}"
    return ""


_TRY_LANDLOCK = f"""
import os, socket, sys
from pathlib import Path
from eqfuzz.run.sandbox import capabilities, landlock, seccomp
from eqfuzz.run.sandbox.mounts import narrow_view
outside, inside, parent = sys.argv[1:]
landlock.restrict([*narrow_view().paths, Path("/proc")], [Path(inside)])
capabilities.drop_all()
seccomp.install()
(Path(inside) / "written").write_text("here")
def refused(what):
    try:
        what()
    except OSError:
        return
    raise SystemExit("something goes through that must not")
refused(lambda: open(outside))
refused(lambda: open(outside, "w"))
refused(lambda: socket.socket())
refused(lambda: os.kill(int(parent), {int(signal.SIGCONT)}))
"""
