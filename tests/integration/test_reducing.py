"""A finding that many rewrites show is left with the one that it takes."""

import json

import pytest

from tests.commandline import eqfuzz, mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SEED = """
    import torch
    import torch.nn.functional as F
    def program(x, y):
        z = F.relu(x * y) + x
        return z * 2 - y, torch.sigmoid(x).sum(0)
    def inputs(rng): yield rng.normal(8, 16), rng.normal(8, 16)
"""

WRONG_WHERE = """
    import torch
    from torch._inductor import lowering
    where = lowering.lowerings[torch.ops.aten.where.self]
    def wrong(*args, **kwargs):
        return lowering.lowerings[torch.ops.aten.add.Tensor](where(*args, **kwargs), 0.25)
    lowering.lowerings[torch.ops.aten.where.self] = wrong
"""


def test_one_rewrite_is_left_where_one_suffices(tmp_path):
    seed, preload = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", WRONG_WHERE)
    out = tmp_path / "out"
    rules = "algebra/both_where,algebra/mul_commutes,algebra/over_one,algebra/sigmoid_by_exponential"
    options = ["--strategy", "all", "--variants", 1, "--steps", 0, "--rules", rules]
    run = mutate(seed, *options, "--preload", preload, out=out)
    (finding,) = run.of("finding")
    assert len(finding["derivation"]) > 2 and finding["stage"] == "Inductor"
    reduced = eqfuzz("reduce", finding["id"], "--out", out, "--time", "2m", "--format", "json")
    assert reduced.returncode == 0, reduced.stderr
    *tried, summary = [json.loads(line) for line in reduced.stdout.splitlines()]
    assert {event["event"] for event in tried} == {"tried"} and any(event["holds"] for event in tried)
    assert [step["rule"] for step in summary["derivation"]] == ["algebra/both_where"]
    shown = json.loads(eqfuzz("show", finding["id"], "--out", out, "--format", "json").stdout)
    assert shown["verdict"]["kind"] == finding["verdict"]["kind"] and shown["cells"]["C(P)"] == "agree"
    assert summary["id"] == finding["id"] and summary["reduced"] == shown["reduced"]
    rewrites, statements = (shown["reduced"][name] for name in ("rewrites", "statements"))
    assert rewrites == [len(finding["derivation"]), 1] and statements[1] < statements[0]
    folder = out / "findings" / finding["id"]
    assert (folder / "unreduced" / "repro.py").exists() and (folder / "is_interesting").exists()
    assert eqfuzz("replay", finding["id"], "--out", out).returncode == 1
    candidate = write(tmp_path, "candidate.py", SEED)
    assert eqfuzz("reduce", finding["id"], "--out", out, "--candidate", candidate).returncode == 1
