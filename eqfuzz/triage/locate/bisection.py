"""``eqfuzz blame``: finds the faulty pass, decomposition or lowering with torch's bisector."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.triage.confirm.fresh_process import run_fresh
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.folder import preload_in
from eqfuzz.triage.findings.stage import Blame
from eqfuzz.triage.reproducer.outcome import is_watched
from eqfuzz.triage.reproducer.script_files import copy_script

BISECTION_SECONDS = 1800.0
_SCRIPT = Path(__file__).with_name("bisecting_script.py")


class NotBlamed(Exception):
    """The bisector has no result; ``str()`` is one line."""


def bisect(folder: Path, finding: Finding, python: str = sys.executable, seconds: float = BISECTION_SECONDS) -> Blame:
    """Bisect ``folder/repro.py`` in a fresh process.

    Takes 15 to 30 compiles; a finding that ends the process takes as many processes. The faulty part of a pass is taken
    from the finding where the pass is the same. Raises NotBlamed and SandboxUnavailable.
    """
    outside = is_watched(finding)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-blame-") as place:
        script = Path(place) / "repro.py"
        copy_script(folder, finding.original, script.parent)
        preload = preload_in(folder)
        if outside and preload is not None:
            shutil.copyfile(preload, script.with_name("preload.py"))
            preload = None
        paths = [Path(place), *([preload] if preload is not None else [])] if finding.original.untrusted else None
        blame = bisect_script(
            script, outside=outside, preload=preload, python=python, seconds=seconds, sandbox_paths=paths
        )
    previous = finding.blame
    if previous is not None and blame.is_about_component_of(previous):
        return dataclasses.replace(blame, change=previous.change)
    return blame


def bisect_script(
    script: Path,
    *,
    outside: bool = False,
    preload: Path | None = None,
    python: str = sys.executable,
    seconds: float = BISECTION_SECONDS,
    sandbox_paths: Sequence[Path] | None = None,
) -> Blame:
    """Bisect a script that exits with 1 while the defect is there; each run ``outside`` is a process.

    A ``preload`` is executed once, not by each run of the script, which has no preload beside it then. Raises NotBlamed
    and SandboxUnavailable.
    """
    arguments = [str(script), "outside" if outside else "inside", *([str(preload)] if preload is not None else [])]
    ended = run_fresh([python, str(_SCRIPT), *arguments], seconds, sandbox_paths=sandbox_paths)
    if ended.status is None:
        raise NotBlamed(f"the bisector did not end within {seconds:g} s")
    lines = ended.output.strip().splitlines() or ["no output"]
    results = [line for line in lines if line.startswith("{")]
    if ended.status != 0 or not results:
        raise NotBlamed(f"the bisector failed: {lines[-1]}")
    result = json.loads(results[-1])
    if not result:
        raise NotBlamed("no backend shows it when it is compiled again")
    return Blame(**{name: value for name, value in result.items() if value is not None})
