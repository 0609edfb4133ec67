"""Translation of an exported program, node by node.

Each operator is run on real values, and written in the most usual of the ways that compute the very same bits there.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from eqfuzz.imports.exported.arguments import GraphArgument, argument, list_of
from eqfuzz.imports.exported.equal_form import run_and_write
from eqfuzz.imports.exported.forms import base_name
from eqfuzz.imports.exported.inputs import ExportedInputs
from eqfuzz.imports.exported.program_file import module_of
from eqfuzz.imports.exported.values import array_of, torch_dtype
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.program_text import ProgramText
from eqfuzz.imports.text.seed_text import Input, TranslatedGraph
from eqfuzz.torch_internals.operators import HigherOrderOperator, OpOverload
from eqfuzz.torch_internals.trees import tree_leaves

_CHECKS = ("_assert_", "sym_constrain_range", "_guard")
"""Operators that check sizes and compute nothing."""

_GRAD_MODES = "wrap_with_set_grad_enabled"
_SYMBOLIC: dict[Any, str] = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.floordiv: "{} // {}",
    operator.truediv: "{} / {}",
    operator.mod: "{} % {}",
    operator.pow: "{} ** {}",
    operator.neg: "-{}",
    operator.eq: "{} == {}",
    operator.ne: "{} != {}",
    operator.lt: "{} < {}",
    operator.le: "{} <= {}",
    operator.gt: "{} > {}",
    operator.ge: "{} >= {}",
    torch.sym_max: "max({}, {})",
    torch.sym_min: "min({}, {})",
    torch.sym_int: "int({})",
    torch.sym_float: "float({})",
    torch.sym_not: "not {}",
}
"""Arithmetic on sizes, by the function in the graph."""

_SHORT = {
    "batch_norm": "norm",
    "layer_norm": "norm",
    "group_norm": "norm",
    "instance_norm": "norm",
    "rms_norm": "norm",
    "sym_size": "size",
    "to_copy": "cast",
    "to": "cast",
    "scaled_dot_product_attention": "attended",
}
"""Names of variables, by the operator, where its own is no good name."""


def translate(program: ExportedProgram, inputs: ExportedInputs) -> TranslatedGraph:
    """Translate a program; ``inputs`` are its arguments. Raises Unsupported."""
    module = module_of(program)
    counts = collections.Counter(_name(node) for node in _calls(module))
    unknown = {name: count for name, count in counts.items() if not _is_known(name)}
    if unknown:
        raise Unsupported("unsupported operators: " + ", ".join(f"{n} ({c})" for n, c in sorted(unknown.items())))
    return _Translator(inputs).translate(module, {name: count for name, count in counts.items() if name})


def _calls(module: nn.Module) -> Iterator[Node]:
    """The calls of a graph and those inside."""
    for inner in module.modules():
        if isinstance(inner, GraphModule):
            yield from (node for node in inner.graph.nodes if node.op in ("call_function", "call_method"))


def _name(node: Node) -> str:
    """The operator's name; empty for arithmetic on sizes, choosing an item, and checks."""
    target = node.target
    if target is operator.getitem or target in _SYMBOLIC or _is_check(node):
        return ""
    if isinstance(target, OpOverload):
        return str(target.overloadpacket)
    if isinstance(target, HigherOrderOperator):
        return f"higher_order.{target.name()}"
    return target if isinstance(target, str) else f"{target.__module__}.{target.__qualname__}"


def _is_known(name: str) -> bool:
    return not name or name.startswith(("aten.", "prims.")) or name == f"higher_order.{_GRAD_MODES}"


def _is_check(node: Node) -> bool:
    if node.op == "call_module":
        return str(node.target).startswith("_guards")
    return isinstance(node.target, OpOverload) and base_name(node.target).startswith(_CHECKS)


class _Translator:
    def __init__(self, inputs: ExportedInputs) -> None:
        self._inputs = inputs
        self._program = ProgramText()
        self._nodes: dict[Node, GraphArgument] = {}
        self._attributes: dict[int, str] = {}
        self._indent = ""

    def translate(self, module: GraphModule, counts: dict[str, int]) -> TranslatedGraph:
        inputs: list[Input] = []
        pairs = zip(self._inputs.inputs, self._inputs.values(0), strict=True)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                one, value = next(pairs)
                name = repr(value) if one is None else self._program.argument(one.name)
                self._nodes[node] = GraphArgument(name, value)
                inputs += [] if one is None else [Input(name, one.dtype, one.sizes, one.classes)]
            elif node.op != "output":
                self._add(module, node)
        results = tuple(one.text for one in self._outputs(module) if one.value is not None)
        if not results:
            raise Unsupported("a program without results")
        return TranslatedGraph(self._program, tuple(inputs), results, counts, size_sets=self._inputs.size_sets)

    def _outputs(self, module: GraphModule) -> list[GraphArgument]:
        leaves = tree_leaves(module.graph.output_node().args)
        return [argument(leaf, self._nodes) for leaf in leaves]

    def _add(self, module: GraphModule, node: Node) -> None:
        if _is_check(node):
            return
        if node.op == "get_attr":
            self._nodes[node] = self._attribute(module, str(node.target))
        elif isinstance(node.target, HigherOrderOperator):
            self._nodes[node] = self._region(node)
        else:
            self._nodes[node] = self._call(node)

    def _attribute(self, module: GraphModule, name: str) -> GraphArgument:
        value: Any = module
        for part in name.split("."):
            value = getattr(value, part)
        if isinstance(value, Tensor):
            if id(value) not in self._attributes:
                self._attributes[id(value)] = self._program.constant(
                    array_of(value), torch_dtype(value), name, is_buffer=not isinstance(value, nn.Parameter)
                )
            return GraphArgument(self._attributes[id(value)], value)
        if isinstance(value, nn.Module):
            return GraphArgument(name, value)
        raise Unsupported(f"the constant {name!r} of type {type(value).__name__}")

    def _region(self, node: Node) -> GraphArgument:
        """The results of a graph in which gradients are off or on."""
        mode, body, *operands = [argument(one, self._nodes) for one in node.args]
        self._append(f"with torch.set_grad_enabled({mode.text}):")
        self._indent += "    "
        count = len(self._program.statements)
        places = iter(operands)
        for inner in body.value.graph.nodes:
            if inner.op == "placeholder":
                self._nodes[inner] = next(places)
            elif inner.op != "output":
                self._add(body.value, inner)
        if len(self._program.statements) == count:
            self._append("pass")
        self._indent = self._indent.removesuffix("    ")
        return list_of(self._outputs(body.value))

    def _call(self, node: Node) -> GraphArgument:
        arguments = [argument(one, self._nodes) for one in node.args]
        options = {key: argument(one, self._nodes) for key, one in node.kwargs.items()}
        if node.target is operator.getitem and arguments[0].items:
            return arguments[0].items[arguments[1].value]
        if node.target is torch.ops.aten.sym_size.int:
            tensor, dim = arguments
            call = GraphArgument(f"{tensor.text}.shape[{dim.text}]", int(tensor.value.shape[dim.value]))
        elif isinstance(node.target, OpOverload):
            call = run_and_write(node.target, arguments, options)
        else:
            call = _of_sizes(node.target, arguments)
        base = _variable(node)
        if isinstance(call.value, list | tuple):
            names = self._unpacked(base, len(call.value), call.text)
            return list_of([GraphArgument(name, value) for name, value in zip(names, call.value, strict=True)])
        if node.users:
            return GraphArgument(self._assigned(base, call.text), call.value)
        self._append(call.text)
        return call

    def _append(self, statement: str) -> None:
        self._program.statements.append(self._indent + statement)

    def _assigned(self, base: str, text: str) -> str:
        name = self._program.assign(base, text)
        self._append(self._program.statements.pop())
        return name

    def _unpacked(self, base: str, count: int, text: str) -> list[str]:
        names = self._program.unpack(base, count, text)
        self._append(self._program.statements.pop())
        return names


def _of_sizes(target: Any, arguments: Sequence[GraphArgument]) -> GraphArgument:
    """Arithmetic on sizes."""
    texts = (one.text if one.text.isidentifier() or one.text.isdecimal() else f"({one.text})" for one in arguments)
    return GraphArgument(_SYMBOLIC[target].format(*texts), target(*(one.value for one in arguments)))


def _variable(node: Node) -> str:
    if not isinstance(node.target, OpOverload):
        return "size"
    name = base_name(node.target).strip("_")
    return _SHORT.get(name, name)
