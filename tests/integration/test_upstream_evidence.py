"""Evidence for a report about a real defect: everything is compiled, bisected, replayed and tested."""

from pathlib import Path

import pytest

from eqfuzz.program.release import this_release
from eqfuzz.triage.upstream.evidence import EvidenceCollector, EvidencePlan
from eqfuzz.triage.upstream.gate import gate
from tests.live_defects import AMIN, only_with

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

SCRIPT = """\
import torch


def f(x):
    return x.amin(dim=0)


x = torch.full((32,), 2, dtype=torch.uint8)
eager, compiled = f(x), torch.compile(f)(x)
raise SystemExit(not compiled.equal(eager))
"""


@only_with(AMIN)
def test_real_defect_is_explained_and_replayed(tmp_path: Path):
    evidence = EvidenceCollector(tmp_path, EvidencePlan("amin of bytes", seconds=600)).collect(SCRIPT, this_release())
    assert (evidence.failing, evidence.first_backend) == (3, "inductor")
    assert {"cpp.simdlen=1", "lowerings"} <= set(evidence.cures)
    assert not [trial for trial in evidence.mitigations if "breaks down" in trial.verdict]
    assert evidence.bisected is not None
    assert (evidence.bisected.blame.subsystem, evidence.bisected.blame.detail) == ("lowerings", "amin")
    assert evidence.bisected.is_confirmed
    assert evidence.test is not None
    assert evidence.test.problem == ""
    assert gate(evidence) == []
