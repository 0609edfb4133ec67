"""Lines of the compiler, or of all of torch, that run, by coverage.py's tracer."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path

import coverage  # imported early: a job must not add modules to a process that runs further jobs
import torch
from coverage.exceptions import CoverageWarning

from eqfuzz.torch_internals.dynamo import keep_out_of_dynamo
from eqfuzz.torch_internals.source_tree import CODE_CACHE, TRACED

_ROOT = Path(torch.__file__).resolve().parent  # as coverage names files


@contextlib.contextmanager
def traced_lines(into: dict[str, str], *, whole: bool = False) -> Iterator[None]:
    """Context that traces lines of the compiler, or of all of torch if ``whole``.

    Afterwards ``into`` has bitmaps of those that ran, as in ``LinesTraced``.
    """
    keep_out_of_dynamo("coverage")
    folders = [_ROOT] if whole else [_ROOT / package for package in TRACED]
    tracer = coverage.Coverage(include=[str(folder / "*") for folder in folders], data_file=None, config_file=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)  # for example, that no line ran
        tracer.start()
        try:
            yield
        finally:
            tracer.stop()
        data = tracer.get_data()
    for file in sorted(data.measured_files()):
        bits = bitmap(data.lines(file) or ())
        path = Path(file).relative_to(_ROOT).as_posix()
        if bits and (whole or path != CODE_CACHE):  # what runs there depends on what was compiled earlier
            into[path] = f"{bits:x}"


def bitmap(lines: list[int] | tuple[int, ...]) -> int:
    """An integer whose bit n says that line n is among ``lines``."""
    bits = bytearray(max(lines, default=0) // 8 + 1)
    for line in lines:
        bits[line // 8] |= 1 << line % 8
    return int.from_bytes(bits, "little")
