"""Scripts are run while their models are recorded; what was recorded is checked as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eqfuzz.imports.recordings import StoredRecording
from eqfuzz.triage.reproducer.script_files import VALUES
from tests.commandline import write
from tests.integration.test_check import checked
from tests.integration.test_imported_package import SHIFTED_RELU

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SCRIPTS = Path(__file__).parents[1] / "data" / "scripts"

USES = """
    import torch


    class Doubled(torch.nn.Module):
        def forward(self, x, others=None):
            return x * 2


    @torch.compile
    def halved(x):
        return x / 2


    model = Doubled()
    WHAT
"""


def record(folder: Path, *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    command = [sys.executable, "-m", "eqfuzz", "record", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout, done.stderr


def test_training_script_is_recorded(tmp_path: Path):
    code, output, errors = record(tmp_path, "--", sys.executable, SCRIPTS / "train_shapes.py")
    assert code == 0, errors
    assert "loss " in output
    assert "ShapeNet: 2 calls, " in output


@pytest.mark.long
def test_recording_is_checked_and_its_values_stay_private(tmp_path: Path):
    code, _, errors = record(tmp_path, "--", sys.executable, SCRIPTS / "train_shapes.py")
    assert code == 0, errors
    preload = write(tmp_path, "relu.py", SHIFTED_RELU)
    file = "eqfuzz-recordings/ShapeNet.recording"
    code, outcomes = checked(tmp_path, file, "--variants", "0", "--time", "12m", "--preload", str(preload))
    assert code == 1
    assert outcomes["forward and backward"] == "differs"
    assert "invalid" not in outcomes.values()
    findings = sorted((tmp_path / "out" / "findings").iterdir())
    scripts = [(folder / "repro.py").read_text() for folder in findings if (folder / VALUES).exists()]
    assert scripts
    assert not [script for script in scripts if "unpack(" in script or "load_state_dict" in script]


def test_inference_script_is_recorded(tmp_path: Path):
    code, output, errors = record(tmp_path, "--format", "json", "--", sys.executable, SCRIPTS / "tag_words.py")
    assert code == 0
    assert "birds/" in errors
    (model,) = json.loads(output)["models"]
    assert model["name"] == "Tagger"
    assert model["calls"] == ["{numbers: int64[2, 7], mask: bool[2, 7]}", "{numbers: int64[2, 10], mask: bool[2, 10]}"]


def test_chosen_functions_and_submodules_are_recorded(tmp_path: Path):
    script = SCRIPTS / "train_shapes.py"
    code, output, _ = record(tmp_path, "--module", "Residual", "--calls", 1, "--", sys.executable, script)
    assert code == 0
    assert "Residual: 1 call, " in output
    assert "Residual-2.recording" in output
    script = write(tmp_path, "uses.py", USES.replace("WHAT", "halved(torch.ones(3)), model(torch.ones(2))"))
    code, output, _ = record(tmp_path, "--", sys.executable, script)
    assert (code, output.splitlines()[0][:15]) == (0, "halved: 1 call,")
    assert "Doubled" not in output


def test_tests_and_packages_are_recorded(tmp_path: Path):
    write(tmp_path, "test_uses.py", USES.replace("WHAT", "def test_model(): assert model(torch.ones(2)).sum() == 4"))
    code, output, errors = record(tmp_path, "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert code == 0, errors
    assert "Doubled: 1 call, " in output
    (tmp_path / "app").mkdir()
    write(tmp_path / "app", "__main__.py", USES.replace("WHAT", "model(torch.ones(2))"))
    code, output, errors = record(tmp_path, "--", sys.executable, "-m", "app")
    assert code == 0, errors
    recording = StoredRecording.read(tmp_path / "eqfuzz-recordings" / "Doubled.recording")
    assert recording.module == "app.__main__"


@pytest.mark.parametrize(
    ("what", "options", "message"),
    [
        ("raise SystemExit(3)", (), "ended with exit status 3: nothing is recorded"),
        ("print(model)", (), "calls no model: nothing is recorded"),
        ("model(torch.ones(2))", ("--module", "Other"), "calls nothing named Other: nothing is recorded"),
        (
            "model(torch.ones(2), (i for i in ()))",
            ("--module", "Doubled"),
            "Doubled: the inputs of call 0 cannot be saved",
        ),
        (
            "model(torch.ones(1024, 1024))",
            ("--module", "uses:Doubled,__main__:Doubled", "--limit", "1"),
            "of which 1.0 MB are recorded: set a larger --limit",
        ),
    ],
)
def test_nothing_recorded_is_one_line(tmp_path: Path, what: str, options: tuple[str, ...], message: str):
    script = write(tmp_path, "uses.py", USES.replace("WHAT", what))
    code, _, errors = record(tmp_path, *options, "--", sys.executable, script)
    assert code == 2
    (line,) = [line for line in errors.splitlines() if line.startswith("eqfuzz: ")]
    assert message in line
    assert "Traceback" not in errors
