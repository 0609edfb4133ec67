"""Error boundary of every verb: maps exceptions to exit codes, with one line on stderr for each."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from eqfuzz.cli.exit_codes import INTERNAL, INTERRUPTED, USAGE, VerbFailed, complain
from eqfuzz.errors import UsageError, error_line


def exit_code_of(action: Callable[[], int], *, stopped: str = "", errors_in: Path | None = None) -> int:
    """The exit code that ``action`` returns, or that of the exception it raises.

    ``stopped`` completes the message about a closed pipe on stdout: what was done (empty: no message). The traceback of
    an internal error is written below ``errors_in`` (None: to the temporary folder).
    """
    try:
        return action()
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains again when it flushes stdout at its end
        if stopped:
            complain(f"stopped: stdout was closed; {stopped}")
        return INTERRUPTED
    except UsageError as error:
        complain(str(error))
        return USAGE
    except VerbFailed as error:
        complain(str(error))
        return INTERNAL
    except Exception as error:  # the boundary: the user gets one line, and a file with the traceback
        return _code_of_failure(error, errors_in)


def exit_code_of_long_run(action: Callable[[], int], *, stopped: str, errors_in: Path | None = None) -> int:
    """``exit_code_of`` for a verb that runs for a while: SIGTERM ends it as Ctrl-C does."""
    with _term_as_interrupt():
        return exit_code_of(action, stopped=stopped, errors_in=errors_in)


def _code_of_failure(error: Exception, errors_in: Path | None) -> int:
    from eqfuzz.mutate.seed_run import InternalError
    from eqfuzz.run.protocol import RunnerFailed

    if isinstance(error, RunnerFailed):
        complain(f"no process that runs programs could be started: {error}; see `eqfuzz doctor`")
        return USAGE
    if isinstance(error, InternalError):
        complain(f"internal error: {error}")
        return INTERNAL
    file = _write_traceback(errors_in)
    complain(f"internal error: {error_line(error)} (traceback in {file})")
    return INTERNAL


@contextlib.contextmanager
def _term_as_interrupt() -> Iterator[None]:
    """SIGTERM (the time limit of a nightly job) raises KeyboardInterrupt: children stopped, partial summary printed."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write_traceback(folder: Path | None) -> Path:
    """The file with the traceback of the exception being handled: below ``folder``, else in the temporary folder."""
    if folder is not None:
        with contextlib.suppress(OSError):  # what cannot be written there goes to the temporary folder
            errors = folder / "errors"
            errors.mkdir(parents=True, exist_ok=True)
            file = errors / f"run-{os.getpid()}.txt"
            file.write_text(traceback.format_exc(), encoding="utf-8")
            return file
    handle, name = tempfile.mkstemp(prefix="eqfuzz-error-", suffix=".txt", text=True)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(traceback.format_exc())
    return Path(name)
