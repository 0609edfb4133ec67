"""The main job on shipped seeds: formats, known defects, planted faults, determinism."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import eqfuzz, mutate, write
from tests.live_defects import AMIN as AMIN_ISSUE
from tests.live_defects import only_with

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SEEDS = Path(__file__).parents[2] / "seeds"
AMIN = SEEDS / "handwritten" / "dtypes" / "quantise_int8.py"


@pytest.mark.long
def test_every_format_runs_without_module_level_code(tmp_path):
    run = mutate(SEEDS / "formats", "--variants", 1, out=tmp_path / "out")
    assert run.code == 0, run.errors
    files = list((SEEDS / "formats").glob("*.py"))
    assert run.summary["seeds"] == len(files) >= 6
    assert run.summary["invalid"] == 0
    assert run.of("invalid") == []
    for file in files:
        assert run.kinds(file.name) == {"agree"}, file.name


@pytest.mark.long
@only_with(AMIN_ISSUE)
def test_int8_amin_defect_is_found_and_replayed(tmp_path):
    out = tmp_path / "out"
    run = mutate(AMIN, "--variants", 1, out=out)
    findings = run.of("finding")
    assert run.code == 1, run.errors
    assert findings, run.errors
    for finding in findings:
        assert finding["verdict"]["kind"] == "wrong-result"
        assert not finding["known"]
        assert finding["stage"] == "Inductor"
        assert set(finding["backends"].values()) == {"agree"}
        folder = Path(finding["folder"])
        names = {"repro.py", "original.py", "variant.py", "derivation.json", "verdict.json", "environment.json"}
        assert names <= {p.name for p in folder.iterdir()}
        alone = subprocess.run([sys.executable, folder / "repro.py"], capture_output=True, text=True, cwd=tmp_path)
        assert alone.returncode == 1, alone.stdout + alone.stderr
        assert "eqfuzz" not in [line for line in (folder / "repro.py").read_text().splitlines() if "import" in line]
    again = mutate(AMIN, "--variants", 1, out=out)
    assert [f["id"] for f in again.of("finding")] == [f["id"] for f in findings]
    assert all(f["known"] for f in again.of("finding"))
    replay = eqfuzz("replay", findings[0]["id"][:6], "--out", out)
    assert replay.returncode == 1
    assert "STILL FAILING" in replay.stdout
    blamed = eqfuzz("blame", findings[0]["id"], "--out", out)
    assert blamed.returncode == 0, blamed.stderr
    assert "Inductor, lowerings: amin" in blamed.stdout, blamed.stderr
    assert "Inductor, lowerings: amin" in eqfuzz("show", findings[0]["id"], "--out", out).stdout


SHIPPED_RELU = SEEDS / "handwritten" / "arithmetic" / "relu_residual.py"

RELU = """
    import torch
    import torch.nn.functional as F
    def program(x, y):
        z = F.relu(x * y) + x
        return z * 2 - y
    def inputs(rng): yield rng.normal(8, 16), rng.normal(8, 16)
"""


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param("accuracy", "wrong-result", marks=pytest.mark.long),
        pytest.param("compile_error", "compiler-crash", marks=pytest.mark.long),
        pytest.param("runtime_error", "exception-mismatch", marks=pytest.mark.long),
    ],
)
def test_relu_bugs_planted_by_inductor_are_found(tmp_path, fault, kind):
    line = f"import torch._inductor.config as c\nc.cpp.inject_relu_bug_TESTING_ONLY = {fault!r}\n"
    preload = write(tmp_path, "plant.py", line)
    run = mutate(SHIPPED_RELU, "--variants", 1, "--preload", preload, out=tmp_path / "out")
    assert kind in run.kinds(), run.errors
    assert run.code == 1, run.errors
    (finding,) = run.of("finding")
    assert finding["verdict"]["kind"] == kind
    folder = Path(finding["folder"])
    assert eqfuzz("replay", finding["id"], "--out", tmp_path / "out").returncode == 1
    (folder / "preload.py").unlink()
    fixed = eqfuzz("replay", finding["id"], "--out", tmp_path / "out")
    assert fixed.returncode == 0
    assert "FIXED" in fixed.stdout


@pytest.mark.long
def test_relu_program_agrees_without_planted_bug(tmp_path):
    run = mutate(SHIPPED_RELU, "--variants", 1, out=tmp_path / "out")
    assert run.kinds() == {"agree"}
    assert run.code == 0


def without_times(events):
    """Events with everything dropped that may differ between two equal runs."""
    dropped = {"seconds", "cpu_seconds", "eager_seconds", "peak_mb", "timings", "kernels", "out", "folder", "known"}
    return [{k: v for k, v in e.items() if k not in dropped} for e in events]


@pytest.mark.long
def test_runs_with_same_random_seed_differ_only_in_times(tmp_path):
    chosen = [SEEDS / "handwritten" / name for name in ("containers/named_fields.py", "indexing/embedding_bag.py")]
    runs = []
    for number, hashseed in enumerate(("1", "77")):
        environment = {**os.environ, "PYTHONHASHSEED": hashseed}
        command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, chosen), "--format", "json", "--seed", "5"]
        command += ["--variants", "2", "--steps", "0", "--out", str(tmp_path / str(number))]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        runs.append([json.loads(line) for line in done.stdout.splitlines()])
    assert without_times(runs[0]) == without_times(runs[1])
    assert runs[0][-1]["variants"] > 0


@pytest.mark.long
def test_strategies_have_the_requested_number_of_rewrites(tmp_path):
    seed = write(tmp_path, "seed.py", RELU)
    every = mutate(seed, "--strategy", "all", "--variants", 1, "--config", "eager", out=tmp_path / "all")
    walk = mutate(
        seed, "--strategy", "random", "--depth", 3, "--variants", 3, "--config", "aot_eager", out=tmp_path / "walk"
    )
    assert {len(e["rules"]) > 3 for e in every.of("cell") if e["variant"]} == {True}
    assert {len(e["rules"]) for e in walk.of("cell") if e["variant"]} == {3}
    assert every.kinds() == walk.kinds() == {"agree"}


@pytest.mark.long
def test_kept_variants_run_as_seeds(tmp_path):
    seed, variants = write(tmp_path, "seed.py", RELU), tmp_path / "kept"
    grown = mutate(
        seed, "--strategy", "all", "--variants", 2, "--dry-run", "--keep-variants", variants, out=tmp_path / "a"
    )
    assert grown.code == 0
    assert len(list(variants.glob("seed-*.py"))) == grown.summary["variants"] == 2
    run = mutate(
        variants, "--strategy", "none", "--config", "eager", "--input-sets", 1, "--steps", 0, out=tmp_path / "b"
    )
    assert run.code == 0
    assert run.summary["invalid"] == run.summary["variants"] == 0
    assert run.summary["cells"] == 2
    assert run.kinds() == {"agree"}


def test_dry_run_compiles_nothing(tmp_path):
    run = mutate(SEEDS / "formats", "--dry-run", "--variants", 20, out=tmp_path / "out")
    assert run.code == 0
    assert run.summary["cells"] == 0
    assert run.summary["sites"] >= run.summary["variants"] > 20
