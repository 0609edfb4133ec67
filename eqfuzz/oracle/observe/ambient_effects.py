"""Side effects outside of values: printed lines, the program's own warnings, states of random generators."""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import re
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch

from eqfuzz.torch_internals.source_tree import DYNAMO

_RECORDED_CHARACTERS = 1 << 16
_LINES = 1000
_FROM_KERNEL = "(Triggered internally at"
_FROM_NUMPY = re.compile(r"(invalid value|divide by zero|overflow|underflow) encountered in ")
_TORCH = Path(torch.__file__).parent
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
OF_TORCH = "torch.random.get_rng_state()"
"""The name of the state of torch's CPU generator among ``generators``."""


class AmbientEffects:
    """Records ``printed`` lines, and ``warned``, one ``category: message`` per warning, within ``recorded``."""

    def __init__(self) -> None:
        self.printed: list[str] = []
        self.warned: list[str] = []

    @contextlib.contextmanager
    def recorded(self, namespace: dict[str, Any]) -> Iterator[None]:
        """Record warnings that statements of the program in ``namespace`` issue; others are shown as before."""
        printed = _TeeStream(sys.stdout)
        with contextlib.redirect_stdout(printed), _warnings_of(namespace, self.warned):  # type: ignore[type-var]
            try:
                yield
            finally:
                text = _ADDRESS.sub("0x…", printed.recorded.getvalue())
                self.printed = text.splitlines()[:_LINES]


def generators() -> list[tuple[str, str]]:
    """A digest of the state of each generator that a program may use, by the expression that returns the state."""
    kind, keys, position, *rest = np.random.get_state()
    return [
        ("random.getstate()", _digest(repr(random.getstate()).encode())),
        ("repr(numpy.random.get_state())", _digest(np.asarray(keys).tobytes() + repr((kind, position, rest)).encode())),
        (OF_TORCH, _digest(torch.random.get_rng_state().numpy().tobytes())),
    ]


class _TeeStream(io.TextIOBase):
    """Writes to ``target`` and records the first characters."""

    def __init__(self, target: TextIO) -> None:
        super().__init__()
        self.recorded = io.StringIO()
        self._length = 0
        self._target = target

    def write(self, text: str, /) -> int:
        room = _RECORDED_CHARACTERS - self._length
        if room > 0:
            self._length += self.recorded.write(text[:room])
        self._target.write(text)
        return len(text)

    def flush(self) -> None:
        self._target.flush()


@contextlib.contextmanager
def _warnings_of(namespace: dict[str, Any], warned: list[str]) -> Iterator[None]:
    """Append every warning of the program itself to ``warned`` instead of showing it."""
    if not namespace:
        yield
        return
    before, own = warnings.showwarning, namespace["__file__"]

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if filename == own and not _torch_warns(str(message)):
            warned.append(f"{category.__name__}: {message}")
        else:
            before(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", module=re.escape(namespace["__name__"]))
        warnings.showwarning = show
        yield


def _torch_warns(message: str) -> bool:
    """Whether an operator issues the warning that is being shown, although it is attributed to the program's line.

    Compiled code runs other operators, or none, there: their warnings are not part of the program's meaning.
    """
    if _FROM_KERNEL in message or _FROM_NUMPY.match(message):
        return True
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in (__file__, warnings.__file__):
        frame = frame.f_back
    caller = Path("" if frame is None else frame.f_code.co_filename)
    return caller.is_relative_to(_TORCH) and not caller.is_relative_to(_TORCH / DYNAMO)


def _digest(state: bytes) -> str:
    return hashlib.blake2b(state, digest_size=8).hexdigest()
