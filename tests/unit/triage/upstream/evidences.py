"""Evidence to test with."""

from eqfuzz.program.release import Release
from eqfuzz.triage.confirm.replay import STILL_FAILING, ReplayOutcome
from eqfuzz.triage.upstream.boolean_function import ReportedScript
from eqfuzz.triage.upstream.evidence import Trial, UpstreamEvidence
from eqfuzz.triage.upstream.mitigations import FAILS, PASSES, Mitigation, on_backend

SCRIPT = "import torch\n\n\ndef test_fn() -> bool:\n    return False\n"
OLD, NEW, NEWEST = (Release(name, "cpu") for name in ("2.9.0", "2.13.0", "2.15.0"))


def evidence_of(script=SCRIPT, *, cures=(), first="inductor", **changed):
    """Evidence of a defect that ``first`` shows, and that goes with each of ``cures``."""
    ladder = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
    place = ladder.index(first)
    fields = {
        "failing": 3,
        "seconds": 5.0,
        "backends": tuple(Trial(on_backend(name), FAILS if n >= place else PASSES) for n, name in enumerate(ladder)),
        "mitigations": tuple(Trial(Mitigation(name, "inductor"), PASSES) for name in cures),
        "releases": ((NEWEST, FAILS),),
        **changed,
    }
    reported = ReportedScript(script, "inductor", has_function=True)
    return UpstreamEvidence(reported, ReplayOutcome(STILL_FAILING, "compiled: 1"), **fields)
