"""Which code of torch a fault replaces, and which programs run that code: what cannot differ need not be run first.

As in mutation testing, where tests that do not run a mutant's line are left out.
``python -m tools.fault_detection.reach FAULT.py...`` prints what each of the files replaces.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import importlib
import inspect
import json
import os
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.fault_detection.fault import Fault, execute, read_fault

ROOT = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True)
class Replaced:
    """The lines, by path below ``torch``, of the functions that a fault replaces; of some others it is not known."""

    lines: Mapping[str, frozenset[int]]

    def run_in(self, files: Mapping[str, str]) -> frozenset[tuple[str, int]]:
        """Which of the lines are among ``files``, bitmaps as in ``LinesCovered``."""
        bitmaps = {path: int(files[path], 16) for path in self.lines if path in files}
        return frozenset(
            (path, line) for path, bits in bitmaps.items() for line in self.lines[path] if bits >> line & 1
        )


def furthest_first(lines: Sequence[frozenset[tuple[str, int]]]) -> list[int]:
    """The positions of ``lines``, those first that have most lines which those before them have not; then over again.

    Additional coverage, as tests are put in order. Of equals the first comes first.
    """
    left, order = list(range(len(lines))), list[int]()
    met: set[tuple[str, int]] = set()
    while left:
        best = max(left, key=lambda position: len(lines[position] - met))
        if met and not lines[best] - met:
            met.clear()
            continue
        left.remove(best)
        met |= lines[best]
        order.append(best)
    return order


def replaced_by(faults: Sequence[Fault]) -> dict[str, Replaced]:
    """By name, what the faults replace. Those are missing that change something else than functions of torch's own.

    Raises CalledProcessError.
    """
    command = [sys.executable, "-m", "tools.fault_detection.reach", *(str(fault.path) for fault in faults)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=variables, check=True, stdout=subprocess.PIPE, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        found["fault"]: Replaced({path: frozenset(lines) for path, lines in found["lines"].items()})
        for found in told
        if found["lines"]
    }


def main(paths: Sequence[str]) -> None:
    """Print a JSON object for each fault; ``lines`` is null where more is changed than functions whose lines count."""
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx

    warnings.simplefilter("ignore", FutureWarning)  # of names in torch that are looked at only
    root = Path(torch.__file__).resolve().parent
    for fault in [read_fault(Path(path)) for path in paths]:
        _import_for(fault)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            print(json.dumps({"fault": fault.name, "lines": _lines_replaced(fault, root)}), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"{fault.name} could not be planted")


def _import_for(fault: Fault) -> None:
    """What the fault imports when it is planted: importing changes modules too."""
    for node in ast.walk(ast.parse(fault.path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                for alias in node.names:
                    importlib.import_module(alias.name)
            case ast.ImportFrom(module=str(module)):
                importlib.import_module(module)
                for alias in node.names:
                    with contextlib.suppress(ModuleNotFoundError):  # most names are no modules
                        importlib.import_module(f"{module}.{alias.name}")
            case _:
                pass


def _lines_replaced(fault: Fault, root: Path) -> dict[str, list[int]] | None:
    from eqfuzz.torch_internals.source_tree import TRACED

    before = dict(_parts())
    execute(fault, planted=True)
    after = dict(_parts())
    lines: dict[str, set[int]] = {}
    for key in before.keys() | after.keys():
        if before.get(key) is after.get(key):
            continue
        codes = list(_codes(before.get(key)))
        if not codes:
            return None
        for code in codes:
            path = Path(code.co_filename).resolve()  # an environment may be a link
            if not any(path.is_relative_to(root / package) for package in TRACED):
                return None
            own = {line for _, _, line in code.co_lines() if line is not None}
            lines.setdefault(path.relative_to(root).as_posix(), set()).update(own)
    return {path: sorted(found) for path, found in sorted(lines.items())} if lines else None


def _parts() -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """What torch's modules hold, what their classes do, and what is in the containers of both."""
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "torch" and isinstance(module, types.ModuleType):
            for attribute, value in list(vars(module).items()):
                yield (name, attribute), value
                yield from _inside((name, attribute), value)
                if isinstance(value, type) and value.__module__ == name:
                    for own, part in list(vars(value).items()):
                        yield (name, attribute, own), part
                        yield from _inside((name, attribute, own), part)


def _inside(key: tuple[str | int, ...], container: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(container, dict):
        for name, value in list(container.items()):
            yield (*key, id(name)), value
    elif isinstance(container, list | set | frozenset):
        for value in list(container):
            yield (*key, id(value)), value


def _codes(value: Any) -> Iterator[types.CodeType]:
    """The code of a function below what wraps it, of all functions in a tuple; nothing for what is not a function."""
    match value:
        case tuple():
            for part in value:
                yield from _codes(part)
        case staticmethod() | classmethod():
            yield from _codes(value.__func__)
        case property(fget=getter) if getter is not None:
            yield from _codes(getter)
        case _ if callable(value):
            function = inspect.unwrap(value)
            if isinstance(function, types.FunctionType):
                yield function.__code__
        case _:
            pass


if __name__ == "__main__":
    main(sys.argv[1:])
