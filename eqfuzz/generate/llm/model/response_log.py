"""Response log: a write-ahead log of JSON lines; an entry is synced to disk before anything relies on it."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import filelock

from eqfuzz.closeable import Closeable


class InvalidResponseLog(Exception):
    """The file is in use, cannot be written or is damaged; ``str()`` is one line."""


class ResponseLog(Closeable):
    """An append-only file, used by one process at a time. ``entries`` are those that it had when it was opened.

    A last line without a line break was being written when the process died, and is removed. Raises InvalidResponseLog.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._in_use = filelock.FileLock(path.with_name(f".{path.name}.lock"), blocking=False, thread_local=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._in_use.acquire()
            self._stream = path.open("a+b")
        except filelock.Timeout:
            raise InvalidResponseLog(
                f"{path}: another run is using it: wait for its end, or choose another --out"
            ) from None
        except OSError as error:
            self._in_use.release()
            raise InvalidResponseLog(f"{path}: {error.strerror}") from None
        try:
            self.entries = self._read()
        except InvalidResponseLog:
            self.close()
            raise

    def _read(self) -> list[dict[str, Any]]:
        self._stream.seek(0)
        whole, end, rest = self._stream.read().rpartition(b"\n")
        if rest:
            self._stream.truncate(len(whole) + len(end))
        entries: list[dict[str, Any]] = []
        for number, line in enumerate(whole.split(b"\n") if whole else [], 1):
            try:
                entry = json.loads(line)
            except ValueError:
                entry = None
            if not isinstance(entry, dict):
                raise InvalidResponseLog(f"{self.path}:{number}: damaged: no JSON object; choose another --out")
            entries.append(entry)
        return entries

    def append(self, entry: dict[str, Any]) -> None:
        """Write ``entry``; it is on disk when this returns."""
        line = json.dumps(entry).encode() + b"\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def close(self) -> None:
        self._stream.close()
        self._in_use.release()
