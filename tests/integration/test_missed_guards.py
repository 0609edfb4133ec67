"""Missed guards are classified by the source of the value, with a Dynamo that really misses them."""

import pytest

from tests.commandline import mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SEED = """
    import torch
    SCALE = 2
    def program(x, n):
        return x * n + SCALE
    def inputs(rng): yield rng.normal(4), 3
"""
BLIND = """
    import functools
    from torch._dynamo.guards import GuardBuilder
    for name in ("EQUALS_MATCH", "CONSTANT_MATCH"):
        original = getattr(GuardBuilder, name)
        def match(self, guard, *arguments, original=original, **named):
            if not ({which}):
                original(self, guard, *arguments, **named)
        setattr(GuardBuilder, name, functools.wraps(original)(match))
"""


@pytest.mark.parametrize(
    ("which", "fingerprint"),
    [
        ("type(self.get(guard)) is int", "values · guard on a number, wherever it is from"),
        pytest.param(
            "type(self.get(guard)) is int and guard.name.startswith('G')",
            "values · guard on a global",
            marks=pytest.mark.long,
        ),
    ],
)
@pytest.mark.long
def test_missed_guard_depends_on_value_or_source(tmp_path, which, fingerprint):
    seed, preload = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", BLIND.format(which=which))
    options = ["--strategy", "none", "--steps", 12, "--no-check", "audit,draws", "--preload", preload]
    run = mutate(seed, *options, out=tmp_path / "out")
    assert {finding["fingerprint"] for finding in run.of("finding")} == {fingerprint}
