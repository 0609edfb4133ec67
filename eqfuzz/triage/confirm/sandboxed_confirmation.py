"""Confirmation of untrusted findings: values of two sandboxes are compared by this process.

The exit status of the reproducer is no proof there: the program in it could exit with the status of a defect.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import eqfuzz
from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.confirm.fresh_process import ProcessResult, run_fresh
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.comparison import comparison_of
from eqfuzz.triage.reproducer.outcome import is_watched, time_limit
from eqfuzz.triage.reproducer.saved_values import NotSaved, SavedValue, element_differs, metadata_differ, values_differ
from eqfuzz.triage.reproducer.script import write_reproducer, write_saving_script
from eqfuzz.triage.reproducer.source_description import SourceDescription

_SECONDS = 600.0
_REACHED_THE_END = 42


def differ_in_sandboxes(
    finding: Finding, config: Config, described: SourceDescription, preload: Path | None, environment: Mapping[str, str]
) -> bool:
    """Whether eager and compiled, each in its own sandbox, differ as in the finding. Raises SandboxUnavailable."""
    with tempfile.TemporaryDirectory(prefix="eqfuzz-sandboxed-") as name:
        folder = Path(name)
        if preload is not None:
            shutil.copyfile(preload, folder / "preload.py")
        about = finding, config, described, preload.read_text() if preload is not None else None
        if is_watched(finding):
            script = folder / "repro.py"
            script.write_text(write_reproducer(*about).text, encoding="utf-8")
            seconds = time_limit(finding)
            ends = [_run([str(script), mode], seconds, folder, environment) for mode in ("eager", "compiled")]
            eager, compiled = (ended.status == _REACHED_THE_END for ended in ends)
            return (
                eager != compiled if finding.verdict.kind is VerdictKind.EXCEPTION_MISMATCH else eager and not compiled
            )
        sides: list[SavedValue] = []
        for compiled in (False, True):
            script = folder / f"{'compiled' if compiled else 'eager'}.py"
            script.write_text(write_saving_script(*about, compiled=compiled), encoding="utf-8")
            ended = _run([str(script)], _SECONDS, folder, environment)
            if compiled and ended.crashed:
                return True  # eager completed
            try:
                sides.append(SavedValue.read(ended.saved))
            except NotSaved:
                return False
    return _differ(finding, *sides)


def _run(arguments: list[str], seconds: float, folder: Path, environment: Mapping[str, str]) -> ProcessResult:
    variables = {**environment, "PYTHONPATH": str(Path(eqfuzz.__file__).parents[1])}
    return run_fresh([sys.executable, *arguments], seconds, variables, sandbox_paths=[folder])


def _differ(finding: Finding, eager: SavedValue, compiled: SavedValue) -> bool:
    if finding.verdict.kind is VerdictKind.COMPILER_CRASH:
        nothing = "'NoneType'"
        return (eager.metadata[-1] == nothing) != (compiled.metadata[-1] == nothing)
    match comparison_of(finding):
        case "metadata":
            return metadata_differ(eager, compiled)
        case "element":
            return element_differs(eager, compiled, finding.verdict.evidence or Evidence())
        case "exact":
            return values_differ(eager, compiled)
