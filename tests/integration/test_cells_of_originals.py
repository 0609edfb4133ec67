"""Cells that originals have besides: more guard steps without kernels, and random numbers of the compiler's own."""

import pytest

from tests.commandline import mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CHEAP = ("--strategy", "none", "--no-check", "audit,draws,place")
DRAWING = """
    import torch
    def program(x):
        return x + torch.rand(4)
    def inputs(rng): yield (rng.normal(4),)
"""
WIDENED = """
    import torch
    from torch._inductor import lowering
    random = torch.ops.prims.inductor_random.default
    drawn = lowering.lowerings[random]
    lowering.lowerings[random] = lambda *args, **kwargs: lowering.to_dtype(drawn(*args, **kwargs), torch.float64)
"""


@pytest.mark.long
def test_own_random_numbers_are_judged_except_values(tmp_path):
    seed, preload = write(tmp_path, "seed.py", DRAWING), write(tmp_path, "plant.py", WIDENED)
    right = mutate(seed, *CHEAP, out=tmp_path / "right")
    cells = {cell["config"]: cell["verdict"]["kind"] for cell in right.of("cell")}
    assert cells == {"inductor": "agree", "own-random": "agree"}
    wrong = mutate(seed, *CHEAP, "--preload", preload, out=tmp_path / "wrong")
    cells = {cell["config"]: cell["verdict"]["kind"] for cell in wrong.of("cell")}
    assert cells == {"inductor": "agree", "own-random": "wrong-metadata"}
    (finding,) = wrong.of("finding")
    script = (tmp_path / "wrong" / "findings" / finding["id"] / "repro.py").read_text()
    assert "fallback_random = False" in script
    assert "fallback_random = True" not in script


GUARDED = """
    import torch
    SCALE = 2
    class Program(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.shift = 3
        def forward(self, x, n):
            return x * n + SCALE + self.shift
    def inputs(rng): yield rng.normal(4), 3
"""
BLIND = """
    import functools
    from torch._dynamo.guards import GuardBuilder
    for name in ("EQUALS_MATCH", "CONSTANT_MATCH"):
        original = getattr(GuardBuilder, name)
        def match(self, guard, *arguments, original=original, **named):
            if guard.name != "L['n']":
                original(self, guard, *arguments, **named)
        setattr(GuardBuilder, name, functools.wraps(original)(match))
"""


@pytest.mark.long
def test_guard_cell_has_more_steps_than_compiled_cell(tmp_path):
    seed, preload = write(tmp_path, "seed.py", GUARDED), write(tmp_path, "plant.py", BLIND)
    run = mutate(seed, *CHEAP, "--preload", preload, "--steps", 1, out=tmp_path / "out")
    cells = {cell["config"]: cell["verdict"]["kind"] for cell in run.of("cell")}
    assert cells == {"inductor": "agree", "guards": "wrong-result"}
    (finding,) = run.of("finding")
    assert "args[1]: 3 becomes" in finding["verdict"]["message"]
    none = mutate(seed, *CHEAP, "--preload", preload, "--steps", 0, out=tmp_path / "none")
    assert {cell["config"] for cell in none.of("cell")} == {"inductor"}
