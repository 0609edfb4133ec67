"""Running a reproducer in a fresh process: confirmation while hunting, replay afterwards."""

from __future__ import annotations

import ast
import dataclasses
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.program.parsing import parse
from eqfuzz.triage.confirm.fresh_process import ProcessResult, run_fresh
from eqfuzz.triage.findings.folder import is_untrusted

FIXED, STILL_FAILING, ERROR = "FIXED", "STILL FAILING", "ERROR"

REPLAY_SECONDS = 600.0
"""A reproducer of a hang waits twice its own limit, and a cold compile on a loaded machine takes a minute."""

_LEFT_AT = r'Traceback \(most recent call last\):\n  File "[^"]*{name}", line (\d+), in <module>'

_EAGER_CAME_THROUGH = re.compile(r"^eager: ", re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)", re.MULTILINE)
"""Behind a traceback, whose own lines are indented."""

COLLECT_SECONDS = 120.0


@dataclasses.dataclass(frozen=True)
class ReplayOutcome:
    """``status`` is FIXED, STILL FAILING or ERROR; ``output`` the end of what the script printed.

    ``cause`` says in a few words, the same for all that end so, why it is not STILL FAILING.
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
) -> ReplayOutcome:
    """Run ``folder/repro.py`` in a fresh process with a kernel cache of its own; ``seconds`` is wall time.

    It is shut in where the program is ``untrusted``; None leaves that to what the folder says.
    Raises SandboxUnavailable.
    """
    shut_in = is_untrusted(folder) if untrusted is None else untrusted
    return run_script(folder / "repro.py", python, seconds, environment, [folder.resolve()] if shut_in else None)


def run_script(
    script: Path,
    python: str = sys.executable,
    seconds: float = REPLAY_SECONDS,
    environment: Mapping[str, str] | None = None,
    shut_in: Sequence[Path] | None = None,
) -> ReplayOutcome:
    """Run a script that exits with 1 while a defect is there and with 0 once it is fixed; see ``run_fresh``.

    One that crashes after its eager run has shown that something is wrong, whatever it was written for.
    """
    ended = run_fresh([python, str(script.resolve())], seconds, environment, shut_in)
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
    """How a script ended that broke down."""
    assert ended.status is not None
    if ended.status < 0:
        return f"its script is killed by {signal.Signals(-ended.status).name}"
    raised = _RAISED.search(ended.output.rpartition("Traceback (most recent call last):")[2])
    if "Traceback (most recent call last):" in ended.output and raised is not None:
        return f"its script raises {raised[1].split('.')[-1]}"
    return f"its script exits with {ended.status}"


def torch_versions(python: str) -> str:
    """What ``torch.utils.collect_env`` says of ``python``: its report for bug reports; empty where it says nothing."""
    ended = run_fresh([python, "-m", "torch.utils.collect_env"], COLLECT_SECONDS)
    _, found, report = ended.output.partition("PyTorch version:")
    return (found + report).strip()


def _broke_down(script: Path, output: str) -> bool:
    """Whether an exception left the script, for which Python exits with 1 too: no ``try`` of the module held it.

    A script that has caught one prints it, with its traceback perhaps, and then what was compiled.
    """
    lines = {int(line) for line in re.findall(_LEFT_AT.format(name=re.escape(script.name)), output)}
    held = {
        line
        for node in ast.walk(parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.Try) and node.handlers
        for line in range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1)
    }
    return bool(lines - held) or ("Traceback (most recent call last)" in output and "compiled:" not in output)
