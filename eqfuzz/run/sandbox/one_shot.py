"""A command run to its end in a sandbox of its own."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import eqfuzz
from eqfuzz.run.kernels.toolchain import lay_out, place
from eqfuzz.run.limits import GIB
from eqfuzz.run.messages.codec import decoder_of
from eqfuzz.run.processes.process_tree import kill_family
from eqfuzz.run.protocol import BadMessage
from eqfuzz.run.sandbox.bubblewrap import TEMPORARY, start_sandboxed
from eqfuzz.run.sandbox.detection import SandboxLevel
from eqfuzz.run.sandbox.init_process import CommandResult
from eqfuzz.run.sandbox.launcher import require_level
from eqfuzz.run.sandbox.mounts import USER, clean_variables, narrow_view
from eqfuzz.run.sandbox.policy import DISK_BYTES, SandboxPolicy

MEMORY_BYTES = 17 * GIB
"""A reproducer of exhausted memory limits itself to 16."""

_PACKAGE = Path(eqfuzz.__file__).parents[1]


def run_sandboxed(
    command: Sequence[str],
    seconds: float,
    visible: Sequence[Path],
    variables: Mapping[str, str],
    memory_bytes: int = MEMORY_BYTES,
) -> CommandResult | None:
    """Run ``command``, whose first word is an absolute path, for ``seconds`` of wall time at most; None: it took more.

    The paths ``visible`` are visible in addition to those of every sandbox, ``variables`` are added to its environment.
    It holds ``memory_bytes`` at most. Raises SandboxUnavailable.
    """
    level = require_level()
    toolchain = place()
    with tempfile.TemporaryDirectory(prefix="eqfuzz-fresh-") as name:
        folder = TEMPORARY if level is SandboxLevel.BUBBLEWRAP else name
        view = narrow_view().with_paths([*narrow_view(command[0]).paths, toolchain, *visible])
        policy = SandboxPolicy(
            level="bubblewrap" if level is SandboxLevel.BUBBLEWRAP else "landlock",
            folder=folder,
            read=tuple(str(path) for path in view.paths),
            toolchain=str(toolchain or ""),
            memory_bytes=memory_bytes,
        )
        own = {"TMPDIR": folder, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        environment = {**clean_variables(), **variables, **own}
        first = [
            sys.executable,
            "-m",
            "eqfuzz.run.sandbox.init_process",
            json.dumps(dataclasses.asdict(policy)),
            *command,
        ]
        if level is SandboxLevel.BUBBLEWRAP:
            process = start_sandboxed(
                first,
                view,
                environment,
                folder=str(_PACKAGE),
                disk_bytes=DISK_BYTES,
                output=subprocess.PIPE,
            )
        else:
            if toolchain is not None:
                lay_out(toolchain, Path(folder), USER, Path(folder) / "cache", read_only=True)
            process = subprocess.Popen(
                first,
                env=environment,
                cwd=_PACKAGE,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                kill_family(process.pid)
                process.wait()
    return _read(output)


def _read(output: bytes) -> CommandResult:
    """The result that the first process printed; if it printed none, what it printed instead."""
    try:
        return decoder_of(CommandResult).decode(output.strip().splitlines()[-1])
    except (IndexError, BadMessage):
        text = output.decode(errors="replace")
        return CommandResult(status=None, output=f"the sandbox broke down: {text[-2000:]}", saved="")
