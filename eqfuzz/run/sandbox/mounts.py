"""Files visible in a sandbox, read-only: the interpreter and its libraries, the compiler, eqfuzz."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import eqfuzz
from eqfuzz.program.shipped import folder

_SYSTEM = ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/include")
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/sys/devices/system/cpu")

_PASSED = re.compile(r"(TORCH|PYTORCH|ATEN|OMP|MKL|GOMP|CXX$|CC$|LANG$|LC_)")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL")

USER = "eqfuzz"
"""The user name in a sandbox."""

HOME = "/nonexistent"


@dataclasses.dataclass(frozen=True)
class MountView:
    """``paths`` are folders and files to read, ``links`` symbolic links of the root (``/lib`` → ``usr/lib``)."""

    paths: tuple[Path, ...]
    links: tuple[tuple[str, str], ...] = ()

    def with_paths(self, more: Iterable[Path | None]) -> MountView:
        """With those of ``more`` that exist."""
        return dataclasses.replace(self, paths=_outermost([*self.paths, *(p for p in more if p is not None)]))

    def shows(self, path: Path) -> bool:
        """Whether ``path`` can be read."""
        return any(path == visible or visible in path.parents for visible in self.paths)


def narrow_view(python: str = sys.executable) -> MountView:
    """The files needed to run ``python`` (by default this process's) with torch, eqfuzz and the C++ compiler."""
    paths = [Path(p) for p in (*_SYSTEM, *_FILES)]
    links: list[tuple[str, str]] = []
    for name in _SYSTEM_LINKS:
        if Path(name).is_symlink():
            links.append((name, str(Path(name).readlink())))
        else:
            paths.append(Path(name))
    paths += _of_interpreter() if python == sys.executable else _of_other(Path(python))
    package = Path(eqfuzz.__file__).resolve().parent
    paths += [package, Path(eqfuzz.__file__).parent, folder("rewrites")]
    torch = importlib.util.find_spec("torch")  # a build from source lies elsewhere
    if torch is not None and torch.origin is not None:
        paths.append(Path(torch.origin).parent)
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is not None:
        paths += [Path(compiler), Path(compiler).resolve()]
    return MountView(_outermost(paths), tuple(links))


def clean_variables() -> dict[str, str]:
    """The environment of a process in a sandbox: settings of torch and of the compiler, without secrets."""
    variables = {name: value for name, value in os.environ.items() if _PASSED.match(name) and not _SECRET.search(name)}
    folders = [part for part in os.environ.get("PATH", os.defpath).split(":") if part.startswith(("/usr/", "/bin"))]
    return {
        "LANG": "C.UTF-8",
        **variables,
        "PATH": ":".join(dict.fromkeys([*folders, "/usr/bin", "/bin"])),
        "HOME": HOME,
        "LOGNAME": USER,
        "USER": USER,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }


def _of_interpreter() -> list[Path]:
    """The standard library and installed packages, not other entries of ``sys.path``."""
    paths = [Path(sys.executable), Path(sys.executable).resolve(), Path(sys.prefix) / "pyvenv.cfg"]
    base = Path(sys.base_prefix)
    paths += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib", "include")]
    paths += [Path(sysconfig.get_path("include", vars={"base": str(base), "installed_base": str(base)}))]
    paths += (base / "lib").glob("libpython*")
    paths += [Path(entry) for entry in (*site.getsitepackages(), *sys.path) if entry.endswith("-packages")]
    paths += [Path(entry) for entry in sys.path if entry.endswith("lib-dynload")]
    return paths


def _of_other(python: Path) -> list[Path]:
    """The environment of another interpreter, and the one that it was created from."""
    folders = [python.absolute().parents[1], python.resolve().parents[1]]
    return [path for path in folders if path not in (Path("/"), Path("/usr"))]


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths that exist, without duplicates and paths inside others."""
    existing = sorted({path for path in paths if path.exists() and path.is_absolute()})
    return tuple(path for path in existing if not any(other in path.parents for other in existing))
