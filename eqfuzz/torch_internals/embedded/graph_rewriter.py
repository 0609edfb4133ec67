"""Rewrites of Inductor's graphs. A script that reproduces a finding contains this text, so it imports torch alone."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._inductor.compiler_bisector import CompilerBisector
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves


class _SparingBisector:
    """``CompilerBisector.disable_subsystem`` that does not take custom passes for parts of the compiler."""

    def __init__(self, disable: Callable[..., bool]) -> None:
        self.disable = disable

    def __call__(self, backend: str, subsystem: str, debug_info: Callable[[], str] | None = None) -> bool:
        if debug_info is not None and "_custom_" in debug_info():
            return False
        return self.disable(backend, subsystem, debug_info)


def spare_custom_passes() -> None:
    """From now on, torch's bisector does not switch off custom passes."""
    if not isinstance(CompilerBisector.disable_subsystem, _SparingBisector):
        CompilerBisector.disable_subsystem = _SparingBisector(CompilerBisector.disable_subsystem)  # type: ignore[assignment]


class GraphRewriter(CustomGraphPass):
    """A pass that applies rewrites in order, each given by the arguments of ``rewrite_graph`` after the graph.

    ``captured``: its graphs are Dynamo's, without decompositions, and may write to their values.
    """

    def __init__(self, *rewrites: tuple[Any, ...], captured: bool = False) -> None:
        self.rewrites = rewrites
        self.captured = captured
        self.applied: list[int] = []
        """The number of a rewrite for each graph that had a place for it."""

    def __call__(self, graph: torch.fx.Graph) -> None:
        for number, rewrite in enumerate(self.rewrites):
            if rewrite_graph(graph, *rewrite, captured=self.captured):
                self.applied.append(number)

    def uuid(self) -> str:
        return str([(form.__name__, *others) for form, *others in self.rewrites])


def rewrite_graph(
    graph: torch.fx.Graph, form: Callable[..., Any], choice: int, target: Any = None, *, captured: bool = False
) -> bool:
    """Replace one value of ``graph`` by an equal one; whether there was a place for it.

    Without a ``target``, ``form`` takes a value and stands for it as an operand of one operator. With a ``target``, it
    takes the arguments of a call of that operator, and stands for its result. ``choice`` selects the place.
    """
    places = list(_places(graph, target))
    for number in range(len(places)):
        user, value = places[(choice + number) % len(places)]
        new = _replacement(form, user, value, captured)
        if new is not None:
            _put(graph, new, user, value)
            return True
    return False


def _places(graph: torch.fx.Graph, target: Any) -> Iterator[tuple[torch.fx.Node, torch.fx.Node]]:
    """Pairs of an operator and its operand, or of a call of the ``target`` with itself."""
    for node in graph.nodes:
        if target is not None and node.target is target and not node.kwargs:
            yield node, node
        if target is None and node.op in ("call_function", "call_method") and "val_of" not in node.meta:
            yield from ((node, value) for value in node.all_input_nodes)


def _operands(user: torch.fx.Node, value: torch.fx.Node) -> tuple[Any, ...]:
    return user.args if user is value else (value,)


def _nodes(operands: Any) -> list[torch.fx.Node]:
    return list(dict.fromkeys(leaf for leaf in tree_leaves(operands) if isinstance(leaf, torch.fx.Node)))


def _fake(node: torch.fx.Node) -> Any:
    return node.meta.get("val", node.meta.get("example_value"))


def _replacement(
    form: Callable[..., Any], user: torch.fx.Node, value: torch.fx.Node, captured: bool
) -> torch.fx.GraphModule | None:
    """The graph of ``form``; None where it does not apply, or would change more than how the value is computed."""
    operands, old = _operands(user, value), _fake(value)
    nodes = _nodes(operands)
    mode = getattr(old, "fake_mode", None)
    if mode is None or not all(isinstance(_fake(node), torch.Tensor) for node in nodes):
        return None

    def call(*tensors: torch.Tensor) -> Any:
        tensor_of = dict(zip(nodes, tensors, strict=True))
        return form(*map_arg(operands, lambda node: tensor_of[node]))

    fakes = [_fake(node) for node in nodes]
    with mode, mode.shape_env.suppress_guards() if mode.shape_env is not None else contextlib.nullcontext():
        try:
            if call(*fakes) is None:
                return None
            new = make_fx(call, {} if captured else select_decomp_table(), pre_dispatch=captured)(*fakes)
            result = _fake(_output(new))
            same = _layout(result) == _layout(old) if user is value else _passes(user, value, result, captured)
        except Exception:  # the form does not fit these operands
            return None
    sizes = [leaf for node in new.graph.nodes for leaf in tree_leaves((node.args, node.kwargs))]
    return new if same and not any(isinstance(size, torch.SymInt) for size in sizes) else None


def _output(module: torch.fx.GraphModule) -> torch.fx.Node:
    return module.graph.output_node().args[0]  # type: ignore[return-value]


def _layout(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return str(value)
    return str((value.shape, value.stride(), value.dtype, value.device))


def _passes(user: torch.fx.Node, value: torch.fx.Node, new: torch.Tensor, captured: bool) -> bool:
    """Whether ``user`` gives a result of the same layout with ``new``, and neither writes to it nor returns a view."""
    old = _fake(value)
    if (new.shape, new.dtype, new.device) != (old.shape, old.dtype, old.device):
        return False
    layouts = []
    for operand in (old, new):
        fakes = {node: _fake(node) for node in user.all_input_nodes} | {value: operand}
        if captured:  # the operator may change sizes
            fakes = {node: one.detach() if isinstance(one, torch.Tensor) else one for node, one in fakes.items()}
        args, kwargs = map_arg((user.args, user.kwargs), fakes.__getitem__)
        version = fakes[value]._version
        call: Any = getattr(torch.Tensor, str(user.target)) if user.op == "call_method" else user.target
        results = tree_leaves(call(*args, **kwargs))
        storages = [result.untyped_storage()._cdata for result in results if isinstance(result, torch.Tensor)]
        if fakes[value]._version != version or (captured and operand.untyped_storage()._cdata in storages):
            return False
        layouts.append([_layout(result) for result in results])
    return layouts[0] == layouts[1]


def _put(graph: torch.fx.Graph, new: torch.fx.GraphModule, user: torch.fx.Node, value: torch.fx.Node) -> None:
    """Insert the graph ``new``, and let ``user`` take its result; where ``user`` is the value, let its users do so."""
    inputs = iter(_nodes(_operands(user, value)))
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    with graph.inserting_before(user):
        for node in new.graph.nodes:
            if node.op == "placeholder":
                copies[node] = next(inputs)
            elif node.op != "output":
                copies[node] = graph.node_copy(node, lambda other: copies[other])
                copies[node].meta = {"val": _fake(node), "example_value": _fake(node), "val_of": value.name}
    result = copies[_output(new)]
    if user is value:
        user.replace_all_uses_with(result)
        graph.erase_node(user)
    else:
        user.replace_input_with(value, result)
