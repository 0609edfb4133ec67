"""The reproducer as a person would write it: whole, right, and only where the finding is that simple."""

import ast
import dataclasses
import subprocess
import sys

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.program.literal import Writer
from eqfuzz.program.load import Loaded
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.reproducer.short import short_reproducer
from eqfuzz.triage.reproducer.source_description import SourceDescription
from tests.unit.triage.findings import finding_of

EAGER = Config(name="eager", backend="eager")

SOURCE = '''
"""A docstring."""
from __future__ import annotations
import torch

def helper(x: torch.Tensor):
    return x * 2

def program(x, n):
    return [helper(x) + n + BIAS, (x > 0) & True, x.sum() + BIAS]

def inputs(rng):
    yield torch.tensor([[0.5, -1.25, 3.0]]), 2
'''

ELEMENT = Evidence(0, "output[0]", (0, 2), 8.0, 9.0, 8.0, 1e-6)
EXACT = Evidence(0, "output[0]", (0, 0), 3.0, 4.0, None, 0.0)
# The eager backend compiles correctly; a program that asks whether it is being compiled stands for the bug.
BROKEN = "(1 if torch.compiler.is_compiling() else 0)"
RAISING = "(__import__('os').stat('/nowhere') if torch.compiler.is_compiling() else 0)"


def simple(kind=VerdictKind.WRONG_RESULT, evidence=ELEMENT, bias="0", source=SOURCE, **changed):
    return finding_of(kind, source=source.replace("BIAS", bias), evidence=evidence, **changed)


def described(finding, **changed):
    loaded, writer = Loaded(finding.transformed), Writer()
    calls = loaded.calls(0)
    body = writer.calls(calls)
    changes = tuple((call.label, call.before, call.within) for call in calls)
    return dataclasses.replace(SourceDescription(body, None, writer.packs, changes), **changed)


def short(finding, config=EAGER, preload=None, **changed):
    return short_reproducer(finding, config, described(finding, **changed), preload)


def run(tmp_path, text):
    (tmp_path / "repro.py").write_text(text)
    done = subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, text=True)
    assert "Traceback" not in done.stderr, text + done.stderr
    return done.returncode, done.stdout


def test_short_script_is_readable():
    text = short(simple(message="output[0] differs"))
    assert text is not None
    body = text.split('"""\n', 2)[-1]
    assert (
        body.split("# The worst element")[0]
        == """\
from __future__ import annotations

import sys

import torch


def helper(x: torch.Tensor):
    return x * 2

def program(x, n):
    return [helper(x) + n + 0, (x > 0) & True, x.sum() + 0]


def inputs():
    return (torch.tensor([[0.5, -1.25, 3.0]], dtype=torch.float32), 2)


"""
    )
    assert "eager = program(*inputs())[0][0, 2].item()\n" in text
    assert "compiled = torch.compile(program, backend='eager')(*inputs())[0][0, 2].item()\n" in text
    assert "reference, allowed = 8.0, 1e-06\n" in text
    assert text.startswith('"""wrong-result under torch.compile(backend=\'eager\') on cpu: eqfuzz finding ')


@pytest.mark.parametrize(
    ("evidence", "lines"),
    [
        (EXACT, ["eager = program(*inputs())[0]", "torch.allclose(compiled, eager, rtol=0, atol=0, equal_nan=True)"]),
        (Evidence(0, "output[1]", (0, 1), False, True, None, 0.0), ["sys.exit(not compiled.equal(eager))"]),
        (Evidence(0, "output[2]", (), 2.25, 3.25, 2.25, 1e-6), ["eager = program(*inputs())[2].item()"]),
        (Evidence(0, "output", (0,), 2.25, 3.25, 2.25, 1e-6), ["eager = program(*inputs())[0].item()"]),
    ],
)
def test_what_is_compared_follows_the_evidence(evidence, lines):
    text = short(simple(evidence=evidence))
    assert text is not None
    assert ast.parse(text)
    assert all(line in text for line in lines), text


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1", "0.5"])
@pytest.mark.parametrize(("bias", "status"), [(BROKEN, 1), ("0", 0)])
def test_arrays_are_compared_as_arrays(tmp_path, number, bias, status):
    source = f"""
import numpy as np
import torch

def program(x):
    return np.add(x.numpy(), {number} + BIAS)

def inputs(rng):
    yield (torch.tensor([1, 2, 3]),)
"""
    evidence = Evidence(0, "output", (0,), 1 + ast.literal_eval(number), 3.0, None, 0.0)
    text = short(simple(evidence=evidence, source=source, bias=bias))
    assert text is not None
    assert run(tmp_path, text)[0] == status


def test_options_are_set_and_a_preload_is_looked_for():
    config = Config(name="x", dynamic=True, inductor={"max_fusion_size": 3}, dynamo={"verbose": True})
    text = short(simple(), config, preload="")
    assert text is not None
    assert ast.parse(text)
    assert "torch.compile(program, dynamic=True)" in text
    assert "torch._inductor.config.max_fusion_size = 3" in text
    assert 'with_name("preload.py")' in text
    assert "import pathlib" in text


MODULE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + BIAS
def inputs(rng):
    yield rng.normal(3)
"""
TWO_CALLS = SOURCE + "    yield torch.tensor([[1.0, 2.0, 3.0]]), 3\n"
NAMED = SOURCE.replace("yield torch.tensor([[0.5, -1.25, 3.0]]), 2", 'yield {"x": torch.ones(1, 3), "n": 2}')
NAN = float("nan")


@pytest.mark.parametrize(
    "finding",
    [
        simple(source=MODULE),
        simple(source=TWO_CALLS),
        simple(source=NAMED),
        simple(source=SOURCE.replace("x * 2", "x * torch.rand_like(x)")),
        simple(source=SOURCE.replace("x * 2", "torch.nn.functional.dropout(x)")),
        simple(source=SOURCE.replace("torch.tensor([[0.5, -1.25, 3.0]])", "rng.normal(40, 40)")),
        simple(evidence=dataclasses.replace(ELEMENT, compiled=NAN)),
        simple(evidence=dataclasses.replace(ELEMENT, eager=float("inf"))),
        simple(evidence=dataclasses.replace(ELEMENT, reference="(1+2j)")),
        simple(evidence=dataclasses.replace(ELEMENT, eager="nan")),
        simple(evidence=dataclasses.replace(ELEMENT, allowed=None)),
        simple(evidence=dataclasses.replace(ELEMENT, index=None)),
        simple(evidence=dataclasses.replace(ELEMENT, path="args[0] after the call")),
        simple(evidence=dataclasses.replace(ELEMENT, call=1)),
        simple(evidence=None),
        *(
            simple(kind)
            for kind in VerdictKind
            if simple(kind).verdict.is_finding and kind not in (VerdictKind.WRONG_RESULT, VerdictKind.COMPILER_CRASH)
        ),
    ],
)
def test_complex_finding_has_no_short_script(finding):
    assert short(finding) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"globals": ("LIMIT",)},
        {"packs": True},
        {"state": "{}"},
        {"changes": (("", "model.train()", ""),)},
        {"changes": (("", "", "torch.no_grad()"),)},
        {"calls": "return [\n    ((1,), {}),\n    ((2,), {}),\n]"},
        {"calls": "return [\n    ((1,), {'n': 2}),\n]"},
        {"calls": "return make()"},
        {"calls": f"return [\n    (({'1' * 1600},), {{}}),\n]"},
    ],
)
def test_complex_description_has_no_short_script(changed):
    assert short(simple(), **changed) is None


def test_arguments_that_share_memory_still_do():
    source = SOURCE.replace(
        "yield torch.tensor([[0.5, -1.25, 3.0]]), 2", "b = torch.arange(6.0)\n    yield b[:4], b[2:]"
    )
    text = short(simple(source=source))
    assert text is not None
    assert ast.parse(text)
    assert "def inputs():\n    base0 = " in text
    assert text.count("base0.as_strided(") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "evidence",
    [
        ELEMENT,
        EXACT,
        pytest.param(Evidence(0, "output[2]", (), 2.25, 3.25, 2.25, 1e-6), marks=pytest.mark.long),
        pytest.param(dataclasses.replace(ELEMENT, allowed=0.0), marks=pytest.mark.long),
    ],
)
def test_script_exits_1_while_the_output_is_wrong(tmp_path, evidence):
    for bias, code in ((BROKEN, 1), ("0", 0)):
        text = short(simple(evidence=evidence, bias=bias))
        assert text is not None
        ended, output = run(tmp_path, text)
        assert ended == code, text + output
        assert "compiled:" in output, text + output


@pytest.mark.slow
def test_script_exits_1_while_compiling_fails(tmp_path):
    for bias, code, printed in ((RAISING, 1, "compiled: raises FileNotFoundError"), ("0", 0, "compiled: returns")):
        text = short(simple(VerdictKind.COMPILER_CRASH, None, bias))
        assert text is not None
        ended, output = run(tmp_path, text)
        assert ended == code, text + output
        assert printed in output, text + output


@pytest.mark.slow
def test_script_runs_under_its_preload(tmp_path):
    plant = "import torch\ntorch.compile = lambda f, **_: lambda *a: [t + 1 for t in f(*a)]\n"
    (tmp_path / "preload.py").write_text(plant)
    text = short(simple(), preload="")
    assert text is not None
    assert run(tmp_path, text)[0] == 1
    (tmp_path / "preload.py").unlink()
    assert run(tmp_path, text)[0] == 0


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"torch": "2.15.0", "build": "cu132", "python": "3.12.3"}, "Seen with torch 2.15.0 cu132, Python 3.12.3."),
        ({"torch": "2.13.0", "python": "3.11.2"}, "Seen with torch 2.13.0, Python 3.11.2."),
        (
            {"torch": "2.16.0.dev20261120", "build": "cpu", "git": "d0f2af8", "python": "3.12.3"},
            "Seen with torch 2.16.0.dev20261120 cpu (git d0f2af8), Python 3.12.3.",
        ),
        ({}, "Seen with torch ?, Python ?."),
    ],
)
def test_the_header_names_release_and_build(environment, expected):
    text = short(simple(environment=FindingEnvironment(**environment)))
    assert expected in ast.get_docstring(ast.parse(text)).splitlines()
