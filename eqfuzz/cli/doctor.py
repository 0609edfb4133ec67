"""``eqfuzz doctor``: check that this machine has what eqfuzz needs."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import typer

from eqfuzz.cli.exit_codes import CLEAN, USAGE
from eqfuzz.errors import error_line
from eqfuzz.torch_internals.embedded.foreign_environments import FOREIGN, foreign_python

OLDEST_PYTHON = (3, 11)
OLDEST_TORCH = (2, 6)
LEAST_MEMORY = 4 << 30
LEAST_SPACE = 1 << 30

OK, MISSING, LOW, ABSENT = "ok", "missing", "low", "absent"


@dataclasses.dataclass(frozen=True)
class Check:
    """The result for one item. ``state`` is ok, missing (required), low, or absent (optional)."""

    name: str
    state: str
    detail: str
    purpose: str
    remedy: str = ""

    @property
    def line(self) -> str:
        text = f"{self.name:<15} {self.state:<8} {self.detail}"
        if self.state == OK:
            return f"{text}  ({self.purpose})"
        return f"{text}: {self.purpose}" + (f"; {self.remedy}" if self.remedy else "")


def doctor() -> None:
    """Check what this machine has for eqfuzz.

    Prints one line per item, with its purpose and how to install it.

    Exit codes: 0 everything required is there, 2 something required is missing.
    """
    from rich.text import Text

    from eqfuzz.report.terminal import make_console

    console = make_console()
    missing: list[str] = []
    for check in checks():
        style = {OK: "green", MISSING: "bold red"}.get(check.state, "yellow")
        line = Text(check.line)
        line.stylize(style, 16, 16 + len(check.state))
        console.print(line, soft_wrap=True)
        if check.state == MISSING:
            missing.append(check.name)
    if missing:
        console.print(Text(f"needed and missing: {', '.join(missing)}", style="bold red"))
    raise typer.Exit(USAGE if missing else CLEAN)


def checks() -> Iterator[Check]:
    """Every check, the required ones first."""
    yield _python()
    yield from _torch()
    yield _compiler()
    yield _forks()
    yield _temp_folder()
    yield _cores()
    yield _memory()
    yield _tool("mold", ("mold",), "links compiled kernels faster", "mold")
    yield _sandbox()
    yield _onnx()
    yield from (_foreign(name) for name in FOREIGN)
    yield _tool("graphviz", ("dot", "-V"), "draws programs as graphs", "graphviz")


def _python() -> Check:
    wanted = ".".join(map(str, OLDEST_PYTHON))
    state = OK if sys.version_info >= OLDEST_PYTHON else MISSING
    return Check("python", state, platform.python_version(), f"{wanted} or newer is needed", "apt install python3")


def _torch() -> Iterator[Check]:
    """The release of torch, its private names that eqfuzz uses, and CUDA."""
    purpose = f"{OLDEST_TORCH[0]}.{OLDEST_TORCH[1]} or newer is needed"
    try:
        import torch
    except Exception as error:  # a broken installation may raise anything, and reporting it is this verb's job
        reason = f"cannot be imported: {error_line(error)}"
        yield Check("torch", MISSING, reason, purpose, "pip install torch")
        return
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    yield Check("torch", OK if version >= OLDEST_TORCH else MISSING, torch.__version__, purpose, "pip install -U torch")
    yield _internals()
    purpose = "--device cuda"
    if torch.cuda.is_available():
        yield Check("CUDA", OK, torch.cuda.get_device_name(), purpose)
    else:
        reason = f"built for {torch.version.cuda}, no device" if torch.version.cuda else "this torch is built without"
        yield Check("CUDA", ABSENT, reason, purpose, "the CPU works without")


def _internals() -> Check:
    """The private names of torch that eqfuzz uses: those that are missing, with the feature that is lost."""
    from eqfuzz.torch_internals.contract import CONTRACT, missing

    purpose, remedy = "private names of torch that eqfuzz relies on", "take a release from docs/reference/torches.md"
    try:
        lacks = missing()
    except Exception as error:  # of a broken installation again: most of torch is imported only here
        text = f"cannot be imported: {error_line(error)}"
        return Check("torch internals", MISSING, text, purpose, "pip install --force-reinstall torch")
    if not lacks:
        return Check("torch internals", OK, f"{len(CONTRACT)} names", purpose)
    required = [lack for lack in lacks if not lack.name.lost]
    lost: dict[str, dict[str, None]] = {}
    for lack in required or lacks:
        lost.setdefault(lack.name.lost or lack.name.use, {})[lack.what] = None
    text = "; ".join(f"{', '.join(whats)} ({reason})" for reason, whats in lost.items())
    return Check("torch internals", MISSING if required else ABSENT, text, purpose, remedy if required else "")


def _compiler() -> Check:
    name = os.environ.get("CXX", "g++")
    return _tool(name, (name,), "Inductor compiles its CPU kernels with it", "g++", needed=True)


def _forks() -> Check:
    """Whether backward runs in a forked process, as cells do."""
    purpose = "each compiled cell is a fork of a warm process"
    command = (sys.executable, "-m", "eqfuzz.run.processes.fork_check")
    variables = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    remedy = "mutate --runner spawn does without"
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=variables)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("forks", MISSING, str(error), purpose, remedy)
    if ran.returncode == 0:
        return Check("forks", OK, "backward runs in them", purpose)
    last = (ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1]
    return Check("forks", MISSING, f"backward does not run in them: {last}", purpose, remedy)


def _tool(name: str, command: tuple[str, ...], purpose: str, package: str, *, needed: bool = False) -> Check:
    path = shutil.which(command[0])
    if path is None:
        return Check(name, MISSING if needed else ABSENT, "not found", purpose, f"apt install {package}")
    version = (path, *(command[1:] or ("--version",)))
    try:
        ran = subprocess.run(version, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        state = MISSING if needed else ABSENT
        return Check(name, state, f"{path} does not run: {error}", purpose, f"apt install --reinstall {package}")
    lines = (ran.stdout or ran.stderr).strip().splitlines()
    return Check(name, OK, lines[0] if lines else path, purpose)


def _sandbox() -> Check:
    """The isolation of untrusted seeds, and what it lacks."""
    from eqfuzz.run.sandbox.bubblewrap import executable
    from eqfuzz.run.sandbox.detection import SandboxLevel, sandbox_support

    purpose = "isolates seeds that a language model wrote"
    sandbox = sandbox_support()
    if sandbox.level is SandboxLevel.NONE:
        return Check("sandbox", ABSENT, f"none ({sandbox.lacks})", purpose, "without it they are refused")
    if sandbox.level is SandboxLevel.LANDLOCK:
        return Check("sandbox", LOW, f"Landlock and seccomp only ({sandbox.lacks})", purpose, "apt install bubblewrap")
    ran = subprocess.run([executable() or "bwrap", "--version"], capture_output=True, text=True, check=False)
    return Check("sandbox", OK, f"{ran.stdout.strip()} and seccomp", purpose)


def _onnx() -> Check:
    purpose = "seeds import reads models with it"
    try:
        version = importlib.metadata.version("onnx")
    except importlib.metadata.PackageNotFoundError:
        return Check("onnx", ABSENT, "not found", purpose, "pip install 'eqfuzz[onnx]'")
    return Check("onnx", OK, version, purpose)


def _foreign(name: str) -> Check:
    purpose = f"--config {name} compares with it"
    python = foreign_python(name)
    if not python.is_file():
        return Check(name, ABSENT, f"no environment of its own in {python.parents[1]}", purpose, "make backends")
    return Check(name, OK, str(python), purpose)


def _temp_folder() -> Check:
    purpose = "holds compiled kernels and reproducers for a while"
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"eqfuzz")
    except OSError as error:
        return Check("temp folder", MISSING, str(error), purpose, "set TMPDIR to a folder that can be written")
    free = shutil.disk_usage(folder).free
    state = OK if free >= LEAST_SPACE else LOW
    return Check(
        "temp folder",
        state,
        f"{folder}, {_gib(free)} free",
        purpose,
        f"{_gib(LEAST_SPACE)} is enough: free some space or set TMPDIR",
    )


def _cores() -> Check:
    return Check("cores", OK, str(len(os.sched_getaffinity(0))), "one job each")


def _memory() -> Check:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _group_limit()
    usable = min(total, limit) if limit is not None else total
    state = OK if usable >= LEAST_MEMORY else LOW
    return Check("memory", state, _gib(usable), "shared by all jobs", f"below {_gib(LEAST_MEMORY)} use --jobs 1")


def _group_limit() -> int | None:
    """The container's memory limit in bytes, None without one."""
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        file = Path(place)
        if file.is_file():
            text = file.read_text().strip()
            return int(text) if text.isdigit() else None
    return None


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
