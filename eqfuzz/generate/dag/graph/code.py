"""Code generation: the source text of a program graph, a seed in eqfuzz's own format."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
from eqfuzz.generate.dag.graph.graph import Assign, Compound, Effect, Expr, Function, Graph, Return, Statement, Value
from eqfuzz.generate.dag.graph.liveness import makes, reads
from eqfuzz.generate.dag.graph.naming import NameAllocator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim
from eqfuzz.program.parsing import parse

_LONGEST = 92
"""Maximal characters of a statement into which expressions are inlined."""

_INLINED = 0.6
"""The share of the values with a single use that are inlined."""

_HOLE = re.compile(r"\{(\w+)\}")


def code(graph: Graph, draw: Draw, title: str) -> str:
    """The source text of the seed, with ``title`` as its docstring; names the variables of the graph.

    Raises InvalidOperators.
    """
    writer = _Writer(graph, draw)
    text = writer.text(title)
    graph.names = writer.names
    return text


class _Writer:
    def __init__(self, graph: Graph, draw: Draw) -> None:
        self._graph = graph
        self._draw = draw
        self._names = NameAllocator()
        self.names: dict[Value, str] = {}
        self._inlined: dict[Value, str] = {}
        self._functions: list[str] = []
        self._further: dict[Value, list[str]] = {}
        self._local: dict[Value, str] = {}

    def text(self, title: str) -> str:
        graph = self._graph
        statements = [*graph.block.statements, Return(graph.result)]
        used = set(reads(statements))
        leaves = [leaf for leaf in graph.leaves if leaf.value in used]
        inputs = [leaf for leaf in leaves if leaf.kind == "input"]
        for leaf in inputs:
            self.names[leaf.value] = self._names.new(leaf.value.name_hint)
        self._uses = Counter(reads(statements))
        body = self._block(statements)
        dims, arguments = self._dims(body, [leaf.value for leaf in inputs])
        body = dims + body
        parameters = [*(self.names[leaf.value] for leaf in inputs), *arguments]
        yielded = [*(leaf.text for leaf in inputs), *arguments]
        held = [leaf for leaf in leaves if leaf.kind != "input"]
        layers = {name: m for name, m in graph.layers.items() if re.search(rf"\bself\.{name}\b", "\n".join(body))}
        if held or layers:
            definition = self._module(
                layers, [(leaf.kind, leaf.value.name, leaf.text) for leaf in held], parameters, body
            )
        else:
            definition = f"def program({', '.join(parameters)}):\n" + _indented(body)
        parts = [*self._functions, definition, self._inputs(yielded)]
        return _file(title, graph.preamble, parts)

    def _module(
        self, layers: dict[str, str], held: list[tuple[str, str, str]], parameters: list[str], body: list[str]
    ) -> str:
        lines = ["super().__init__()"]
        lines += [f"self.{name} = {text}" for name, text in layers.items()]
        for kind, name, text in held:
            if kind == "parameter":
                lines.append(f"{name} = nn.Parameter({text})")
            else:
                lines.append(f'self.register_buffer("{name.removeprefix("self.")}", {text})')
        init = "def __init__(self):\n" + _indented(lines)
        forward = f"def forward({', '.join(['self', *parameters])}):\n" + _indented(body)
        return "class Program(nn.Module):\n" + textwrap.indent(f"{init}\n\n{forward}", "    ")

    def _inputs(self, yielded: list[str]) -> str:
        values = ", ".join(yielded)
        if len(yielded) == 1 or not yielded:
            values = f"({values},)" if yielded else "()"
        lines = [f"yield {values}"]
        if len(lines[0]) > 100:
            lines = ["yield (", *(f"    {one}," for one in yielded), ")"]
        named = {name: sizes for name, sizes in self._graph.dims.items() if re.search(rf"\b{name}\b", values)}
        if named:
            several = list(zip(*named.values(), strict=True))
            sets = ", ".join(str(one[0]) if len(named) == 1 else repr(one) for one in several)
            lines = [f"for {', '.join(named)} in ({sets}):", *(f"    {line}" for line in lines)]
        return "def inputs(rng):\n" + _indented(lines)

    def _dims(self, body: list[str], inputs: Sequence[Value]) -> tuple[list[str], list[str]]:
        """Lines that read the changing sizes used in the body off inputs, and the names of sizes that no input has."""
        lines, arguments = [], []
        for name in self._graph.dims:
            if not any(re.search(rf"\b{name}\b", line.split("  #")[0]) for line in body):
                continue
            carrier = next((v for v in inputs if v.spec.size and Dim(0, name) in v.spec.size), None)
            if carrier is None:
                arguments.append(name)
            else:
                axis = list(carrier.spec.shape).index(Dim(0, name))
                lines.append(f"{name} = {self.names[carrier]}.shape[{axis}]")
        return lines, arguments

    # Statements

    def _block(self, statements: Sequence[Statement]) -> list[str]:
        inlined = self._to_inline(statements)
        lines: list[str] = []
        for statement in statements:
            if isinstance(statement, Assign):
                lines += self._assign(statement, inlined)
            elif isinstance(statement, Effect):
                lines += _line(self._expr(statement.expr))
            elif isinstance(statement, Return):
                lines += _line(self._expr(statement.expr), "return ")
            elif isinstance(statement, Compound):
                lines += self._compound(statement)
            else:
                lines += (
                    ["", *self._function(statement)]
                    if lines and lines[-1] and statement.inner
                    else self._function(statement)
                )
        return lines

    def _assign(self, statement: Assign, inlined: set[Value]) -> list[str]:
        text = self._expr(statement.expr)
        value = statement.targets[0]
        if value in inlined and len(text) <= _LONGEST - 20:
            self._inlined[value] = text
            return []
        targets = ", ".join(self._named(target) for target in statement.targets)
        note = "" if len(statement.targets) > 1 or value.spec.size is None else f"  # {value.spec}"
        return _line(text, f"{targets} = ", note)

    def _compound(self, statement: Compound) -> list[str]:
        for value in statement.bound:
            self._named(value)
        header = self._expr(statement.header, {f"b{i}": self.names[v] for i, v in enumerate(statement.bound)})
        lines = [f"{header}:", *_deeper(self._block(statement.body.statements) or ["pass"])]
        if statement.orelse is not None and statement.orelse.statements:
            lines += ["else:", *_deeper(self._block(statement.orelse.statements))]
        return lines

    def _function(self, function: Function) -> list[str]:
        name = self._named(function.name)
        parameters = list(function.parameters)
        more: list[str] = []
        before: dict[Value, str] = {}
        if not function.inner:
            own = makes(function.body.statements) | set(parameters)
            free = [v for v in dict.fromkeys(reads(function.body.statements)) if v not in own and not _is_fixed(v)]
            self._further[function.name] = [self._value(value) for value in free]
            held = [value for value in free if value.name.startswith("self.")]
            before = dict(self._local)
            self._local |= {value: self._names.new(value.name.removeprefix("self.")) for value in held}
            more = [self._value(value) for value in free]
        names = [self._named(value) for value in parameters]
        body = self._block(function.body.statements)
        if function.inner:
            return [f"def {name}({', '.join(names)}):", *_deeper(body), ""]
        self._local = before
        dims = [d for d in self._graph.dims if any(re.search(rf"\b{d}\b", line.split("  #")[0]) for line in body)]
        self._further[function.name] += dims
        names = list(dict.fromkeys([*names, *more, *dims]))
        self._functions.append(f"def {name}({', '.join(names)}):\n" + _indented(body))
        return []

    def _to_inline(self, statements: Sequence[Statement]) -> set[Value]:
        """Values to inline: with a single use, and only assignments between definition and use."""
        inlined: set[Value] = set()
        waiting: dict[Value, Assign] = {}
        for statement in statements:
            for value in _direct_reads(statement):
                if value in waiting and self._uses[value] == 1 and self._draw.chance(_INLINED):
                    inlined.add(value)
            if isinstance(statement, Assign) and not statement.again:
                if len(statement.targets) == 1 and not statement.targets[0].needs_variable:
                    waiting[statement.targets[0]] = statement
            else:
                waiting.clear()
        return inlined

    # Expressions

    def _expr(self, expr: Expr, more: dict[str, str] | None = None) -> str:
        if expr.function is not None:
            values = [*(self._value(value) for value in expr.inputs), *self._further.get(expr.function.name, [])]
            return f"{self.names[expr.function.name]}({', '.join(values)})"
        params = {**expr.params, **(more or {})}

        def fill(hole: re.Match[str]) -> str:
            key = hole[1]
            if key.isdigit():
                return self._value(expr.inputs[int(key)])
            return written(params[key]) if key in params else hole[0]

        try:
            return _plain(_HOLE.sub(fill, expr.text))
        except SyntaxError as error:
            raise InvalidOperators(f"operator {expr.operator}: {expr.text!r} is not Python: {error.msg}") from error

    def _value(self, value: Value) -> str:
        if value in self._local:
            return self._local[value]
        if value.name:
            return value.name if not value.name.startswith("-") else f"({value.name})"
        if value in self._inlined:
            return f"({self._inlined[value]})"
        return self._named(value)

    def _named(self, value: Value) -> str:
        if value.name:
            return value.name
        if value not in self.names:
            self.names[value] = self._names.new(value.name_hint or "h")
        return self.names[value]


def written(value: Any) -> str:
    """A parameter as code: changing sizes by name, strings unquoted."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"({', '.join(written(v) for v in value)}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(written(v) for v in value)}]"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return str(value)


def _direct_reads(statement: Statement) -> list[Value]:
    """The values that the statement itself reads exactly once, without the one that it writes to."""
    if isinstance(statement, Function):
        return []
    expr = statement.header if isinstance(statement, Compound) else statement.expr
    target = statement.target if isinstance(statement, Effect) else None
    once = [value for i, value in enumerate(expr.inputs) if expr.function or expr.text.count(f"{{{i}}}") == 1]
    return [value for value in once if value is not target]


def _is_fixed(value: Value) -> bool:
    """Whether its name has the same meaning in every scope."""
    return bool(value.name) and not value.name.startswith("self.")


def _plain(text: str) -> str:
    """``text`` without redundant parentheses. Raises SyntaxError."""
    if text.startswith(("for ", "if ", "while ", "with ", "elif ")):
        head = ast.unparse(parse(text + ": pass"))
        return head.splitlines()[0].removesuffix(":")
    return ast.unparse(parse(text))


def _line(text: str, before: str = "", note: str = "") -> list[str]:
    return [f"{before}{text}{note if len(before) + len(text) + len(note) <= 108 else ''}"]


def _deeper(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(_deeper(lines))


def _file(title: str, preamble: Sequence[str], parts: Sequence[str]) -> str:
    body = "\n\n\n".join(parts)
    everything = "\n".join([*preamble, body])
    imports = [line for line in ("import functools", "import math") if re.search(rf"\b{line.split()[1]}\.", everything)]
    imports += [""] if imports else []
    if re.search(r"\bnp\.", everything):
        imports.append("import numpy as np")
    imports.append("import torch")
    if re.search(r"\bF\.", everything):
        imports.append("import torch.nn.functional as F")
    if re.search(r"\bnn\.", everything.replace("torch.nn.", "")):
        imports.append("from torch import nn")
    preamble_imports = [line for line in preamble if line.startswith(("import ", "from "))]
    rest = [line for line in preamble if line not in preamble_imports]
    head = [f'"""{title}"""', "", *imports, *preamble_imports]
    if rest:
        head += ["", *rest]
    return "\n".join(head) + "\n\n\n" + body.rstrip() + "\n"
