"""``eqfuzz audit`` through the command line: suspects, clean programs, programs that cannot be audited."""

from __future__ import annotations

import json

import pytest

from tests.commandline import eqfuzz, write
from tests.live_defects import AMIN, only_with

pytestmark = pytest.mark.slow

HEAD = """
    import os
    import torch
"""
INPUTS = """
    def inputs(rng):
        yield rng.normal(48, 48)
"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")

    def seed(name, body):
        write(folder, name, f"{HEAD}\n    def program(x):\n        {body}\n{INPUTS}")

    seed("amin.py", "few = (x.abs() + 5).to(torch.int8)\n        return few.amin(-1) * 2")
    seed("right.py", "return (x * 2).sum(0)")
    seed("raising.py", "raise ValueError('no')")
    seed("dying.py", "os.abort() if torch.compiler.is_compiling() else x\n        return x.sin()")
    write(folder, "text.py", "this is no Python")
    done = eqfuzz("audit", folder, "--format", "json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return done, {e["file"].rsplit("/", 1)[1]: e for e in events if e["event"] == "audited"}, events[-1]


@only_with(AMIN)
def test_wrong_operator_is_named_with_its_line(audited):
    done, files, summary = audited
    assert done.returncode == 1, done.stderr
    assert summary["event"] == "summary", done.stderr
    assert summary["files"] == 5, done.stderr
    (suspect,) = files["amin.py"]["audit"]["suspects"]
    assert suspect["operator"] == "aten.amin.default"
    assert suspect["place"]["text"] == "return few.amin(-1) * 2"
    assert suspect["found"]["wrong_elements"] > 5


def test_correct_program_has_no_suspect(audited):
    _, files, summary = audited
    right = files["right.py"]
    assert right["audit"]["suspects"] == []
    assert right["audit"]["audited"] >= 2
    assert right["verdict"]["kind"] == "agree"
    assert summary["suspects"] == len(files["amin.py"]["audit"]["suspects"])


def test_program_that_cannot_be_audited_has_reason(audited):
    _, files, _ = audited
    assert files["raising.py"]["audit"] is None
    assert files["raising.py"]["ended"] == "raises in eager: ValueError: no"
    assert "not valid Python" in files["text.py"]["ended"]
    assert files["dying.py"]["audit"] is None
    assert files["dying.py"]["ended"].endswith("compiled")


def test_file_without_seed_is_usage_error(tmp_path):
    done = eqfuzz("audit", write(tmp_path, "text.py", "this is no Python"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "no program could be audited" in done.stderr
