"""Journals of long measurements: results by key in a file of JSON lines, which a later call reads."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from eqfuzz.errors import UsageError, one_line


class Journal:
    """The results in ``file``, in the order in which they were added; threads may share it.

    A last line that a killed process has not completed is dropped. Raises UsageError for any other line that is none,
    and for a file that cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        try:
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            whole = text[: text.rfind("\n") + 1]
            if whole != text:
                file.write_text(whole, encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot be read: {one_line(str(error))}; choose another folder") from None
        self._results: dict[str, Any] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                key, result = json.loads(line)
                self._results[key] = result
            except (ValueError, TypeError) as error:
                raise UsageError(f"{file}:{number}: is no result ({one_line(str(error))}); remove the line") from None

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The result of ``key``, made and added if there is none."""
        if key not in self._results:
            self.add(key, make())
        return self._results[key]

    def add(self, key: str, result: Any) -> None:
        with self._lock, self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps([key, result]) + "\n")
            self._results[key] = result

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(list(self._results.items()))
