"""Events as JSON lines in the order they occur: to a stream, or appended to a file that survives kill -9."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, TextIO

from eqfuzz.atomic_file import write_atomically
from eqfuzz.events.event import Event
from eqfuzz.report.machine.json_lines import to_line

EVENTS = "events.ndjson"
"""The file with the events of a run, in its folder."""


class EventStream:
    """Writes every event to ``stream`` at once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def handle(self, event: Event) -> None:
        self._stream.write(to_line(event) + "\n")
        self._stream.flush()


class EventFile:
    """Appends every event to ``path``. An incomplete last line, left by a kill, is removed first.

    Lines that a full disk refuses are counted; ``{"event": "gap", "lines": n}`` is written when there is space again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._missing = 0

    def handle(self, event: Event) -> None:
        if self._file is None:
            _cut_to_last_line(self._path)
            self._file = self._path.open("ab", buffering=0)
        gap = f'{{"event": "gap", "lines": {self._missing}}}\n' if self._missing else ""
        data = (gap + to_line(event) + "\n").encode()
        size = os.fstat(self._file.fileno()).st_size
        try:
            written = self._file.write(data)
        except OSError:
            written = None
        if written == len(data):
            self._missing = 0
            return
        os.ftruncate(self._file.fileno(), size)
        self._missing += 1

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class StatsFile:
    """Writes ``figures()`` to ``path``, atomically, every ``every`` seconds and at the end."""

    def __init__(self, path: Path, figures: Callable[[], Mapping[str, Any]], every: float = 5.0) -> None:
        self._path = path
        self._figures = figures
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="stats", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._path.parent.is_dir():
            self._write()

    def _keep(self) -> None:
        while not self._ended.wait(self._every):
            if self._path.parent.is_dir():
                self._write()

    def _write(self) -> None:
        figures = {"updated": round(time.time(), 1), **self._figures()}
        with contextlib.suppress(OSError):  # a full disk: the next write replaces it
            write_atomically(self._path, json.dumps(figures, indent=2) + "\n")


def _cut_to_last_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)
