"""Programs as files by the hash of their text: written once, whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

from eqfuzz.atomic_file import write_atomically
from eqfuzz.campaign.store.errors import StoreError, file_error

_DIGEST_BYTES = 16


class ProgramFiles:
    """``programs/ab/abcd….py`` below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._programs = folder / "programs"

    def put(self, text: str) -> str:
        """Keep ``text``; returns its digest, 32 hex digits. Raises StoreError."""
        data = text.encode("utf-8", "surrogatepass")
        digest = _digest(data)
        path = self.path(digest)
        try:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, data, durable=True)
        except OSError as error:
            raise file_error(error, path) from None
        return digest

    def path(self, digest: str) -> Path:
        return self._programs / digest[:2] / f"{digest}.py"

    def get(self, digest: str) -> str:
        """The text again. Raises StoreError where it is not there or is another."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise file_error(error, path) from None
        if _digest(data) != digest:
            raise StoreError(f"{path}: is not what was stored; its digest is {_digest(data)}")
        return data.decode("utf-8", "surrogatepass")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
