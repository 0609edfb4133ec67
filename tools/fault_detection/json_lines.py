"""A file of JSON objects, one a line, that survives being cut off."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path
from typing import Any


class JsonLines:
    """Appends objects from any thread. The file is created when needed; with None nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._lock = threading.Lock()

    def read(self) -> list[dict[str, Any]]:
        """All objects, without lines that were cut off."""
        objects: list[dict[str, Any]] = []
        if self._file is not None and self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):
                    objects.append(json.loads(line))
        return objects

    def add(self, entry: dict[str, Any]) -> None:
        """Append an object. It begins with the line break, so that a line that was cut off does not spoil it."""
        if self._file is not None:
            with self._lock, self._file.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(entry))
