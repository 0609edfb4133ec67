"""Replay: runs a reproducer in a fresh process."""

from __future__ import annotations

import ast
import dataclasses
import re
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.program.parsing import parse
from eqfuzz.triage.confirm.fresh_process import ProcessResult, run_fresh
from eqfuzz.triage.findings.folder import is_untrusted

FIXED, STILL_FAILING, ERROR = "FIXED", "STILL FAILING", "ERROR"

REPLAY_SECONDS = 600.0
"""The default timeout: reproducers of hangs wait twice their own, and a cold compile may take a minute."""

_LEFT_AT = r'Traceback \(most recent call last\):\n  File "[^"]*{name}", line (\d+), in <module>'

_EAGER_CAME_THROUGH = re.compile(r"^eager: ", re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)", re.MULTILINE)
"""The exception behind a traceback, whose own lines are indented."""

COLLECT_SECONDS = 120.0


@dataclasses.dataclass(frozen=True)
class ReplayOutcome:
    """``status`` is FIXED, STILL FAILING or ERROR; ``output`` is the end of the script's output.

    ``cause`` is why it is not STILL FAILING, in a few words that are equal for equal causes.
    """

    status: str
    output: str
    cause: str = ""


def replay(
    folder: Path,
    python: str = sys.executable,
    seconds: float = REPLAY_SECONDS,
    environment: Mapping[str, str] | None = None,
    *,
    untrusted: bool | None = None,
    closing: threading.Event | None = None,
) -> ReplayOutcome:
    """Run ``folder/repro.py`` in a fresh process with a kernel cache of its own; ``seconds`` is wall time.

    An ``untrusted`` program runs in a sandbox; with None, the folder decides.
    Raises SandboxUnavailable, and RunnerFailed once ``closing`` is set, see ``run_fresh``.
    """
    is_sandboxed = is_untrusted(folder) if untrusted is None else untrusted
    sandbox_paths = [folder.resolve()] if is_sandboxed else None
    return run_script(folder / "repro.py", python, seconds, environment, sandbox_paths, closing)


def run_script(
    script: Path,
    python: str = sys.executable,
    seconds: float = REPLAY_SECONDS,
    environment: Mapping[str, str] | None = None,
    sandbox_paths: Sequence[Path] | None = None,
    closing: threading.Event | None = None,
) -> ReplayOutcome:
    """Run a script that exits with 1 while a defect is there and with 0 once it is fixed; see ``run_fresh``.

    A script that crashes after its eager run counts as still failing, whatever its defect was.
    """
    ended = run_fresh([python, str(script.resolve())], seconds, environment, sandbox_paths, closing)
    output = ended.output[-4000:]
    if ended.status is None and ended.output:
        return ReplayOutcome(ERROR, output, "the sandbox ended its script")
    if ended.status is None:
        return ReplayOutcome(ERROR, f"the script did not end within {seconds:g} s", "its script does not end in time")
    if ended.status == 0:
        return ReplayOutcome(FIXED, output, "its script shows no difference")
    if ended.crashed and _EAGER_CAME_THROUGH.search(ended.output):
        return ReplayOutcome(STILL_FAILING, f"{output}\nkilled by {signal.Signals(-ended.status).name}")
    if ended.status == 1 and not _broke_down(script, ended.output):
        return ReplayOutcome(STILL_FAILING, output)
    return ReplayOutcome(ERROR, output, _why(ended))


def _why(ended: ProcessResult) -> str:
    """Why a script failed in an unexpected way."""
    assert ended.status is not None
    if ended.status < 0:
        return f"its script is killed by {signal.Signals(-ended.status).name}"
    raised = _RAISED.search(ended.output.rpartition("Traceback (most recent call last):")[2])
    if "Traceback (most recent call last):" in ended.output and raised is not None:
        return f"its script raises {raised[1].split('.')[-1]}"
    return f"its script exits with {ended.status}"


def torch_versions(python: str) -> str:
    """The report of ``torch.utils.collect_env`` in ``python``; empty where it fails."""
    ended = run_fresh([python, "-m", "torch.utils.collect_env"], COLLECT_SECONDS)
    _, separator, report = ended.output.partition("PyTorch version:")
    return (separator + report).strip()


def _broke_down(script: Path, output: str) -> bool:
    """Whether an uncaught exception ended the script, for which Python exits with 1 as well.

    A script that catches one may print its traceback; its line is inside a ``try`` then, or compiled output follows.
    """
    lines = {int(line) for line in re.findall(_LEFT_AT.format(name=re.escape(script.name)), output)}
    held = {
        line
        for node in ast.walk(parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.Try) and node.handlers
        for line in range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1)
    }
    return bool(lines - held) or ("Traceback (most recent call last)" in output and "compiled:" not in output)
