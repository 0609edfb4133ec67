"""What a run without a fault has shown, kept beside the journal: sittings that go on need not see it again."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

import eqfuzz
from eqfuzz.atomic_file import write_atomically
from eqfuzz.program.parsing import parse
from eqfuzz.program.release import this_release
from tools.fault_detection.corpus import Entry
from tools.fault_detection.hunt import Hunt, Hunter, Place, Record
from tools.fault_detection.reach import Replaced


class CleanRun:
    """The file for the runs of ``entries``, of whose lines those count that are ``replaced``; None keeps nothing."""

    def __init__(self, journal: Path | None, entries: Sequence[Entry], replaced: Iterable[Replaced]) -> None:
        self._file = None if journal is None else journal.with_name(f"{journal.name}.{this_release().release}.clean.gz")
        self._paths = [str(entry.path) for entry in entries]
        self._masks: dict[str, int] = {}
        for one in replaced:
            for path, lines in one.lines.items():
                self._masks[path] = self._masks.get(path, 0) | sum(1 << line for line in lines)
        digest = hashlib.sha256(f"{torch.__version__} {sorted(self._masks.items())}".encode())
        for source in sorted(Path(eqfuzz.__file__).parent.rglob("*.py")):
            digest.update(source.read_bytes())  # another judge may see other things
        for entry in entries:
            # Variants name the folder of their seed in a comment.
            digest.update(ast.dump(parse(entry.path.read_text(encoding="utf-8"))).encode())
        self._digest = digest.hexdigest()

    def restore(self, hunter: Hunter) -> bool:
        """Give ``hunter`` what one before it has seen of the same programs; False where that is not kept."""
        if self._file is None or not self._file.exists():
            return False
        kept = json.loads(gzip.decompress(self._file.read_bytes()))
        if kept["digest"] != self._digest:
            return False
        quiet = {self._place(at): is_quiet for at, is_quiet in kept["quiet"]}
        cells = Counter({self._place(at): count for at, count in kept["cells"]})
        lines = {self._place(at): files for at, files in kept["lines"]}
        costs = {self._paths[number]: cost for number, cost in kept["costs"]}
        hunter.record = Record(quiet, cells, lines, costs)
        hunter.hunt = Hunt(None, None, **kept["hunt"])
        return True

    def keep(self, hunter: Hunter) -> None:
        """Unless it has found what it should not: that is to be seen again."""
        if self._file is None or hunter.hunt.found or hunter.hunt.error:
            return
        numbers = {path: number for number, path in enumerate(self._paths)}

        def told(values: Mapping[Place, Any]) -> list[Any]:
            return [[[phase, numbers[path]], value] for (phase, path), value in values.items()]

        hunt, record = hunter.hunt, hunter.record
        kept = {
            "digest": self._digest,
            "hunt": {"cells": hunt.cells, "seconds": hunt.seconds, "passed_over": hunt.passed_over},
            "quiet": told(record.quiet),
            "cells": told(record.cells),
            "lines": told({place: self._masked(files) for place, files in record.lines.items()}),
            "costs": [[numbers[path], cost] for path, cost in record.costs.items()],
        }
        write_atomically(self._file, gzip.compress(json.dumps(kept).encode()))

    def _place(self, at: tuple[str, int]) -> Place:
        phase, number = at
        return phase, self._paths[number]

    def _masked(self, files: Mapping[str, str]) -> dict[str, str]:
        return {path: f"{int(bits, 16) & self._masks[path]:x}" for path, bits in files.items() if path in self._masks}
