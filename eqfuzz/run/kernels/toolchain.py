"""What the C++ compiler has to make once for every machine: 15 CPU seconds of a first start, kept for later runs.

That is torch's precompiled header (150 MB), the probes for the CPU's vector width, and the kernels of the warm-up. It
lies below ``$XDG_CACHE_HOME/eqfuzz`` (``~/.cache/eqfuzz``), in a folder for each combination of torch, Python, compiler
and CPU. Nothing in it depends on what a run fuzzes, and a run that cannot use it makes its own.
"""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import importlib.metadata
import os
import platform
import shutil
from pathlib import Path

from eqfuzz.atomic_file import new_folder
from eqfuzz.run.environment import Environment
from eqfuzz.torch_internals.caches import HEADERS, headers_below

_KEPT = 3
_SUFFIXES = (".so", ".cpp")


def furnish(environment: Environment) -> bool:
    """Give a run that has nothing yet what an earlier one has made. False where there is nothing to give."""
    kept = _folder()
    if kept is None or not kept.is_dir():
        return False
    with contextlib.suppress(OSError):
        lay_out(kept, environment.temporary_dir(), getpass.getuser(), environment.cache_dir())
        os.utime(kept)
    return True


def place() -> Path | None:
    """The folder that runs of this machine share; None where none has been kept yet."""
    kept = _folder()
    return kept if kept is not None and kept.is_dir() else None


def lay_out(kept: Path, temporary: Path, user: str, cache: Path, *, read_only: bool = False) -> None:
    """Put what was ``kept`` where torch looks for it as ``user``, with these folders. Raises OSError.

    Where it is ``read_only``, what else torch makes there lies beside it, not in it.
    """
    headers = headers_below(temporary, user)
    headers.parent.mkdir(parents=True, exist_ok=True)
    if read_only:
        for file in (kept / HEADERS).rglob("*"):
            link = headers / file.relative_to(kept / HEADERS)
            link.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file() and file.suffix != ".lock" and not link.exists():
                link.symlink_to(file)
    elif not headers.exists():
        headers.symlink_to(kept / HEADERS, target_is_directory=True)
    copy_probes(kept, cache)


def copy_probes(kept: Path, cache: Path) -> None:
    """Put the probes of the CPU, eight compiler runs, into a cache folder of torch's. Raises OSError."""
    for file in (kept / "cache").glob("*/*"):
        copy = cache / file.parent.name / file.name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)


def keep(environment: Environment) -> None:
    """Keep for later runs what this one has made at its start. Does nothing where that cannot be written."""
    kept = _folder()
    if kept is None or kept.exists() or environment.preload is not None:
        return
    headers = _headers(environment)
    probes = [file for file in environment.cache_dir().glob("*/*") if file.suffix in _SUFFIXES]
    if not headers.is_dir() and not probes:
        return
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(kept) as folder:
            if headers.is_dir():
                shutil.copytree(headers, folder / HEADERS)
            else:  # torch 2.6 makes none
                (folder / HEADERS).mkdir()
            for file in probes:
                (folder / "cache" / file.parent.name).mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, folder / "cache" / file.parent.name)
        _prune(kept.parent)


def _headers(environment: Environment) -> Path:
    return headers_below(environment.temporary_dir(), getpass.getuser())


def _folder() -> Path | None:
    """The folder for this machine's combination; None where the user has no place for caches."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        stamp = Path(compiler).resolve().stat().st_mtime_ns if compiler else 0
        flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    except (OSError, RuntimeError):
        return None
    torch = importlib.metadata.distribution("torch")
    parts = (torch.version, str(torch.locate_file("torch")), platform.python_version(), compiler, stamp, flags)
    return root / "eqfuzz" / f"toolchain-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def _prune(root: Path) -> None:
    """Leave the combinations used last."""
    folders = sorted(root.glob("toolchain-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)
