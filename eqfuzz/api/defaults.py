"""What a check does where its caller does not say; a test runner sets it for each test."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class CheckDefaults:
    """Values of the arguments of ``eqfuzz.check`` that are left out.

    Attributes:
        variants: Number of rewritten variants.
        time: Wall seconds, or a duration such as "5m".
        config: Name of a compile configuration.
        backend: In its place, the name of a registered backend; None: the configuration's own.
        preload: Python file that is run in every child process; None for none.
        jobs: Programs run at once; None: one for each core.
        out: Folder of everything that is written.
    """

    variants: int = 3
    time: float | str = "5m"
    config: str = "inductor"
    backend: str | None = None
    preload: Path | None = None
    jobs: int | None = None
    out: Path = Path("eqfuzz-out")

    def with_(self, changes: Mapping[str, Any]) -> CheckDefaults:
        """The defaults with those of ``changes`` that are not None. Raises TypeError for other names."""
        return dataclasses.replace(self, **{name: value for name, value in changes.items() if value is not None})


_DEFAULTS: ContextVar[CheckDefaults | None] = ContextVar("eqfuzz_defaults", default=None)


def current_defaults() -> CheckDefaults:
    """The defaults here."""
    return _DEFAULTS.get() or CheckDefaults()


@contextlib.contextmanager
def defaults_set(defaults: CheckDefaults) -> Iterator[None]:
    """The context in which they are ``defaults``."""
    token = _DEFAULTS.set(defaults)
    try:
        yield
    finally:
        _DEFAULTS.reset(token)
