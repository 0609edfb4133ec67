"""The main job on a CUDA device: what agrees there, what is found there, and what a lost context costs."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from tests.commandline import eqfuzz, mutate, write
from tests.robustness.process_targets import Do

pytestmark = [pytest.mark.cuda, pytest.mark.slow, pytest.mark.timeout(900)]

RELU = """
    import torch
    def program(x, y):
        return torch.relu(x * y) + x
    def inputs(rng): yield rng.normal(8, 16), rng.normal(8, 16)
"""
MODULE = """
    import torch
    class Program(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(5, 3)
            self.register_buffer("seen", torch.zeros(3))
        def forward(self, x):
            y = self.linear(x)
            self.seen += y.detach().mean(0)
            return y * self.seen
    def inputs(rng): yield rng.normal(4, 5).requires_grad_()
"""
NUMPY = """
    import torch
    def program(x): return torch.from_numpy(x.numpy() + 1)
    def inputs(rng): yield rng.normal(3)
"""
MADE = """
    import torch
    def program(x): return x + torch.ones(3)
    def inputs(rng): yield rng.normal(3)
"""
SHARED = """
    import torch
    def program(x, y):
        x.mul_(2)
        return y + 1, x[0]
    def inputs(rng):
        whole = rng.normal(4, 3)
        yield whole.t(), whole[1]
"""
BOTH = ("--device", "cpu", "--device", "cuda", "--jobs", 1)
PLANTED = "import torch._inductor.config as c\nc.triton.inject_relu_bug_TESTING_ONLY = {!r}\n"


def test_programs_agree_on_both_devices(tmp_path):
    sources = {"relu.py": RELU, "module.py": MODULE, "shared.py": SHARED, "numpy.py": NUMPY, "made.py": MADE}
    seeds = [write(tmp_path, name, source) for name, source in sources.items()]
    run = mutate(*seeds, *BOTH, "--variants", 2, out=tmp_path / "out")
    assert run.code == 0, run.errors
    cells = [event for event in run.of("cell") if event["config"]]
    # Of variants little can be said in advance: a rewrite may go through numpy, or make a constant there.
    assert {cell["verdict"]["kind"] for cell in cells} <= {"agree", "unsupported"}
    kinds = {(Path(c["seed"]).name, c["device"]): c["verdict"]["kind"] for c in cells if not c["variant"]}
    there = {name: kind for (name, device), kind in kinds.items() if device == "cuda"}
    agree = dict.fromkeys(("relu.py", "module.py", "shared.py"), "agree")
    assert there == agree | {"numpy.py": "unsupported", "made.py": "unsupported"}
    assert {kind for (_, device), kind in kinds.items() if device == "cpu"} == {"agree"}


def test_fault_planted_in_triton_kernels_is_found_on_cuda_only(tmp_path):
    preload = write(tmp_path, "plant.py", PLANTED.format("accuracy"))
    out = tmp_path / "out"
    run = mutate(
        write(tmp_path, "relu.py", RELU), *BOTH, "--variants", 0, "--strategy", "none", "--preload", preload, out=out
    )
    (finding,) = run.of("finding")
    assert run.code == 1
    assert finding["verdict"]["kind"] == "wrong-result"
    assert finding["device"] == "cuda"
    script = Path(finding["folder"]) / "repro.py"
    alone = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert alone.returncode == 1, alone.stdout + alone.stderr
    assert "cuda" in script.read_text(), alone.stdout + alone.stderr
    assert finding["stage"] == "Inductor"
    (script.parent / "preload.py").unlink()
    fixed = eqfuzz("replay", finding["id"], "--out", out)
    assert fixed.returncode == 0
    assert "FIXED" in fixed.stdout


def test_lost_context_affects_only_its_case(tmp_path):
    target = "tests.robustness.process_targets:TARGET"
    with Pool(Environment(tmp_path), Limits(), runner="spawn", jobs=1, cuda=True, target=target, warm=False) as pool:
        (first, _) = pool.stream(Do(do="use_the_gpu"))
        (second, _) = pool.stream(Do(do="use_the_gpu"))
        assert second["pid"] == first["pid"]
        assert second["value"] == 7
        list(pool.stream(Do(do="lose_the_gpu")))
        (third, end) = pool.stream(Do(do="use_the_gpu"))
        assert third["pid"] != first["pid"]
        assert third["value"] == 7
        assert end.reason == "done"


def test_reduced_finding_reproduces_on_cuda(tmp_path):
    preload = write(tmp_path, "plant.py", PLANTED.format("accuracy"))
    longer = textwrap.dedent(RELU).replace(
        "return torch.relu(x * y) + x", "z = x.sin() * y\n    return torch.relu(z) + x, z.cos()"
    )
    out = tmp_path / "out"
    run = mutate(
        write(tmp_path, "relu.py", longer), "--device", "cuda", "--strategy", "none", "--preload", preload, out=out
    )
    (finding,) = run.of("finding")
    reduced = eqfuzz("reduce", finding["id"], "--out", out)
    assert reduced.returncode == 0, reduced.stdout + reduced.stderr
    again = eqfuzz("replay", finding["id"], "--out", out)
    assert again.returncode == 1
    assert "STILL FAILING" in again.stdout
