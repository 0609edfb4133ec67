"""Ctrl-C while modules are imported."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("module", ["typer", "numpy", "libcst"])
def test_interrupt_during_import_is_one_line_and_exit_130(tmp_path: Path, module: str) -> None:
    """Right after ``module``: half of what needs it is there."""
    command = [sys.executable, "-X", "importtime", "-m", "eqfuzz", "campaign", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.split("|")[-1].strip().split(".")[0] == module:
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=300)
    lines = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert process.returncode == 130
    assert lines == ["eqfuzz: interrupted"]
    assert not output
