"""Models of a user's own package: imported, rewritten, judged, reported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import eqfuzz, mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PACKAGE = Path(__file__).parents[1] / "data" / "shop"
MODELS = {
    "shop.vision:SmallResNet": ["--inputs", "rng.normal(2, 3, 16, 16)"],
    "shop.net:Net": ["--construct", "Net(Config())", "--inputs", "rng.integers(0, 32, 2, 6)"],
    "shop.text.tagger:Tagger": ["--inputs", "rng.integers(0, 50, 2, 7)"],
}
SHIFTED_RELU = """
    from torch import ops
    from torch._inductor.lowering import lowerings

    relu, add = lowerings[ops.aten.relu.default], lowerings[ops.aten.add.Tensor]
    lowerings[ops.aten.relu.default] = lambda x: add(relu(x), 0.25)
"""


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    """Seeds of the models; the package is gone once they are imported."""
    shutil.copytree(PACKAGE, tmp_path / "shop")
    for reference, options in MODELS.items():
        command = [sys.executable, "-m", "eqfuzz", "seeds", "import", reference, *options, "--out", "seeds"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "shop")
    return tmp_path / "seeds"


@pytest.mark.long
def test_models_are_rewritten_and_agree(seeds: Path, tmp_path: Path) -> None:
    run = mutate(seeds, "--strategy", "random", "--variants", 1, out=tmp_path / "out")
    assert run.code == 0
    assert run.summary["invalid"] == 0
    assert run.summary["verdicts"].get("agree", 0) >= 6
    assert all(event["variants"] == 1 for event in run.of("rewritten"))


@pytest.mark.long
def test_defect_in_a_model_is_reported_with_its_source(seeds: Path, tmp_path: Path) -> None:
    preload = write(tmp_path, "relu.py", SHIFTED_RELU)
    seed = seeds / "SmallResNet.py"
    run = mutate(seed, "--strategy", "none", "--preload", preload, out=tmp_path / "out")
    assert run.code == 1
    (finding,) = run.of("finding")
    issue = eqfuzz("issue", finding["id"], "--quick", "--out", tmp_path / "out")
    assert issue.returncode == 0
    assert "torch.compile" in issue.stdout
    assert "relu" in issue.stdout
    assert "from shop" not in issue.stdout
