"""Lines of torch that a fault replaces: programs that do not run them cannot detect the fault.

As in mutation testing, where tests that do not run a mutant's line are skipped.
``python -m tools.fault_detection.detection.reach FAULT.py...`` prints what each of the files replaces.
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

ROOT = Path(__file__).parents[3]


@dataclasses.dataclass(frozen=True)
class ReplacedLines:
    """The lines of the functions that a fault replaces, by path below ``torch``."""

    lines: Mapping[str, frozenset[int]]

    def run_in(self, files: Mapping[str, str]) -> frozenset[tuple[str, int]]:
        """The lines that are set in ``files``, bitmaps as in ``LinesCovered``, as pairs of path and line."""
        bitmaps = {path: int(files[path], 16) for path in self.lines if path in files}
        return frozenset(
            (path, line) for path, bits in bitmaps.items() for line in self.lines[path] if bits >> line & 1
        )


def order_by_new_lines(lines: Sequence[frozenset[tuple[str, int]]], costs: Sequence[float]) -> list[int]:
    """The positions of ``lines`` by additional coverage per cost, as tests are prioritised; ties keep their order.

    Each position adds the most lines for its cost to those before it. When all are covered, coverage starts anew.
    """
    left, order = list(range(len(lines))), list[int]()
    covered: set[tuple[str, int]] = set()
    while left:
        best = max(left, key=lambda position: len(lines[position] - covered) / costs[position])
        if covered and not lines[best] - covered:
            covered.clear()
            continue
        left.remove(best)
        covered |= lines[best]
        order.append(best)
    return order


def replaced_by(faults: Sequence[Fault]) -> dict[str, ReplacedLines]:
    """What the faults replace, by name. Faults that change anything but functions of torch are left out.

    Raises CalledProcessError.
    """
    command = [sys.executable, "-m", "tools.fault_detection.detection.reach", *(str(fault.path) for fault in faults)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    process = subprocess.run(command, cwd=ROOT, env=variables, check=True, stdout=subprocess.PIPE, text=True)
    entries = [json.loads(line) for line in process.stdout.splitlines()]
    return {
        entry["fault"]: ReplacedLines({path: frozenset(lines) for path, lines in entry["lines"].items()})
        for entry in entries
        if entry["lines"]
    }


def main(paths: Sequence[str]) -> None:
    """Print a JSON object for each fault; ``lines`` is null where it changes anything but traced functions of torch."""
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx

    warnings.simplefilter("ignore", FutureWarning)  # names of torch are only read
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
    """Import what planting the fault imports, since importing changes modules too."""
    for node in ast.walk(ast.parse(fault.path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                for alias in node.names:
                    importlib.import_module(alias.name)
            case ast.ImportFrom(module=str(module)):
                importlib.import_module(module)
                for alias in node.names:
                    with contextlib.suppress(ModuleNotFoundError):  # most names are not modules
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
            path = Path(code.co_filename).resolve()  # an environment may contain links
            if not any(path.is_relative_to(root / package) for package in TRACED):
                return None
            own = {line for _, _, line in code.co_lines() if line is not None}
            lines.setdefault(path.relative_to(root).as_posix(), set()).update(own)
    return {path: sorted(numbers) for path, numbers in sorted(lines.items())} if lines else None


def _parts() -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """All attributes of torch's modules and of their classes, and the entries of containers among them, by key."""
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
    """The code of an unwrapped function, or of all functions in a tuple; nothing for other values."""
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
