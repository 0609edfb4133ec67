"""Preload: the user's file that is executed in every process that uses torch, before anything compiles."""

from __future__ import annotations

import linecache
import sys
import traceback
import types
from pathlib import Path

from eqfuzz.errors import error_line

NAME = "eqfuzz_preload"


def execute_preload(path: Path) -> types.ModuleType:
    """Execute the file at ``path`` as a module named ``eqfuzz_preload``. Raises what the file raises.

    Its text stays in ``linecache``, so that tracebacks and ``inspect.getsource`` (which Inductor calls on patterns and
    custom passes) work even if the file is changed or removed.
    """
    path = path.absolute()
    return execute_source(path.read_text(), path)


def execute_source(source: str, path: Path) -> types.ModuleType:
    """``execute_preload`` for the text of a file, which need not exist at ``path``."""
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    code = compile(source, str(path), "exec", dont_inherit=True)
    module = types.ModuleType(NAME)
    module.__file__ = str(path)
    # Dataclasses, pickling and inspect look a module up by its name.
    sys.modules[NAME] = module
    exec(code, module.__dict__)
    return module


def blame(error: BaseException, preload: Path | None) -> str:
    """One line on why a start failed: ``file:line: Type: message``, at the preload's line if it is involved."""
    message = error_line(error)
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {message}"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if preload is not None:
        own = [frame for frame in frames if frame[0] == str(preload.absolute())]
        if own:
            return f"{own[-1][0]}:{own[-1][1]}: {message}"
        if isinstance(error, OSError) and error.filename == str(preload.absolute()):
            return f"{preload}: {message}"
    if frames:
        return f"{frames[-1][0]}:{frames[-1][1]}: {message}"
    return message
