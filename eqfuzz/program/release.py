"""The release and build of torch in an interpreter, read from torch's ``version.py`` without importing torch.

A build's package metadata say ``2.15.0`` for CPU and CUDA alike, and importing torch takes seconds.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.util
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eqfuzz.program.parsing import parse

SECONDS = 60.0
"""How long another interpreter may take to start, wall time."""

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_FINAL = re.compile(r"\d+(?:\.\d+)*(?:\.post\d+)?")
_BUILD = re.compile(r"(?:cpu|xpu|cu\d+|rocm\d+(?:\.\d+)*)(?![^.])")
_PRINT_VERSION = """
import importlib.util, os, sys
sys.path[:] = [folder for folder in sys.path if folder]
spec = importlib.util.find_spec("torch")
if spec is None:
    sys.exit("it has no torch")
print(open(os.path.join(list(spec.submodule_search_locations)[0], "version.py"), encoding="utf-8").read())
"""


class NoTorch(ValueError):
    """An interpreter is missing or has no torch; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class Release:
    """``release`` is ``2.15.0`` or ``2.16.0.dev20261124``, ``build`` ``cu132``, ``rocm6.4``, ``xpu`` or ``cpu``.

    ``git`` is the revision of a build that is not a final release. ``build`` is empty in findings
    of versions that did not record it.
    """

    release: str
    build: str = ""
    git: str = ""

    def __str__(self) -> str:
        return f"{self.release} {self.build}".strip()

    def in_full(self) -> str:
        """With the revision of what is no final release."""
        return f"{self} (git {self.git})" if self.git else str(self)

    def fits(self, specifier: str) -> bool:
        """Whether a PEP 440 range such as ``>=2.13,<2.15`` contains it. Raises InvalidSpecifier, a ValueError.

        A nightly, a release candidate and a build from source count as the release that they lead to.
        """
        from packaging.specifiers import SpecifierSet  # here: most verbs that name a release compare none

        numbers = _NUMBERS.match(self.release)
        return SpecifierSet(specifier).contains(numbers[0]) if numbers is not None else False

    def to_versions(self) -> dict[str, str]:
        """Its fields among the versions that a run or a finding records."""
        fields = {"torch": self.release, "build": self.build, "git": self.git}
        return {name: value for name, value in fields.items() if value}

    @classmethod
    def from_versions(cls, versions: Mapping[str, Any]) -> Release:
        """What a run or a finding recorded; empty where it recorded nothing of torch."""
        return cls(*(str(versions.get(name, "")) for name in ("torch", "build", "git")))


def checked_range(specifier: str) -> str:
    """Validate a range for ``Release.fits``; returns it. Raises ValueError, in one line."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(specifier)
    except InvalidSpecifier:
        raise ValueError(f"{specifier!r} is no range of versions such as '>=2.13,<2.15'") from None
    return specifier


@functools.cache
def this_release() -> Release:
    """The release of this interpreter. Raises NoTorch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise NoTorch("this Python has no torch")
    file = Path(next(iter(spec.submodule_search_locations)), "version.py")
    try:
        return _parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoTorch(f"{file}: gives no version of torch: {error}") from None


def release_of(python: str) -> Release:
    """The release of another interpreter, which is started but does not import torch. Raises NoTorch."""
    try:
        ended = subprocess.run(
            [python, "-c", _PRINT_VERSION],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
    except OSError as error:
        raise NoTorch(f"{python}: does not start: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise NoTorch(f"{python}: does not say within {SECONDS:g} s which torch it has") from None
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines()
        raise NoTorch(f"{python}: {lines[-1].strip() if lines else f'ends with exit status {ended.returncode}'}")
    try:
        return _parse(ended.stdout)
    except ValueError as error:
        raise NoTorch(f"{python}: does not say which torch it has: {error}") from None


def _parse(text: str) -> Release:
    """The release in the text of a ``version.py``. Raises ValueError for other text."""
    values: dict[str, Any] = {}
    try:
        body = parse(text).body
    except SyntaxError:
        raise ValueError("it is no Python") from None
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=value)):
                values[name] = value
    version = values.get("__version__")
    if not isinstance(version, str) or not version:
        raise ValueError("it has no __version__")
    release, _, local = version.partition("+")
    labelled = _BUILD.match(local)
    git = "" if _FINAL.fullmatch(release) else str(values.get("git_version") or "")
    return Release(release, labelled[0] if labelled is not None else _built_for(values), git)


def _built_for(values: Mapping[str, Any]) -> str:
    """The build of a version without the label that pytorch.org gives it: conda's, a distribution's, one's own."""
    cuda, hip = values.get("cuda"), values.get("rocm") or values.get("hip")
    if cuda:
        return "cu" + "".join(str(cuda).split(".")[:2])
    if hip:
        return "rocm" + ".".join(str(hip).split(".")[:2])
    return "xpu" if values.get("xpu") else "cpu"
