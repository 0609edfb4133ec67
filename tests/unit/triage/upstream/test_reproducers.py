"""Every reproducer that eqfuzz writes has a form as a function, which ends as the script does."""

import ast
import runpy
from unittest import mock

import pytest
import torch

from eqfuzz.oracle.compare.verdict import FINDINGS, Evidence
from eqfuzz.report.issue import without_docstring
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.reproducer.script import write_reproducer
from eqfuzz.triage.upstream.boolean_function import boolean_function
from tests.unit.triage.reproducer.scripts import compile_nothing, judge
from tests.unit.triage.reproducer.test_reproducer import described, finding_of

INDUCTOR = Config(name="inductor")


@pytest.mark.parametrize("kind", sorted(FINDINGS))
def test_reproducer_of_each_kind_is_a_function(kind):
    finding = finding_of(kind, Evidence(1, "output['p'].a", (69, 2), 0, 0, None, 1e-6))
    script = without_docstring(write_reproducer(finding, INDUCTOR, described(finding), preload=None).text)
    converted = boolean_function(script)
    assert converted.backend == "inductor"
    ast.parse(converted.text)
    assert "backend=BACKEND" in converted.text
    assert converted.text.startswith("from __future__ import annotations\n")


@pytest.mark.parametrize(("factor", "is_right"), [("1", True), ("(2 if torch.compiler.is_compiling() else 1)", False)])
def test_function_returns_whether_nothing_is_wrong(tmp_path, factor, is_right):
    source = "import torch\n\n\ndef program(x):\n    return x * FACTOR\n\n\ndef inputs(rng):\n    yield rng.normal(3)\n"
    broken = judge(source.replace("FACTOR", "(2 if torch.compiler.is_compiling() else 1)"))
    text = boolean_function(without_docstring(broken.script)).text
    script = tmp_path / "test_fn.py"
    script.write_text(text.replace("(2 if torch.compiler.is_compiling() else 1)", factor))
    with mock.patch.object(torch, "compile", compile_nothing):
        assert runpy.run_path(str(script))["test_fn"]() is is_right
