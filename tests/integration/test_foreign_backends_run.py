"""A fault in another compiler: found, attributed to it, reproduced by a script that needs no eqfuzz."""

import os
import re
import subprocess
import sys

import pytest

from eqfuzz.triage.findings.folder import read_finding
from tests.commandline import mutate

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

FAULT = """
import onnxruntime

run = onnxruntime.InferenceSession.run


def wrong(self, names, inputs):
    return [one + one.dtype.type(0.25) if one.dtype.kind == "f" else one for one in run(self, names, inputs)]


onnxruntime.InferenceSession.run = wrong
"""

SEED = """
import torch


def program(x, y):
    return (x.sin() + y).sum(1)


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(3, 4)
"""


@pytest.mark.slow
@pytest.mark.long
def test_fault_of_another_compiler_is_attributed_to_it(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(FAULT)
    (tmp_path / "seed.py").write_text(SEED)
    faulty = tmp_path / "python"
    faulty.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    faulty.chmod(0o755)
    monkeypatch.setenv("EQFUZZ_ONNXRUNTIME_PYTHON", str(faulty))
    for third_opinion in ("OPENVINO", "TVM_RELAX"):
        monkeypatch.setenv(f"EQFUZZ_{third_opinion}_PYTHON", str(tmp_path / "not_installed"))

    options = ["--config", "onnxruntime", "--strategy", "none", "--no-check", "audit,draws"]
    run = mutate(tmp_path / "seed.py", *options, out=tmp_path / "out")

    assert run.code == 1, run.errors
    [event] = run.of("finding")
    assert event["verdict"]["kind"] == "wrong-result"
    finding = read_finding(tmp_path / "out" / "findings" / event["id"])
    assert finding.stage == "ONNX Runtime, or the export to ONNX"
    script = next((tmp_path / "out" / "findings" / event["id"]).glob("repro.py"))
    assert not re.search(r"^\s*(from|import) eqfuzz", script.read_text(), re.MULTILINE)
    for interpreter, status in ((str(faulty), 1), (sys.executable, 0)):
        environment = {**os.environ, "EQFUZZ_ONNXRUNTIME_PYTHON": interpreter, "PYTHONPATH": ""}
        ended = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == status, ended.stdout + ended.stderr
