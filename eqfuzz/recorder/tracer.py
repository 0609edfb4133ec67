"""Watches the modules and functions that a process calls, and records their first calls.

The chosen ones are recorded; without a choice those that ``torch.compile`` gets; where none of them is called, the
outermost modules that are. ``torch.compile`` compiles nothing here: what compiled code returns is not asked for.
"""

from __future__ import annotations

import functools
import importlib.machinery
import json
import os
import sys
import threading
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .recording import SUFFIX, NotRecorded, Recording

VARIABLE = "EQFUZZ_RECORD"
"""Has the settings, as JSON: ``folder``, ``chosen``, ``calls``, ``limit``."""

PROBLEMS = "problems"
"""The file in the folder with what could not be recorded, a line each."""

_MOST_MODULES = 20


class _Recorded:
    """A ``target`` with its recording, None where it cannot be recorded any further, and the file of that."""

    def __init__(self, target: Any) -> None:
        self.target = target  # so that no other object gets its id
        self.recording: Recording | None = None
        self.path = Path()


class Tracer:
    """Records calls into ``folder``: of the modules and functions with ``chosen`` names, or without those of all that
    matter; so many different ``calls`` of each, and ``limit`` bytes.
    """

    def __init__(self, folder: str, chosen: Sequence[str], calls: int, limit: int) -> None:
        self._folder = Path(folder)
        self._chosen = frozenset(chosen)
        self._most = calls
        self._limit = limit
        self._process = os.getpid()
        self._compiled: dict[int, Any] = {}
        """Modules that ``torch.compile`` got, by id."""
        self._calls_compiled = False
        self._recordings: dict[int, _Recorded] = {}
        """By id of the target."""
        self._names: dict[str, int] = {}
        self._problems: set[str] = set()
        self._here = threading.local()

    def install(self, torch: Any) -> None:
        """Watch the modules of this process, once torch is imported."""
        call = torch.nn.Module.__call__

        @functools.wraps(call)
        def watched(module: Any, *args: Any, **kwargs: Any) -> Any:
            depth = getattr(self._here, "depth", 0)
            self._here.depth = depth + 1
            try:
                if self._is_wanted(module, depth):
                    self._record(module, args, kwargs)
                return call(module, *args, **kwargs)
            finally:
                self._here.depth = depth

        torch.nn.Module.__call__ = watched
        torch.compile = functools.wraps(torch.compile)(functools.partial(self._compile, torch))

    def _compile(self, torch: Any, model: Any = None, **options: Any) -> Any:
        """In place of ``torch.compile``: the model or function itself, which is recorded when it is called."""
        if model is None:
            return lambda target: self._compile(torch, target, **options)
        module = getattr(model, "__self__", model)
        self._compiled[id(module)] = module
        if isinstance(module, torch.nn.Module):
            return model

        @functools.wraps(model)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if self._is_chosen(model) if self._chosen else self._is_compiled(module):
                self._record(model, args, kwargs)
            return model(*args, **kwargs)

        return watched

    def _is_wanted(self, module: Any, depth: int) -> bool:
        if self._chosen:
            return self._is_chosen(type(module))
        if self._is_compiled(module):
            return True
        if self._calls_compiled:
            return False
        is_torchs = type(module).__module__.startswith("torch.")
        return depth == 0 and (not is_torchs or next(module.parameters(), None) is not None)

    def _is_compiled(self, target: Any) -> bool:
        """Whether ``torch.compile`` got what is called now. The first such call forgets all others."""
        if id(target) not in self._compiled:
            return False
        if not self._calls_compiled:
            self._calls_compiled = True
            self._forget_eager()
        return True

    def _is_chosen(self, definition: Any) -> bool:
        name = getattr(definition, "__qualname__", "")
        return name in self._chosen or f"{getattr(definition, '__module__', '')}:{name}" in self._chosen

    def _record(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if os.getpid() != self._process:
            return  # a worker of a data loader, or the like
        recorded = self._recordings.get(id(target)) or self._begin(target)
        if recorded.recording is None or recorded.recording.calls >= self._most:
            return
        try:
            if recorded.recording.add(args, kwargs):
                recorded.recording.write(recorded.path)
        except (NotRecorded, OSError) as error:
            self._report(str(error))
            recorded.recording = None  # saving it again at each call would take long

    def _begin(self, target: Any) -> _Recorded:
        recorded = self._recordings[id(target)] = _Recorded(target)
        if sum(other.recording is not None for other in self._recordings.values()) >= _MOST_MODULES:
            self._report(f"{_MOST_MODULES} modules are recorded: choose others with --module")
            return recorded
        try:
            recording = Recording(target, self._limit, ": set a larger --limit")
        except NotRecorded as error:
            self._report(str(error))
            return recorded
        number = self._names[recording.name] = self._names.get(recording.name, 0) + 1
        name = recording.name if number == 1 else f"{recording.name}-{number}"
        recorded.recording, recorded.path = recording, self._folder / f"{name}{SUFFIX}"
        return recorded

    def _forget_eager(self) -> None:
        """Drop what was recorded before anything compiled was called."""
        for recorded in self._recordings.values():
            recorded.path.unlink(missing_ok=True)
        self._recordings.clear()
        self._names.clear()

    def _report(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.add(problem)
            with (self._folder / PROBLEMS).open("a", encoding="utf-8") as file:
                file.write(problem + "\n")


class TorchWaiter:
    """Installs a tracer as soon as torch is imported."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """The spec of torch, which installs the tracer after it has run; None for other modules."""
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = self._then_install(spec.loader.exec_module)  # type: ignore[method-assign]
        return spec

    def _then_install(self, run: Callable[[types.ModuleType], None]) -> Callable[[types.ModuleType], None]:
        def run_and_install(module: types.ModuleType) -> None:
            run(module)
            self._tracer.install(module)

        return run_and_install


def trace() -> None:
    """Trace this process as the environment variable says."""
    settings = os.environ.get(VARIABLE)
    if settings:
        sys.meta_path.insert(0, TorchWaiter(Tracer(**json.loads(settings))))  # type: ignore[arg-type]
