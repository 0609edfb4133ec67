"""Cells that share a run of the C++ compiler: each is judged as it would be alone, and its faults are its own."""

import pytest

from tests.commandline import mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SEED = """
    import torch
    def program(x, y):
        lifted = torch.relu(x) + y * 2
        return torch.tanh(lifted) - y
    def inputs(rng):
        yield rng.normal(5, 3, requires_grad=True), rng.normal(5, 3)
        yield rng.normal(4, 6, requires_grad=True), rng.normal(4, 6)
"""

RULES = "elementary-functions/tanh_to_sinh_and_cosh,operators/*_function,activations/relu_is_*"

KERNEL_FAULT = """
    import torch._inductor.codegen.cpp as cpp
    broken = staticmethod(lambda x: {expression!r}.format(x=x))
    cpp.CppVecOverrides.cosh = broken
    cpp.CppOverrides.cosh = broken
"""

FAULTS = {
    "does_not_build": ("no_such_function({x})", "compiler-crash"),
    "crashes": ("(__builtin_trap(), {x})", "process-crash"),
    "hangs": ("([&]{{ for (volatile int i = 0; i >= 0; i = 1) {{}} return {x}; }}())", "hang"),
    "throws": ('(throw std::runtime_error("out of bounds"), {x})', "exception-mismatch"),
    "is_wrong": ("({x} + {x})", "wrong-result"),
}


def cells(run):
    """Every cell without times, sorted by variant, rules and configuration."""
    cells_of_run = [(e["variant"], e["rules"], e["config"], e["verdict"], e["compiled"]) for e in run.of("cell")]
    return sorted(cells_of_run, key=lambda cell: cell[:3])


@pytest.mark.long
def test_both_runners_agree_and_identical_code_is_recognised(tmp_path):
    seed = write(tmp_path, "seed.py", SEED)
    runs = {
        runner: mutate(seed, "--rules", RULES, "--variants", 6, "--runner", runner, out=tmp_path / runner)
        for runner in ("fast", "stock")
    }
    fast, stock = runs["fast"], runs["stock"]
    assert cells(fast) == cells(stock)
    assert len(cells(fast)) > 7
    assert fast.kinds() == {"agree"}, fast.errors
    assert stock.summary["erased"] == 0 < fast.summary["erased"] < fast.summary["cells"]
    (done,) = fast.of("done")
    kernels = done["kernels"]
    assert kernels["alone"] == 0
    assert kernels["built"] > kernels["compiler_runs"] > 0
    assert {"compile", "g++", "judge", "fork"} <= set(done["timings"])


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_broken_kernel_affects_only_its_own_cells(tmp_path, fault):
    expression, kind = FAULTS[fault]
    preload = write(tmp_path, "plant.py", KERNEL_FAULT.format(expression=expression))
    seed = write(tmp_path, "seed.py", SEED)
    arguments = ("--rules", RULES, "--variants", 6, "--preload", preload, "--timeout", 15)
    run = mutate(seed, *arguments, out=tmp_path / "out", timeout=500)
    assert run.code == 1, run.errors
    compiled = [e for e in run.of("cell") if e["config"]]
    with_cosh = [e for e in compiled if "elementary-functions/tanh_to_sinh_and_cosh" in e["rules"]]
    assert len(with_cosh) == 1 < len(compiled)
    assert [e["verdict"]["kind"] for e in with_cosh] == [kind]
    assert {e["verdict"]["kind"] for e in compiled if e not in with_cosh} == {"agree"}
    (finding,) = run.of("finding")
    assert finding["verdict"]["kind"] == kind
