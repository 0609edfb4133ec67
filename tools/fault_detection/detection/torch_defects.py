"""Defects that torch has without any planted fault."""

from __future__ import annotations

import ast
import shutil
import tempfile
from pathlib import Path

from eqfuzz.program.parsing import parse
from eqfuzz.triage.confirm.replay import FIXED, replay


class TorchDefects:
    """Distinguishes findings of torch's own defects from those of a planted fault.

    Results are kept by the reproducer's code, since torch's own defects are the same under every fault.
    """

    def __init__(self) -> None:
        self._results: dict[str, bool] = {}

    def includes(self, finding: Path) -> bool:
        """Whether the reproducer in the folder ``finding`` fails in a fresh process without its ``preload.py``."""
        script = (finding / "repro.py").read_text(encoding="utf-8")
        key = ast.dump(ast.Module(parse(script).body[1:], []))  # the docstring names the finding
        if key not in self._results:
            with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as bare:
                shutil.copyfile(finding / "repro.py", Path(bare) / "repro.py")
                self._results[key] = replay(Path(bare)).status != FIXED
        return self._results[key]
