"""Plugin of pytest: the marker ``eqfuzz`` and options that say how tests check models with ``eqfuzz``."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

_LONGEST_NAME = 100

OPTIONS = {
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
    for name, (kind, metavar, text) in OPTIONS.items():
        group.addoption(f"--eqfuzz-{name}", type=kind, metavar=metavar, help=text)
        parser.addini(f"eqfuzz_{name}", text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and check the values of the command line and the ini file. Raises UsageError of pytest."""
    arguments = ", ".join(f"{name}=…" for name in OPTIONS)
    config.addinivalue_line("markers", f"eqfuzz({arguments}): how eqfuzz checks models in this test")
    _configured(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check the markers. Raises UsageError of pytest."""
    for item in items:
        for marker in item.iter_markers("eqfuzz"):
            unknown = [*map(repr, marker.args), *(set(marker.kwargs) - set(OPTIONS))]
            if unknown:
                options = ", ".join(OPTIONS)
                raise pytest.UsageError(f"{item.nodeid}: the marker eqfuzz has no {unknown[0]}: {options}")
            _require_one(marker.kwargs, f"{item.nodeid}: the marker eqfuzz")


@pytest.hookimpl(hookwrapper=True)  # which older releases of pytest know too
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None]:
    """Run a test and its fixtures with the values of its marker, of the command line, or of the ini file."""
    from eqfuzz.api.defaults import CheckDefaults, defaults_set

    values = _configured(item.config)
    for marker in reversed(list(item.iter_markers("eqfuzz"))):
        _override(values, {name: _resolved(name, value, item.config.rootpath) for name, value in marker.kwargs.items()})
    defaults = CheckDefaults(jobs=_cores(), out=item.config.rootpath / "eqfuzz-out").with_(values)
    with defaults_set(defaults.with_({"out": defaults.out / _folder_of(item.nodeid)})):
        yield


def _configured(config: pytest.Config) -> dict[str, Any]:
    """What the command line sets, else the ini file. Raises UsageError of pytest."""
    written: dict[str, Any] = {}
    for name, (kind, *_) in OPTIONS.items():
        text = config.getini(f"eqfuzz_{name}")
        try:
            if text:
                written[name] = _resolved(name, kind(text), config.rootpath)
        except ValueError:
            raise pytest.UsageError(f"eqfuzz_{name}: {text!r} is no {kind.__name__}") from None
    _require_one(written, "the ini file")
    chosen: dict[str, Any] = {}
    for name in OPTIONS:
        value = config.getoption(f"--eqfuzz-{name}")
        if value is not None:
            chosen[name] = _resolved(name, value, config.invocation_params.dir)
    _require_one(chosen, "the command line")
    _override(written, chosen)
    return written


def _override(values: dict[str, Any], others: Mapping[str, Any]) -> None:
    """Put others in place of values; a configuration takes the place of a backend too, and the other way round."""
    if "config" in others or "backend" in others:
        values.pop("config", None)
        values.pop("backend", None)
    values.update(others)


def _require_one(values: Mapping[str, Any], where: str) -> None:
    if "config" in values and "backend" in values:
        raise pytest.UsageError(f"{where} names a configuration and a backend of eqfuzz: name one")


def _resolved(name: str, value: Any, folder: Path) -> Any:
    """A value, paths as absolute ones: tests may change the folder that they run in."""
    return folder / value if OPTIONS[name][0] is Path else value


def _folder_of(nodeid: str) -> str:
    """The name of a test's folder; with a digest where it is not the whole name of the test."""
    name = re.sub(r"/|::", "-", nodeid)
    plain = re.sub(r"[^\w.-]+", "-", name)[:_LONGEST_NAME].strip("-")
    return plain if plain == name else f"{plain}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}"


def _cores() -> int:
    """The share of the cores that this worker of pytest-xdist has; all of them without it."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, len(os.sched_getaffinity(0)) // workers)
