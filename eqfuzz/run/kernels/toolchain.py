"""Files that the C++ compiler builds once per machine: 15 CPU seconds of a first start, cached for later runs.

These are torch's precompiled header (150 MB), the probes for the CPU's vector width, and the kernels of the warm-up.
They are below ``$XDG_CACHE_HOME/eqfuzz`` (``~/.cache/eqfuzz``), in a folder for each combination of torch, Python,
compiler and CPU. They do not depend on what a run fuzzes; a run that cannot use them builds its own.
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
from eqfuzz.program.derived import cache_folder
from eqfuzz.run.environment import Environment
from eqfuzz.torch_internals.caches import HEADERS, headers_below

_KEPT = 3
_SUFFIXES = (".so", ".cpp")


def furnish(environment: Environment) -> bool:
    """Give a new run the files of an earlier one. False if there are none."""
    source = _folder()
    if source is None or not source.is_dir():
        return False
    with contextlib.suppress(OSError):
        lay_out(source, environment.temporary_dir(), getpass.getuser(), environment.cache_dir())
        os.utime(source)
    return True


def place() -> Path | None:
    """The folder that runs on this machine share; None if there is none yet."""
    source = _folder()
    return source if source is not None and source.is_dir() else None


def lay_out(source: Path, temporary: Path, user: str, cache: Path, *, read_only: bool = False) -> None:
    """Link the files in ``source`` to where torch looks for them as ``user``, with these folders. Raises OSError.

    If they are ``read_only``, other files of torch are created beside them.
    """
    headers = headers_below(temporary, user)
    headers.parent.mkdir(parents=True, exist_ok=True)
    if read_only:
        for file in (source / HEADERS).rglob("*"):
            link = headers / file.relative_to(source / HEADERS)
            link.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file() and file.suffix != ".lock" and not link.exists():
                link.symlink_to(file)
    elif not headers.exists():
        headers.symlink_to(source / HEADERS, target_is_directory=True)
    copy_probes(source, cache)


def copy_probes(source: Path, cache: Path) -> None:
    """Copy the probes of the CPU (eight runs of the compiler) into a cache folder of torch. Raises OSError."""
    for file in (source / "cache").glob("*/*"):
        copy = cache / file.parent.name / file.name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)


def keep(environment: Environment) -> None:
    """Save for later runs what this one has built at its start. Does nothing if that cannot be written."""
    source = _folder()
    if source is None or source.exists() or environment.preload is not None:
        return
    headers = _headers(environment)
    probes = [file for file in environment.cache_dir().glob("*/*") if file.suffix in _SUFFIXES]
    if not headers.is_dir() and not probes:
        return
    with contextlib.suppress(OSError):
        source.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(source) as folder:
            if headers.is_dir():
                shutil.copytree(headers, folder / HEADERS)
            else:  # torch 2.6 has none
                (folder / HEADERS).mkdir()
            for file in probes:
                (folder / "cache" / file.parent.name).mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, folder / "cache" / file.parent.name)
        _prune(source.parent)


def _headers(environment: Environment) -> Path:
    return headers_below(environment.temporary_dir(), getpass.getuser())


def _folder() -> Path | None:
    """The folder for this machine's combination; None if the user has no cache folder."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    root = cache_folder()
    if root is None:
        return None
    try:
        stamp = Path(compiler).resolve().stat().st_mtime_ns if compiler else 0
        flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    except OSError:
        return None
    torch = importlib.metadata.distribution("torch")
    parts = (torch.version, str(torch.locate_file("torch")), platform.python_version(), compiler, stamp, flags)
    return root / f"toolchain-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def _prune(root: Path) -> None:
    """Remove all combinations but those used last."""
    folders = sorted(root.glob("toolchain-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)
