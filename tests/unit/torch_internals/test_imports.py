"""What is there before torch, or without it, does not import it."""

import subprocess
import sys

import pytest

ALONE = (
    "bisector",
    "caches",
    "contract",
    "control_flow",
    "options",
    "shortcuts",
    "source_tree",
)


@pytest.mark.parametrize(
    "modules",
    [
        [f"eqfuzz.torch_internals.{name}" for name in ALONE],
        ["eqfuzz.run.processes.worker", "eqfuzz.run.processes.zygote"],
        ["eqfuzz.triage.findings.stage", "eqfuzz.run.configs.named"],
    ],
    ids=["the package", "processes that fork", "places"],
)
def test_torch_is_not_imported(modules: list[str]):
    code = f"import sys, {', '.join(modules)}; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
