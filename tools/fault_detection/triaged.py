"""What triage makes of a fault's finding: the stage, the reduced program, the reproducer with and without the fault."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from eqfuzz.triage.confirm.replay import FIXED, STILL_FAILING, replay
from eqfuzz.triage.findings.folder import read_finding
from eqfuzz.triage.findings.stage import STAGES
from tools.fault_detection.fault import Fault

SECONDS = 180
"""Wall time that a reduction gets."""

_DECOMPOSITIONS = r"torch\._inductor\.decomposition|torch\._inductor import decomposition"
_PARTITIONER = r"torch\._functorch import (?:partitioners|compile_utils)"
_STAGES = {
    STAGES["eager"]: r"torch\._dynamo|torch\._numpy|torch\.fx\.experimental|torch\.utils\._sympy",
    STAGES["aot_eager"]: r"torch\._functorch",
    STAGES["inductor"]: r"torch\._inductor|torch\.utils\._sympy",
}
"""Stages by what a fault's file imports from torch: what it patches."""


@dataclasses.dataclass(frozen=True)
class Triaged:
    """``right_stages`` are those of the modules that the fault patches.

    ``statements`` and ``rewrites`` are what is left; ``fails`` and ``passes`` tell whether the script fails with the
    fault and passes without.
    """

    stage: str
    place: str
    right_stages: tuple[str, ...]
    statements: int | None
    rewrites: int | None
    fails: bool
    passes: bool
    seconds: float
    error: str = ""

    @property
    def is_right(self) -> bool:
        return self.stage in self.right_stages


def triage(fault: Fault, out: Path, identifier: str) -> Triaged:
    """Reduce the finding in the run folder ``out`` and replay it."""
    began = time.monotonic()
    command = [sys.executable, "-m", "eqfuzz", "reduce", identifier, "--out", str(out), "--jobs", "1"]
    done = subprocess.run(
        [*command, "--time", str(SECONDS), "--format", "json"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    folder = out / "findings" / identifier
    finding = read_finding(folder)
    reduced = finding.reduced
    with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as bare:
        shutil.copyfile(folder / "repro.py", Path(bare) / "repro.py")
        passes = replay(Path(bare)).status == FIXED
    return Triaged(
        stage=finding.ablation.stage if finding.ablation is not None else "",
        place=finding.fingerprint,
        right_stages=stages_of(fault),
        statements=reduced.statements[1] if reduced else None,
        rewrites=len(finding.derivation) if reduced else None,
        fails=replay(folder).status == STILL_FAILING,
        passes=passes,
        seconds=time.monotonic() - began,
        error=done.stderr.strip().splitlines()[-1] if done.returncode else "",
    )


def stages_of(fault: Fault) -> tuple[str, ...]:
    """The stages whose code the fault's file imports. Graphs are partitioned in two: by ``aot_eager`` and after it."""
    text = fault.path.read_text(encoding="utf-8")
    imports = "\n".join(re.findall(r"^(?:from|import) .*$", text, re.MULTILINE))
    third = STAGES["aot_eager_decomp_partition"]
    if re.search(_DECOMPOSITIONS, imports):
        return (third,)
    found = tuple(stage for stage, pattern in _STAGES.items() if re.search(pattern, imports))
    return (*found, third) if re.search(_PARTITIONER, imports) else found
