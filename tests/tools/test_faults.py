"""The witness of every planted fault agrees with eager without the fault and differs with it."""

import contextlib
import importlib
import operator
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eqfuzz.program.release import this_release
from tools.fault_detection.fault import BLIND, BadFault, Fault, read_fault, read_faults

ALL = [*read_faults(), *read_faults(BLIND)]
FAULTS = [fault for fault in ALL if fault.is_plantable(this_release())]
ROOT = Path(__file__).parents[2]


def run_witness(fault: Fault, folder: Path) -> list[str]:
    """The last two lines that the witness prints in a fresh process."""
    variables = {
        **os.environ,
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    command = [sys.executable, "-m", "tools.fault_detection.witness", str(fault.path), str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-2:]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=[] if number % 60 == 30 else [pytest.mark.long]) for number, fault in enumerate(FAULTS)],
    ids=lambda fault: fault.name,
)
def test_witness_differs_only_under_the_fault(fault, tmp_path):
    assert run_witness(fault, tmp_path) == ["clean: agrees", "planted: differs"]


def test_faults_that_cannot_be_planted_name_what_is_missing():
    for fault in ALL:
        assert fault.lacks == "" or (resolve(fault.lacks) is None) == (fault not in FAULTS), fault.name


def resolve(name: str) -> object | None:
    """The object of a dotted name, None where there is none."""
    for cut in range(name.count("."), 0, -1):
        module = ".".join(name.split(".")[:cut])
        with contextlib.suppress(ImportError, AttributeError):
            return operator.attrgetter(name[len(module) + 1 :])(importlib.import_module(module))
    return None


def test_incomplete_fault_files_are_refused(tmp_path):
    path = tmp_path / "nameless.py"
    text = '"""Wrong.\n\nModelled on https://github.com/pytorch/pytorch/issues/1: wrong."""\nKIND = "lowering"\n'
    path.write_text(text)
    with pytest.raises(BadFault, match="REACHED_BY"):
        read_fault(path)
    text += 'REACHED_BY = "plain"\ndef plant(): ...\ndef witness(): ...\n'
    path.write_text(text)
    with pytest.raises(BadFault, match="last statement"):
        read_fault(path)
    path.write_text('TORCH = "<2.14"\n' + text + "plant()\n")
    with pytest.raises(BadFault):
        read_fault(path)
    path.write_text(text + "plant()\n")
    assert read_fault(path).issue_number == "#1"
