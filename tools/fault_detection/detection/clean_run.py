"""Store of the clean run, the run without a fault, beside the journal: resumed sessions need not repeat it."""

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
from tools.fault_detection.corpus.corpus import Entry
from tools.fault_detection.detection.phases import PhaseProgram
from tools.fault_detection.detection.reach import ReplacedLines
from tools.fault_detection.detection.result import DetectionResult
from tools.fault_detection.detection.runner import DetectionRunner, Observations


class CleanRunFile:
    """The file for clean runs of ``entries``; with ``journal`` None nothing is kept.

    Of covered lines only those are stored that a fault replaces. The file is valid for the same programs, sources of
    eqfuzz, torch and replaced lines.
    """

    def __init__(self, journal: Path | None, entries: Sequence[Entry], replaced: Iterable[ReplacedLines]) -> None:
        self._file = None if journal is None else journal.with_name(f"{journal.name}.{this_release().release}.clean.gz")
        self._paths = [str(entry.path) for entry in entries]
        self._masks: dict[str, int] = {}
        for fault_lines in replaced:
            for path, lines in fault_lines.lines.items():
                self._masks[path] = self._masks.get(path, 0) | sum(1 << line for line in lines)
        digest = hashlib.sha256(f"{torch.__version__} {sorted(self._masks.items())}".encode())
        for source in sorted(Path(eqfuzz.__file__).parent.rglob("*.py")):
            digest.update(source.read_bytes())  # other oracles may see other differences
        for entry in entries:
            # Variants name the folder of their seed in a comment.
            digest.update(ast.dump(parse(entry.path.read_text(encoding="utf-8"))).encode())
        self._digest = digest.hexdigest()

    def restore(self, runner: DetectionRunner) -> bool:
        """Give ``runner`` the stored result and observations; False where there are none for the same programs."""
        if self._file is None or not self._file.exists():
            return False
        content = json.loads(gzip.decompress(self._file.read_bytes()))
        if content["digest"] != self._digest:
            return False
        quiet = {self._key(at): is_quiet for at, is_quiet in content["quiet"]}
        cells = Counter({self._key(at): count for at, count in content["cells"]})
        lines = {self._key(at): files for at, files in content["lines"]}
        costs = {self._paths[number]: cost for number, cost in content["costs"]}
        dropped = {self._paths[number]: results for number, results in content["dropped"]}
        runner.observations = Observations(quiet, cells, lines, costs, dropped)
        runner.result = DetectionResult(None, None, **content["result"])
        return True

    def save(self, runner: DetectionRunner) -> None:
        """Store what ``runner`` has seen, unless it had a false alarm or an error: those must be seen again."""
        if self._file is None or runner.result.is_detected or runner.result.error:
            return
        numbers = {path: number for number, path in enumerate(self._paths)}

        def pairs(values: Mapping[PhaseProgram, Any]) -> list[Any]:
            return [[[phase, numbers[path]], value] for (phase, path), value in values.items()]

        result, observations = runner.result, runner.observations
        content = {
            "digest": self._digest,
            "result": {"cells": result.cells, "seconds": result.seconds, "passed_over": result.passed_over},
            "quiet": pairs(observations.quiet),
            "cells": pairs(observations.cells),
            "lines": pairs({key: self._masked(files) for key, files in observations.lines.items()}),
            "costs": [[numbers[path], cost] for path, cost in observations.costs.items()],
            "dropped": [[numbers[path], results] for path, results in observations.dropped.items()],
        }
        write_atomically(self._file, gzip.compress(json.dumps(content).encode()))

    def _key(self, at: tuple[str, int]) -> PhaseProgram:
        phase, number = at
        return phase, self._paths[number]

    def _masked(self, files: Mapping[str, str]) -> dict[str, str]:
        return {path: f"{int(bits, 16) & self._masks[path]:x}" for path, bits in files.items() if path in self._masks}
