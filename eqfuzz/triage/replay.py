"""Running a reproducer in a fresh process: confirmation while hunting, replay afterwards."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.triage.folder import is_untrusted
from eqfuzz.triage.fresh_process import run_fresh

FIXED, STILL_FAILING, ERROR = "FIXED", "STILL FAILING", "ERROR"

REPLAY_SECONDS = 600.0
"""A reproducer of a hang waits twice its own limit, and a cold compile on a loaded machine takes a minute."""

_LEFT_AT = r'Traceback \(most recent call last\):\n  File "[^"]*{name}", line (\d+), in <module>'

COLLECT_SECONDS = 120.0


@dataclasses.dataclass(frozen=True)
class Outcome:
    """``status`` is FIXED, STILL FAILING or ERROR; ``output`` the end of what the script printed."""

    status: str
    output: str


def replay(
    folder: Path,
    python: str = sys.executable,
    seconds: float = REPLAY_SECONDS,
    environment: Mapping[str, str] | None = None,
    *,
    untrusted: bool | None = None,
) -> Outcome:
    """Run ``folder/repro.py`` in a fresh process with a kernel cache of its own; ``seconds`` is wall time.

    It is shut in where the program is ``untrusted``; None leaves that to what the folder says. Raises NoSandbox.
    """
    shut_in = is_untrusted(folder) if untrusted is None else untrusted
    return run_script(folder / "repro.py", python, seconds, environment, [folder.resolve()] if shut_in else None)


def run_script(
    script: Path,
    python: str = sys.executable,
    seconds: float = REPLAY_SECONDS,
    environment: Mapping[str, str] | None = None,
    shut_in: Sequence[Path] | None = None,
) -> Outcome:
    """Run a script that exits with 1 while a defect is there and with 0 once it is fixed; see ``run_fresh``."""
    ended = run_fresh([python, str(script.resolve())], seconds, environment, shut_in)
    if ended.status is None and ended.output:
        return Outcome(ERROR, ended.output[-4000:])
    if ended.status is None:
        return Outcome(ERROR, f"the script did not end within {seconds:g} s")
    status = {0: FIXED, 1: STILL_FAILING}.get(ended.status, ERROR)
    if status == STILL_FAILING and _broke_down(script, ended.output):
        status = ERROR
    return Outcome(status, ended.output[-4000:])


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
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.Try) and node.handlers
        for line in range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1)
    }
    return bool(lines - held) or ("Traceback (most recent call last)" in output and "compiled:" not in output)
