"""Cells with several threads: in forks of a single-threaded process; faults that only they show are found."""

from __future__ import annotations

import pytest

from eqfuzz.commands.calibrate import THREADED, THREADS, Calibration, Sizes
from eqfuzz.program.release import this_release
from tests.commandline import eqfuzz, mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SEED = """
    import torch
    def program(x, y):
        z = torch.sinh(x) * y
        return z + x, z.sum(0)
    def inputs(rng): yield rng.normal(40, 30, requires_grad=True), rng.normal(40, 30)
"""

WITH_THREADS = '''
    """With several threads the first element of what a kernel of Inductor's makes is something else."""
    import torch
    from torch._inductor.output_code import CompiledFxGraph
    original = CompiledFxGraph.__call__

    def call(self, inputs):
        outputs = original(self, inputs)
        if torch.get_num_threads() > 1 and not self.fx_kwargs.get("is_backward"):
            outputs[0][0, 0] += 1
        return outputs
    CompiledFxGraph.__call__ = call
'''

UNFOLDED = """
    import torch
    def program(x):
        return x.unfold(2, 3, 1).unfold(3, 3, 1).amax((-2, -1))
    def inputs(rng): yield rng.normal(1, 2, 6, 6, requires_grad=True),
"""


@pytest.mark.parametrize("runner", ["fast", pytest.param("stock", marks=pytest.mark.long)])
def test_threaded_cells_are_forks_and_affect_no_other_cell(tmp_path, runner):
    """Further cells are forked after those with threads, of backends that would run in the case's process too."""
    seed = write(tmp_path, "seed.py", SEED)
    configs = "aot_eager@2,inductor@4,inductor,inductor-dynamic@3"
    run = mutate(seed, "--config", configs, "--variants", 2, "--runner", runner, out=tmp_path / "out")
    assert run.kinds() == {"agree"}, run.errors
    assert run.code == 0, run.errors
    assert len([e for e in run.of("cell") if e["config"]]) == 12
    if runner == "fast":
        sources = "".join(file.read_text() for file in (tmp_path / "out" / "cache").rglob("*.cpp"))
        assert "num_threads(4)" in sources
        assert "num_threads(3)" in sources


def test_fault_with_threads_only_has_script_with_thread_count(tmp_path):
    seed, preload = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", WITH_THREADS)
    out = tmp_path / "out"
    run = mutate(seed, "--threaded", 1, "--variants", 1, "--preload", preload, out=out)
    cells = {(e["variant"], e["config"]): e["verdict"]["kind"] for e in run.of("cell") if e["config"]}
    ((_, config),) = cells.keys() - {(0, "inductor"), (1, "inductor")}
    assert cells == {(0, "inductor"): "agree", (1, "inductor"): "agree", (0, config): "wrong-result"}
    (finding,) = run.of("finding")
    text = (out / "findings" / finding["id"] / "repro.py").read_text()
    count = int(config.removeprefix("inductor@"))
    assert f"torch.set_num_threads({count})" in text
    output = eqfuzz("show", finding["id"], "--out", out)
    assert f"{count}; with one: agree" in output.stdout, output.stderr
    replayed = eqfuzz("replay", finding["id"], "--out", out)
    assert replayed.returncode == 1, replayed.stderr
    assert "STILL FAILING" in replayed.stdout, replayed.stderr


@pytest.mark.skipif(not this_release().fits(">=2.13,<2.14"), reason="right on this torch")
@pytest.mark.long
def test_gradient_summed_by_several_threads_is_wrong(tmp_path):
    seed = write(tmp_path, "seed.py", UNFOLDED)
    run = mutate(seed, "--config", "inductor,inductor@2", "--strategy", "none", out=tmp_path / "out")
    kinds = {e["config"]: e["verdict"]["kind"] for e in run.of("cell")}
    assert kinds["inductor"] == "agree", kinds
    assert kinds["inductor@2"] in ("wrong-gradient", "process-crash"), kinds
    assert run.code == 1
    assert len(run.of("finding")) == 1


@pytest.mark.long
def test_correct_runs_with_several_threads_agree(tmp_path):
    measuring = Calibration(tmp_path, lambda _: None, Sizes(threaded=6), jobs=1, seed=0)
    names = ("relu_residual", "logsumexp")
    measuring.programs = [p for p in measuring.programs if p.name.rpartition("/")[2].removesuffix(".py") in names]
    measuring.threads()
    measuring.threaded()
    for name, least in ((THREADS, 24), (THREADED, 6)):
        pairs = measuring.pairs[name]
        assert pairs.count >= least, (name, pairs.count, pairs.called_wrong)
        assert pairs.called_wrong == [], (name, pairs.count, pairs.called_wrong)
