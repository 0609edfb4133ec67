"""Plugin of pytest: the marker ``eqfuzz`` and options that say how tests check models with ``eqfuzz``."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_OPTIONS = {
    "time": (str, "TIME", "longest time of a check: 90, 10m (default: 5m)"),
    "variants": (int, "N", "rewritten variants of each model (default: 3)"),
    "config": (str, "NAME", "compile configuration (default: inductor)"),
    "backend": (str, "NAME", "in its place, a backend that is registered with torch.compile"),
    "preload": (Path, "FILE", "Python file run in every child process, such as one that registers the backend"),
    "jobs": (int, "N", "programs of a check run at once (default: one for each core)"),
    "out": (Path, "DIR", "folder with a folder of findings for each test (default: eqfuzz-out)"),
}
"""Type, placeholder and help of each option; the marker has arguments of these names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the command line; the same names with underscores in the ini file."""
    group = parser.getgroup("eqfuzz", "eqfuzz: models compiled and in eager")
    for name, (kind, metavar, text) in _OPTIONS.items():
        group.addoption(f"--eqfuzz-{name}", type=kind, metavar=metavar, help=text)
        parser.addini(f"eqfuzz_{name}", text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    arguments = ", ".join(f"{name}=…" for name in _OPTIONS)
    config.addinivalue_line("markers", f"eqfuzz({arguments}): how eqfuzz checks models in this test")


@pytest.hookimpl(hookwrapper=True)  # which older releases of pytest know too
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Run a test with the values of its marker, of the command line, or of the ini file, in this order."""
    from eqfuzz.api.defaults import CheckDefaults, defaults_set

    values = _values(item)
    defaults = CheckDefaults(jobs=_cores()).with_(values)
    folder = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")
    with defaults_set(defaults.with_({"out": Path(defaults.out) / folder})):
        yield


def _values(item: pytest.Item) -> dict[str, Any]:
    """What the user has set for a test; None where nothing. Raises UsageError of pytest."""
    values: dict[str, Any] = {}
    for name, (kind, *_) in _OPTIONS.items():
        written = item.config.getini(f"eqfuzz_{name}")
        option = item.config.getoption(f"--eqfuzz-{name}")
        try:
            values[name] = option if option is not None or not written else kind(written)
        except ValueError:
            raise pytest.UsageError(f"eqfuzz_{name}: {written!r} is no {kind.__name__}") from None
    for marker in reversed(list(item.iter_markers("eqfuzz"))):
        unknown = [*map(repr, marker.args), *(set(marker.kwargs) - set(_OPTIONS))]
        if unknown:
            raise pytest.UsageError(f"{item.nodeid}: the marker eqfuzz has no {unknown[0]}: {', '.join(_OPTIONS)}")
        values.update(marker.kwargs)
    return values


def _cores() -> int:
    """The share of the cores that this worker of pytest-xdist has; all of them without it."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, len(os.sched_getaffinity(0)) // workers)
