"""Atomic writes: files and folders that appear complete under their name, or not at all.

The content goes to a temporary name in the same folder and is then renamed, so readers and concurrent writers see the
old content or the new, and a killed process leaves the old. Temporary names begin with a dot and hold 64 random bits:
threads, forked processes and machines that share a disk never use the same one. A killed process may leave its
temporary file behind.

Without ``durable``, a crash of the whole machine may lose what was written shortly before. With it, content and name
are on the disk (``fsync``) when the call returns.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Create or replace the file ``path``; text is encoded as UTF-8. Raises OSError."""
    with replacement_of(path, durable=durable) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacement_of(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield the temporary path of a file that replaces ``path`` at the end of the block, which has to create it.

    Where the block raises, the temporary file is removed and ``path`` stays as it is. Raises OSError.
    """
    temporary = _temporary(path)
    try:
        yield temporary
        if durable:
            _flush(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        _flush(path.parent)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that becomes ``path`` at the end of the block.

    Where another process has created ``path`` in the meantime, that one stays and the new one is removed, as it is
    where the block raises. Raises OSError.
    """
    temporary = _temporary(path)
    temporary.mkdir()
    try:
        yield temporary
        try:
            temporary.rename(path)
        except OSError:
            if not path.exists():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # only there if it was not renamed


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}-{secrets.token_hex(8)}")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
