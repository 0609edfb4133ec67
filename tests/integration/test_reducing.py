"""Reduction of findings: the one rewrite that is needed, the fault that was found."""

import json
from pathlib import Path

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


@pytest.mark.long
def test_reduction_keeps_the_one_rewrite_that_is_needed(tmp_path):
    seed, preload = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", WRONG_WHERE)
    out = tmp_path / "out"
    rules = "algebra/value_to_where,algebra/mul_commutes,algebra/over_one,algebra/sigmoid_by_exponential"
    options = ["--strategy", "all", "--variants", 1, "--steps", 0, "--rules", rules]
    run = mutate(seed, *options, "--no-check", "draws", "--preload", preload, out=out)
    (finding,) = run.of("finding")
    assert len(finding["derivation"]) > 2
    assert finding["stage"] == "Inductor"
    reduced = eqfuzz("reduce", finding["id"], "--out", out, "--time", "45", "--format", "json")
    assert reduced.returncode == 0, reduced.stderr
    *tried, summary = [json.loads(line) for line in reduced.stdout.splitlines()]
    assert {event["event"] for event in tried} == {"tried"}
    assert summary["id"] == finding["id"]
    assert [step["rule"] for step in summary["derivation"]] == ["algebra/value_to_where"]
    assert summary["reduced"]["statements"][1] < summary["reduced"]["statements"][0]
    reduced_finding = json.loads(eqfuzz("show", summary["id"], "--out", out, "--format", "json").stdout)
    assert reduced_finding["verdict"]["kind"] == finding["verdict"]["kind"]
    assert reduced_finding["cells"]["C(P)"] == "agree"
    assert reduced_finding["fingerprint"] == "values · Inductor, lowerings: where"
    assert eqfuzz("replay", finding["id"], "--out", out).returncode == 1
    folder = Path(summary["folder"])
    assert (folder / "unreduced" / "variant.py").read_text() != (folder / "variant.py").read_text()
    (folder / "preload.py").unlink()
    assert eqfuzz("replay", finding["id"], "--out", out).returncode == 0
    assert (folder / "is_interesting").exists()
    candidate = write(tmp_path, "candidate.py", SEED)
    assert eqfuzz("reduce", finding["id"], "--out", out, "--candidate", candidate).returncode == 1


TWO = """
    import torch
    def program(x, y):
        chosen = torch.where(x > 0, x, y * 2)
        size = (x - y).abs()
        return chosen.sum() + size.mean(), size * chosen
    def inputs(rng): yield rng.normal(4, 8), rng.normal(4, 8)
"""

WRONG_TWICE = """
    import torch
    from torch._inductor.lowering import lowerings
    aten = torch.ops.aten
    where, clone = lowerings[aten.where.self], lowerings[aten.clone.default]
    lowerings[aten.where.self] = lambda *operands: lowerings[aten.add.Tensor](where(*operands), 0.25)
    lowerings[aten.abs.default] = lambda x: clone(x)
"""


@pytest.mark.long
def test_reduction_keeps_the_fault_of_its_finding(tmp_path):
    """Two faults at once: what is reduced is the one that the finding blames; the other is not in the result."""
    seed, preload = write(tmp_path, "seed.py", TWO), write(tmp_path, "plant.py", WRONG_TWICE)
    out = tmp_path / "out"
    run = mutate(seed, "--strategy", "none", "--no-check", "audit,draws", "--preload", preload, out=out)
    (finding,) = run.of("finding")
    faulty, correct = ("where", "abs") if finding["place"].endswith("where") else ("abs", "where")
    assert finding["place"] == f"Inductor, lowerings: {faulty}"
    reduced = eqfuzz("reduce", finding["id"], "--out", out, "--format", "json")
    assert reduced.returncode == 0, reduced.stderr
    variant = (out / "findings" / finding["id"] / "variant.py").read_text()
    assert faulty in variant
    assert correct not in variant
    assert json.loads(reduced.stdout.splitlines()[-1])["reduced"]["statements"][1] <= 2
