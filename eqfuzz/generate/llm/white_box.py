"""Parts of the installed torch's compiler that a prompt can show: passes, lowerings, variable trackers of Dynamo.

They are read from its source files, without importing torch. ``HitSignal`` says how it is detected that a part is
reached, in `eqfuzz.generate.llm.target_coverage`.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from eqfuzz.program.derived import derived
from eqfuzz.program.parsing import parse
from eqfuzz.torch_internals.source_tree import GRAPH_PASSES, LOWERINGS, TEMPLATES, TRACKERS, torch_folder

MOST_SOURCE = 9000
"""Maximal characters of source that a prompt shows; longer sources are truncated in the middle."""


class PartKind(StrEnum):
    PASS = "pass"
    LOWERING = "lowering"
    TRACKER = "tracker"


class HitSignal(StrEnum):
    """The event that shows that a part is reached.

    ``CALLED``: the function is called; it is called only where it applies. ``TRUE``: the function returns True, which
    says that it applies. ``CHANGED``: the function changes the graph; it is called on every graph or match. ``METHOD``:
    an instance of the class is created, or a method is called on one.
    """

    CALLED = "called"
    TRUE = "true"
    CHANGED = "changed"
    METHOD = "method"


@dataclasses.dataclass(frozen=True)
class CompilerPart:
    """A part of the compiler.

    Attributes:
        name: ``kind:module.function``.
        kind: A pass, a lowering or a variable tracker.
        signal: The event that shows that it is reached.
        file: Its file, which begins with ``torch/``.
        first: Its first line, from 1.
        last: Its last line.
        watched: Names of the functions that the profiler watches.
        operators: Those of a lowering.
    """

    name: str
    kind: PartKind
    signal: HitSignal
    file: str
    first: int
    last: int
    watched: tuple[str, ...]
    operators: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def place(self) -> str:
        """The file and its first line, as ``torch/….py:12``."""
        return f"{self.file}:{self.first}"

    @property
    def source(self) -> str:
        """Its source, decorators included, truncated in the middle where it is long."""
        lines = (torch_folder().parent / self.file).read_text(encoding="utf-8").split("\n")
        text = "\n".join(lines[self.first - 1 : self.last])
        if len(text) <= MOST_SOURCE:
            return text
        head, tail = text[: MOST_SOURCE * 2 // 3], text[-MOST_SOURCE // 3 :]
        return f"{head.rpartition(chr(10))[0]}\n    # … left out …\n{tail.partition(chr(10))[2]}"

    def for_prompt(self) -> dict[str, str]:
        """The variables of a prompt that shows it."""
        import importlib.metadata  # here: listings do without

        return {
            "kind": {
                PartKind.PASS: "the graph pass",
                PartKind.LOWERING: "the lowering",
                PartKind.TRACKER: "the tracker",
            }[self.kind],
            "label": self.label,
            "torch": importlib.metadata.version("torch").partition("+")[0],
            "place": self.place,
            "source": self.source,
            "goal": self._goal(),
            "hint": _HINTS[self.kind],
        }

    def _goal(self) -> str:
        if self.kind is PartKind.TRACKER:
            return "creates this variable tracker and calls its methods"
        if self.kind is PartKind.LOWERING:
            operators = f" of {', '.join(self.operators)}" if self.operators else ""
            return f"goes through this lowering{operators}"
        if self.signal is HitSignal.CHANGED:
            return "changes the graph in this function"
        return "applies this function to the graph"

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CompilerPart:
        lists = {key: tuple(data[key]) for key in ("watched", "operators")}
        return cls(**{**data, **lists, "kind": PartKind(data["kind"]), "signal": HitSignal(data["signal"])})


_HINTS = {
    PartKind.PASS: ", so that a wrong rewrite shows in what is returned",
    PartKind.LOWERING: ", and vary its arguments between the input sets",
    PartKind.TRACKER: ", and return what depends on it",
}

_GRAPH_PATTERNS = {"register_graph_pattern", "register_binary_folding_pattern", "register_freezing_graph_pattern"}
_LOWERING_PATTERNS = {"register_lowering_pattern", "register_freezing_lowering_pattern"}
_LEFT_OUT_MODULES = {"__init__", "utils", "graph_view", "numeric_utils", "memory_estimator"}
_OF_OTHER_MACHINES = ("comm", "fsdp", "ddp", "micro_pipeline", "bucketing", "overlap", "spmd", "node_runtime")


@cache
def parts() -> dict[str, CompilerPart]:
    """All parts of the installed torch by name, in the order of files and lines."""
    torch = torch_folder()
    passes = [
        path
        for path in sorted((torch / GRAPH_PASSES).glob("*.py"))
        if path.stem not in _LEFT_OUT_MODULES and not any(word in path.stem for word in _OF_OTHER_MACHINES)
    ]
    lowerings = [path for path in (torch / LOWERINGS, *sorted((torch / TEMPLATES).glob("*.py"))) if path.is_file()]
    trackers = [
        path for path in sorted((torch / TRACKERS).glob("*.py")) if path.stem not in ("__init__", "base", "lazy")
    ]

    def derive() -> list[dict[str, Any]]:
        read = ((_passes, passes), (_lowerings, lowerings), (_trackers, trackers))
        every = {part.name: part for parts_in, paths in read for path in paths for part in parts_in(path)}
        return [part.to_json() for part in every.values()]

    sources = [Path(__file__), *passes, *lowerings, *trackers]
    return {part["name"]: CompilerPart.from_json(part) for part in derived("compiler-parts", sources, derive)}


def _passes(path: Path) -> Iterator[CompilerPart]:
    tree = _parsed(path)
    replacements = _replacements(tree)
    registered = _registered(tree)
    for function in _functions(tree):
        decorators = {_called(d) for d in function.decorator_list} | registered.get(function.name, set())
        signal = None
        if decorators & _LOWERING_PATTERNS or function.name in replacements:
            signal = HitSignal.CALLED
        elif decorators & _GRAPH_PATTERNS:
            signal = HitSignal.CHANGED
        elif "register_noop_decomp" in decorators:
            signal = HitSignal.TRUE
        elif _takes_graph(function):
            signal = HitSignal.CHANGED
        if signal is not None:
            first = function
            pattern = replacements.get(function.name)
            if pattern is not None and pattern.lineno < function.lineno:
                first = pattern  # the pattern that it replaces is defined before it, and is shown too
            yield _part(PartKind.PASS, signal, path, function, first)


def _lowerings(path: Path) -> Iterator[CompilerPart]:
    for function in _functions(_parsed(path)):
        operators: list[str] = []
        for decorator in function.decorator_list:
            if _called(decorator) == "register_lowering" and isinstance(decorator, ast.Call) and decorator.args:
                argument = decorator.args[0]
                listed = argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]
                operators += [ast.unparse(operator) for operator in listed]
        if operators:
            part = _part(PartKind.LOWERING, HitSignal.CALLED, path, function, function)
            yield dataclasses.replace(part, operators=tuple(operators))


def _trackers(path: Path) -> Iterator[CompilerPart]:
    for statement in _parsed(path).body:
        if isinstance(statement, ast.ClassDef) and statement.name.endswith("Variable"):
            methods = [s.name for s in statement.body if isinstance(s, ast.FunctionDef) and _is_of_an_instance(s)]
            watched = tuple(f"{statement.name}.{name}" for name in methods)
            if watched:
                name = f"{PartKind.TRACKER}:{path.stem}.{statement.name}"
                file, first, last = _extent(path, statement)
                yield CompilerPart(name, PartKind.TRACKER, HitSignal.METHOD, file, first, last, watched)


def _is_of_an_instance(method: ast.FunctionDef) -> bool:
    """Whether it is an instance method: class and static methods are called for objects of any kind."""
    arguments = method.args.posonlyargs + method.args.args
    return bool(arguments) and arguments[0].arg == "self"


def _part(
    kind: PartKind, signal: HitSignal, path: Path, function: ast.FunctionDef, first: ast.FunctionDef
) -> CompilerPart:
    file, begin, _ = _extent(path, first)
    _, _, end = _extent(path, function)
    return CompilerPart(f"{kind}:{path.stem}.{function.name}", kind, signal, file, begin, end, (function.name,))


def _extent(path: Path, node: ast.FunctionDef | ast.ClassDef) -> tuple[str, int, int]:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return path.relative_to(torch_folder().parent).as_posix(), first, node.end_lineno or node.lineno


def _parsed(path: Path) -> ast.Module:
    return parse(path.read_text(encoding="utf-8"))


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of the module, including those under an ``if`` or inside a function that registers them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (node in tree.body or node.decorator_list):
            yield node


def _registered(tree: ast.Module) -> dict[str, set[str]]:
    """The functions that register each function, as in ``register_graph_pattern(...)(function)``."""
    decorators: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and len(node.args) == 1:
            function = node.args[0]
            if isinstance(function, ast.Name):
                decorators.setdefault(function.id, set()).add(_called(node.func))
    return decorators


def _called(decorator: ast.expr) -> str:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function).rpartition(".")[2]


def _takes_graph(function: ast.FunctionDef) -> bool:
    """Whether it is a pass: the first argument is annotated as a graph, and a graph or None is returned."""
    arguments = function.args.posonlyargs + function.args.args
    if not arguments or arguments[0].annotation is None:
        return False
    graph = ast.unparse(arguments[0].annotation).strip("'\"").rpartition(".")[2] in ("Graph", "GraphModule")
    returned = ast.unparse(function.returns) if function.returns is not None else "None"
    required = len(arguments) - len(function.args.defaults)
    return graph and required == 1 and returned.strip("'\"").rpartition(".")[2] in ("None", "Graph", "GraphModule")


def _replacements(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The names of functions that replace a matched pattern, with the function of the pattern."""
    functions = {function.name: function for function in _functions(tree)}
    patterns: dict[str, ast.FunctionDef] = {}
    for name in functions:
        if "replacement" in name:
            pattern = functions.get(name.replace("replacement", "pattern"))
            if pattern is not None:
                patterns[name] = pattern
    return patterns
