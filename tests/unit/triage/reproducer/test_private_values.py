"""Scripts of private programs: inputs and parameters lie in a file beside them, unless the user wants them inside."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.folder import put_reduced, write_folder
from eqfuzz.triage.reproducer.script import write_reproducer
from eqfuzz.triage.reproducer.script_files import READ_VALUES, VALUES, ReproducerScript, copy_script
from eqfuzz.triage.reproducer.short import short_reproducer
from tests.unit.triage.findings import finding_of
from tests.unit.triage.reproducer.scripts import CONFIG, Judged, judge, run

SEED = """\
# /// eqfuzz
# source = "python"
# private = true
# ///
import torch


class Own:
    pass


class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(2))

    def forward(self, x, own):
        y = x * self.scale
        return y + own.shift if torch.compiler.is_compiling() else y


def inputs(rng):
    own = Own()
    own.shift = 7654.25
    yield torch.tensor([1234.5, 8765.5]), own
"""
SECRETS = ("1234.5", "8765.5", "7654.25")


@pytest.fixture(scope="module")
def judged() -> Judged:
    return judge(SEED)


@pytest.fixture(scope="module")
def script(judged: Judged) -> ReproducerScript:
    return write_reproducer(judged.finding, CONFIG, judged.described, None)


def test_values_are_beside_the_script(judged: Judged, script: ReproducerScript):
    assert judged.finding.original.private
    assert [text for text in SECRETS if text in script.text] == []
    assert "load_state_dict" not in script.text
    assert all(text in script.values for text in SECRETS)
    assert short_reproducer(judged.finding, CONFIG, judged.described, None) is None


def test_script_fails_with_the_file_and_as_one_text(script: ReproducerScript, tmp_path: Path):
    script.write(tmp_path)
    assert ReproducerScript.read(tmp_path) == script
    assert run(tmp_path, script.text).status == 1
    (tmp_path / VALUES).unlink()
    assert READ_VALUES not in script.with_values
    assert run(tmp_path, script.with_values).status == 1


def test_values_follow_the_script(judged: Judged, script: ReproducerScript, tmp_path: Path):
    folder = write_folder(tmp_path / "findings", judged.finding, script, None)
    (tmp_path / "elsewhere").mkdir()
    copy_script(folder, judged.finding.original, tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / VALUES).read_text() == script.values
    put_reduced(folder, judged.finding, ReproducerScript("plain"))
    assert not (folder / VALUES).exists()
    assert ReproducerScript.read(folder / "unreduced") == script


def test_a_public_program_has_its_values_inside(judged: Judged):
    public = dataclasses.replace(judged.finding.original, private=False)
    finding = dataclasses.replace(judged.finding, original=public)
    script = write_reproducer(finding, CONFIG, judged.described, None)
    assert script.values == ""
    assert "8765.5" in script.text


def test_functions_of_few_values_have_no_short_script():
    text = (
        SEED.split("import torch")[0]
        + "import torch\ndef program(x):\n    return x\ndef inputs(rng):\n    yield torch.tensor(1.5)\n"
    )
    finding = finding_of(VerdictKind.WRONG_RESULT, source=text)
    assert finding.original.private
    assert short_reproducer(finding, Config(name="inductor"), judge(text).described, None) is None
