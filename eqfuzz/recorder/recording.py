"""A recording: a model or function and some of its calls, in one zip file.

``recording.json`` says what it is; ``model`` and ``inputs-N`` are what ``torch.save`` writes of the module and of the
arguments of call N. Functions have no ``model``.
"""

from __future__ import annotations

import inspect
import io
import json
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

SUFFIX = ".recording"
FORMAT = 1
DESCRIPTION = "recording.json"
MODEL = "model"


class NotRecorded(Exception):
    """A model or a call cannot be recorded; ``str()`` is one line: what, and why."""


class Recording:
    """A module or function, with calls added before they are made: later changes of it are not recorded.

    ``limit`` is the largest size in bytes of the module and all inputs together, ``hint`` what is said where they are
    larger. Raises NotRecorded.
    """

    def __init__(self, target: Any, limit: int, hint: str = "") -> None:
        import torch

        self.is_module = isinstance(target, torch.nn.Module)
        definition = type(target) if self.is_module else target
        self._module, self.name = _place(definition)
        self._forward = target.forward if self.is_module else target
        self._limit = limit
        self._hint = hint
        self._files: dict[str, bytes] = {}
        self._calls: list[dict[str, Any]] = []
        self._size = 0
        if self.is_module:
            self._save(MODEL, target, "it")

    @property
    def calls(self) -> int:
        """Number of calls."""
        return len(self._calls)

    def add(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Add a call, unless one with the same shapes is there; whether it was added. Raises NotRecorded."""
        inputs = self._arguments(args, kwargs)
        shapes = _shapes(inputs)
        if any(call["inputs"] == shapes for call in self._calls):
            return False
        self._save(f"inputs-{len(self._calls)}", inputs, f"the inputs of call {len(self._calls)}")
        self._calls.append({"inputs": shapes})
        return True

    def write(self, path: Path, *, main: Path | None = None) -> None:
        """Write the file, complete or not at all. ``main`` has the text of ``__main__`` where that has no file of its
        own. Raises OSError.
        """
        search = [*([str(main.parent)] if main is not None else []), *sys.path]
        description = {
            "format": FORMAT,
            "module": self._module,
            "name": self.name,
            "is_module": self.is_module,
            "calls": self._calls,
            "search": [str(Path(entry).resolve()) for entry in search],
            "main": main.stem if main is not None else _main_name(sys.modules["__main__"]),
        }
        part = path.with_name(f"{path.name}.part")
        with zipfile.ZipFile(part, "w") as file:
            file.writestr(DESCRIPTION, json.dumps(description, indent=2))
            for name, content in self._files.items():
                file.writestr(name, content)
        part.replace(path)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | dict[str, Any]:
        """The arguments as positional ones, or as keywords where there are some."""
        if not kwargs:
            return args
        if not args:
            return kwargs
        try:
            bound = inspect.signature(self._forward).bind(*args, **kwargs)
        except (TypeError, ValueError) as error:
            raise NotRecorded(f"{self.name} cannot be called so: {error}") from None
        if not bound.kwargs:
            return bound.args
        parameters = bound.signature.parameters
        kinds = {parameters[name].kind for name in bound.arguments}
        if kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}:
            raise NotRecorded(f"{self.name} is called with positional arguments that have no name, and with keywords")
        names: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            names.update(value if parameters[name].kind is inspect.Parameter.VAR_KEYWORD else {name: value})
        return names

    def _save(self, name: str, value: Any, what: str) -> None:
        import torch

        subject = self.name if what == "it" else f"{self.name}: {what}"
        buffer = io.BytesIO()
        try:
            torch.save(value, buffer)
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise NotRecorded(f"{subject} cannot be saved: {reason}") from None
        content = buffer.getvalue()
        self._size += len(content)
        if self._size > self._limit:
            have = "has" if what == "it" else "have"
            raise NotRecorded(
                f"{subject} {have} {_megabytes(self._size)}, of which {_megabytes(self._limit)} are recorded"
                f"{self._hint}"
            )
        self._files[name] = content


def _place(definition: Any) -> tuple[str, str]:
    """The module and name of a class or function. Raises NotRecorded where its text cannot be read."""
    module, name = getattr(definition, "__module__", None), getattr(definition, "__qualname__", "")
    if not module or not name or not isinstance(definition, type | types.FunctionType):
        raise NotRecorded(
            f"an object of type {type(definition).__name__} is neither a module of torch.nn nor a function"
        )
    if "<" in name:
        what = "class" if isinstance(definition, type) else "function"
        plain = name.rpartition(".")[2]
        raise NotRecorded(f"{plain} is a {what} inside a function: define it at the top level of a module")
    return module, name


def _shapes(value: Any) -> str:
    """Dtypes and sizes of the tensors in arguments, and other arguments by their class."""
    import torch

    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shapes(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_shapes, value)) + ")"
    return repr(value) if isinstance(value, bool | int | float | str | None) else type(value).__name__


def _main_name(main: types.ModuleType) -> str:
    """What ``__main__`` is called as a module; empty where it has no file."""
    spec, file = main.__spec__, getattr(main, "__file__", None)
    if spec is not None:
        return spec.name
    return Path(file).stem if file else ""


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
