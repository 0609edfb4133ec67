"""Cache of built kernels on disk, for all jobs of a run and for later runs.

A kernel's key is its source text and the options that it is built under, so nothing that changes the compiler (a
planted fault, a preload) can make an entry wrong, as it can in the graph caches of torch.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.atomic_file import replacement_of, write_atomically
from eqfuzz.run.environment import KERNELS
from eqfuzz.run.kernels.deferred import Built, Kernel


class KernelCache:
    """Kernels by key; in memory only if the environment names no folder."""

    def __init__(self) -> None:
        self._known: dict[str, Built | None] = {}
        place = os.environ.get(KERNELS)
        self._folder = Path(place) if place else None

    def __contains__(self, kernel: Kernel) -> bool:
        if kernel.key not in self._known and self._folder is not None:
            try:
                entry = json.loads((self._folder / f"{kernel.key}.json").read_text(encoding="utf-8"))
                library = self._folder / entry["library"]
                os.utime(library)  # marks it as used; fails if it was removed
            except (OSError, ValueError):
                return False
            self._known[kernel.key] = Built(str(library), entry["name"])
        return kernel.key in self._known

    def __getitem__(self, kernel: Kernel) -> Built | None:
        """Where the kernel is; None if it could not be built."""
        return self._known[kernel.key]

    def refuse(self, kernel: Kernel) -> None:
        """Remember that the compiler rejects it."""
        self._known[kernel.key] = None

    def add(self, kernels: Sequence[Kernel], built: Sequence[Built]) -> None:
        """Add kernels that one run of the compiler has built into one library."""
        for kernel, where in zip(kernels, built, strict=True):
            self._known[kernel.key] = where
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            library = Path(built[0].path)
            with replacement_of(self._folder / library.name) as file:
                shutil.copyfile(library, file)
            for kernel, where in zip(kernels, built, strict=True):
                entry = {"library": library.name, "name": where.name}
                write_atomically(self._folder / f"{kernel.key}.json", json.dumps(entry))
        except OSError:  # a full disk, for example: the kernels stay in memory
            return
