"""How a verb that runs for a while ends: its exit code, and the one line on stderr where it broke down."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from eqfuzz.cli.exit_codes import INTERNAL, INTERRUPTED, complain


def ended(action: Callable[[], int], *, stopped: str, keep: Path | None = None) -> int:
    """The exit code of ``action``, whose every way to end has its line on stderr here.

    ``stopped`` is said when nobody reads the output any more; the traceback of an internal error lands below ``keep``
    (None: in the temp folder).
    """
    try:
        with _term_as_interrupt():
            return action()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains again when it flushes stdout at its end
        complain(f"stopped: nobody reads the output any more; {stopped}")
        return INTERRUPTED
    except Exception as error:  # whatever broke down, people get one line and the file with the rest
        file = _keep_traceback(keep)
        told = str(error).split("\n")[0]
        complain(f"internal error: {type(error).__name__}: {told} (traceback in {file})")
        return INTERNAL


@contextlib.contextmanager
def _term_as_interrupt() -> Iterator[None]:
    """SIGTERM (a nightly job's time limit) ends a run as Ctrl-C does: children stopped, partial summary told."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _keep_traceback(out: Path | None) -> Path:
    """Where the traceback of the exception being handled was written: below ``out``, or in the temp folder."""
    if out is not None:
        with contextlib.suppress(OSError):  # the temp folder takes what cannot be written there
            folder = out / "errors"
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"run-{os.getpid()}.txt"
            file.write_text(traceback.format_exc(), encoding="utf-8")
            return file
    handle, name = tempfile.mkstemp(prefix="eqfuzz-error-", suffix=".txt", text=True)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(traceback.format_exc())
    return Path(name)
