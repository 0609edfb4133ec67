"""Builds many kernels in one run of the C++ compiler: half of the work is common to all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.run.kernels.deferred import Built, Kernel
from eqfuzz.torch_internals.cpp_kernels import build_library, with_binding


def build(kernels: Sequence[Kernel]) -> list[Built]:
    """Compile and link them with torch's own flags and header. Raises what torch raises if that fails."""
    library = build_library(translation_unit(kernels))
    return [Built(library, _module(number)) for number in range(len(kernels))]


def prefer_mold() -> None:
    """Let the C++ compiler link with mold if it is installed, with the same flags, which torch's header requires."""
    mold = shutil.which("mold")
    if mold is None:
        return
    folder = Path(tempfile.gettempdir()) / "linker"
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (folder / "ld").symlink_to(mold)
    os.environ["COMPILER_PATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("COMPILER_PATH")]))


def translation_unit(kernels: Sequence[Kernel]) -> str:
    """One C++ source in which every kernel has, with its Python binding, its own namespace."""
    includes: dict[str, None] = {"#include <Python.h>": None}
    spaces: list[str] = []
    for number, kernel in enumerate(kernels):
        lines = with_binding(kernel.argtypes, kernel.source).splitlines()
        includes |= dict.fromkeys(line.strip() for line in lines if _is_include(line))
        body = "\n".join(line for line in lines if not _is_include(line))
        # Names with C linkage are common to all namespaces, and Python looks for one of them in each module.
        spaces.append(
            f"#define kernel kernel_{number}\n#define PyInit_kernel PyInit_{_module(number)}\n"
            f"namespace unit_{number} {{\n{body}\n}}\n#undef kernel\n#undef PyInit_kernel\n"
        )
    # No text may precede torch's first line: the precompiled header is used only there.
    first = sorted(includes, key=lambda line: "torch" not in line)
    return "\n".join(["#define PY_SSIZE_T_CLEAN", *first, *spaces])


def _module(number: int) -> str:
    return f"kernels_{number}"


def _is_include(line: str) -> bool:
    return line.lstrip().startswith("#include")
