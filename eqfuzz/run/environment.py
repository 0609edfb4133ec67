"""Folders of a run, and the environment variables of its processes."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path

KERNELS = "eqfuzzKERNELS"
"""The environment variable that names the folder of kernels built together, see ``kernels.cache``."""


@dataclasses.dataclass(frozen=True)
class Environment:
    """The folder of a run, and a file to execute in every process that uses torch.

    ``out``: everything is written below it. ``preload``: Python source executed right after ``import torch`` and before
    anything compiles, as a module named ``eqfuzz_preload``. ``extra``: further environment variables. ``shown``: files
    and folders that are also visible in a sandbox, such as the user's rules. ``unsafe``: where there is no sandbox,
    untrusted programs run without one.
    """

    out: Path
    preload: Path | None = None
    extra: tuple[tuple[str, str], ...] = ()
    shown: tuple[Path, ...] = ()
    unsafe: bool = False

    def caches(self) -> Path:
        """Folders below ``out`` that compilers cache in; a missing file is built again."""
        return self.out.absolute() / "cache"

    def cache_dir(self) -> Path:
        """The folder of compiled kernels: one for each content of the preload file, which may change them.

        Raises ``OSError`` if the preload file cannot be read.
        """
        if self.preload is None:
            name = "plain"
        else:
            name = hashlib.sha256(self.preload.read_bytes()).hexdigest()[:12]
        return self.caches() / name

    def temporary_dir(self) -> Path:
        """The absolute path that processes have as TMPDIR."""
        return self.out.absolute() / "tmp"

    def keep_caches_here(self) -> None:
        """Put the caches of this process below ``out`` too: importing Dynamo creates a folder."""
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(self.cache_dir()))

    def variables(self, *, cuda: bool, cache: Path | None = None) -> dict[str, str]:
        """All environment variables of a process that may import torch."""
        kernels = self.caches() / "kernels"
        own = self.settings(
            temporary=self.temporary_dir(), cache=(cache or self.cache_dir()).absolute(), kernels=kernels
        )
        return {**os.environ, **own, **({} if cuda else {"CUDA_VISIBLE_DEVICES": ""})}

    def settings(self, *, temporary: Path, cache: Path, kernels: Path) -> dict[str, str]:
        """The variables that eqfuzz sets for a process that may import torch.

        One thread: a child forked from a process whose OpenMP pool has run with two hangs in its first parallel
        region, and Inductor's compile workers would be such a pool too.
        """
        return {
            "OMP_NUM_THREADS": "1",
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(cache),
            "TMPDIR": str(temporary),
            KERNELS: str(kernels),
            **dict(self.extra),
        }
