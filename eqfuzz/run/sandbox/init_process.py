"""``python -m eqfuzz.run.sandbox.init_process POLICY COMMAND...``: the first process of a sandbox for one command.

It is not confined itself, supervises what the command uses, and prints a ``CommandResult`` as one line of JSON. The
command may write a file, whose name is in ``eqfuzzSAVED``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Literal, NoReturn

from eqfuzz.run.messages.codec import Message, encode
from eqfuzz.run.sandbox.policy import SandboxPolicy
from eqfuzz.run.sandbox.supervisor import SandboxSupervisor

SAVED = "eqfuzzSAVED"
"""The environment variable that names the file that the command may write for its caller."""

OUTPUT_BYTES = 2**20
SAVED_BYTES = 64 * 2**20

_SECONDS_BETWEEN_CHECKS = 0.2
_BROKEN = 70


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandResult(Message):
    """How the command ended: its exit status (negative: the signal), the end of what it printed, the text of its file.

    ``status`` is None where it was ended because of what it used; ``output`` ends with the reason then.
    """

    event: Literal["command-result"] = "command-result"
    status: int | None
    output: str
    saved: str


def main(arguments: list[str]) -> int:
    """Run the command to its end, print the result, and leave no process of it."""
    policy, command = SandboxPolicy(**json.loads(arguments[0])), arguments[1:]
    supervisor = SandboxSupervisor(policy)
    folder = Path(policy.folder)
    printed, saved = folder / "printed", folder / "saved"
    with printed.open("wb") as output:
        pid = os.fork()
        if pid == 0:
            _become(command, supervisor, policy, output.fileno(), saved)
    supervisor.settle()
    status, why = _wait(supervisor, pid)
    supervisor.end([pid])
    text = _tail(printed, OUTPUT_BYTES) + (f"\nin the sandbox: {why}" if why else "")
    result = CommandResult(status=None if why else status, output=text, saved=_tail(saved, SAVED_BYTES))
    sys.stdout.buffer.write(encode(result))
    sys.stdout.flush()
    return 0


def _become(
    command: list[str], supervisor: SandboxSupervisor, policy: SandboxPolicy, output: int, saved: Path
) -> NoReturn:
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ[SAVED] = str(saved)
        os.chdir(supervisor.confine(policy.folder, policy.memory_bytes))
        os.closerange(3, 4096)
        os.execvp(command[0], command)
    except BaseException:  # it must end here
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(_BROKEN)


def _wait(supervisor: SandboxSupervisor, pid: int) -> tuple[int, str | None]:
    """The exit status (negative: the signal) of the command, and why it was ended, if it was."""
    why: str | None = None
    while True:
        signal.sigtimedwait({signal.SIGCHLD}, _SECONDS_BETWEEN_CHECKS)
        while True:
            try:
                dead, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return _BROKEN, why
            if dead == pid:
                return os.waitstatus_to_exitcode(status), why
            if dead == 0:
                break
        if why is None and (why := supervisor.check([pid])) is not None:
            supervisor.end([pid])


def _tail(path: Path, size: int) -> str:
    """The end of a file that the command may have replaced by anything."""
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
