"""Triage of a detection: its stage, the reduced program, the reproducer with and without the fault."""

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
"""Time limit of a reduction."""

_DECOMPOSITIONS = r"torch\._inductor\.decomposition|torch\._inductor import decomposition"
_PARTITIONER = r"torch\._functorch import (?:partitioners|compile_utils)"
_STAGES = {
    STAGES["eager"]: r"torch\._dynamo|torch\._numpy|torch\.fx\.experimental|torch\.utils\._sympy",
    STAGES["aot_eager"]: r"torch\._functorch",
    STAGES["inductor"]: r"torch\._inductor|torch\.utils\._sympy",
}
"""Stages by the modules of torch that a fault's file imports, which are those that it patches."""


@dataclasses.dataclass(frozen=True)
class TriageResult:
    """The result of reducing and replaying a detection.

    Attributes:
        stage: The stage that the finding names.
        place: The faulty component that it names, in words.
        right_stages: Those of the modules that the fault patches.
        statements: Those of the reduced program; None where there is none.
        rewrites: Those that the reduced program still needs; None where there is none.
        fails: Whether the script fails with the fault.
        passes: Whether the script passes without the fault.
        seconds: Wall seconds of the reduction.
        error: Why there is no result, one line; empty if there is.
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


def triage(fault: Fault, out: Path, identifier: str) -> TriageResult:
    """Reduce the finding in the run folder ``out`` and replay it."""
    start = time.monotonic()
    command = [sys.executable, "-m", "eqfuzz", "reduce", identifier, "--out", str(out), "--jobs", "1"]
    process = subprocess.run(
        [*command, "--time", str(SECONDS), "--format", "json"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    folder = out / "findings" / identifier
    finding = read_finding(folder)
    reduced = finding.reduced
    with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as bare:
        shutil.copyfile(folder / "repro.py", Path(bare) / "repro.py")
        passes = replay(Path(bare)).status == FIXED
    return TriageResult(
        stage=finding.stage,
        place=finding.fingerprint,
        right_stages=stages_of(fault),
        statements=reduced.statements[1] if reduced else None,
        rewrites=len(finding.derivation) if reduced else None,
        fails=replay(folder).status == STILL_FAILING,
        passes=passes,
        seconds=time.monotonic() - start,
        error=process.stderr.strip().splitlines()[-1] if process.returncode else "",
    )


def stages_of(fault: Fault) -> tuple[str, ...]:
    """The stages whose code the fault's file imports. Both ``aot_eager`` and the stage after it partition graphs."""
    text = fault.path.read_text(encoding="utf-8")
    imports = "\n".join(re.findall(r"^(?:from|import) .*$", text, re.MULTILINE))
    third = STAGES["aot_eager_decomp_partition"]
    if re.search(_DECOMPOSITIONS, imports):
        return (third,)
    stages = tuple(stage for stage, pattern in _STAGES.items() if re.search(pattern, imports))
    return (*stages, third) if re.search(_PARTITIONER, imports) else stages
