"""``python -m eqfuzz.run.sandbox.init_process WARD COMMAND...``: the first process of a sandbox for one command.

It stays outside what it shuts the command in, watches what that uses, and tells of its end as one JSON object on
standard output: ``{"status": exit status, "output": the end of what it printed, "saved": the text of its file}``. The
command has a file of its own to write, whose name is in ``eqfuzzSAVED``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from eqfuzz.run.sandbox.policy import SandboxPolicy
from eqfuzz.run.sandbox.supervisor import SandboxSupervisor

SAVED = "eqfuzzSAVED"
"""The environment variable that names the file that the command may write for whoever started it."""

OUTPUT_BYTES = 2**20
SAVED_BYTES = 64 * 2**20

_LOOKS = 0.2
_BROKEN = 70


@dataclasses.dataclass(frozen=True)
class CommandResult:
    """``status`` is None where the command was ended for what it used, which ``output`` says at its end."""

    status: int | None
    output: str
    saved: str


def main(arguments: list[str]) -> int:
    """Run the command to its end, tell of it, and leave nothing of it."""
    ward, command = SandboxPolicy(**json.loads(arguments[0])), arguments[1:]
    keeper = SandboxSupervisor(ward)
    folder = Path(ward.folder)
    printed, saved = folder / "printed", folder / "saved"
    with printed.open("wb") as output:
        pid = os.fork()
        if pid == 0:
            _become(command, keeper, ward, output.fileno(), saved)
    keeper.settle()
    status, why = _wait(keeper, pid)
    keeper.end([pid])
    text = _tail(printed, OUTPUT_BYTES) + (f"\nin the sandbox: {why}" if why else "")
    told = CommandResult(None if why else status, text, _tail(saved, SAVED_BYTES))
    sys.stdout.write(json.dumps(dataclasses.asdict(told)) + "\n")
    sys.stdout.flush()
    return 0


def _become(command: list[str], keeper: SandboxSupervisor, ward: SandboxPolicy, output: int, saved: Path) -> NoReturn:
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ[SAVED] = str(saved)
        os.chdir(keeper.confine(ward.folder, ward.memory_bytes))
        os.closerange(3, 4096)
        os.execvp(command[0], command)
    except BaseException:  # it must end here
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(_BROKEN)


def _wait(keeper: SandboxSupervisor, pid: int) -> tuple[int, str | None]:
    """The exit status (negative: the signal) of the command, and why it was ended, if it was."""
    why: str | None = None
    while True:
        signal.sigtimedwait({signal.SIGCHLD}, _LOOKS)
        while True:
            try:
                dead, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return _BROKEN, why
            if dead == pid:
                return os.waitstatus_to_exitcode(status), why
            if dead == 0:
                break
        if why is None and (why := keeper.look([pid])) is not None:
            keeper.end([pid])


def _tail(path: Path, size: int) -> str:
    """The end of a file that the command may have made anything of."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read(size).decode(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    code = main(sys.argv[1:])
    os._exit(code)
