"""Reductions, scans, extremes and their places."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import Result, operator
from eqfuzz.imports.text.literals import Unsupported, sequence

_AXES_AS_INPUT = {"ReduceSum": 13}
"""The first opset in which the axes are an input; 18 for other reductions."""


@operator(
    *(f"Reduce{name}" for name in "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split()),
)
def reduce(node: OnnxNode) -> Result:
    as_input = node.opset >= _AXES_AS_INPUT.get(node.operator, 18)
    axes = node.axes(0, 1 if as_input else None)
    if not axes:
        if as_input and node.attribute("noop_with_empty_axes", 0):
            return _of_each(node)
        axes = list(range(node.rank(0)))
    keep = ", keepdim=True" if node.attribute("keepdims", 1) else ""
    if not axes:
        return _of_each(node)
    return _reduced(node, axes, keep)


def _of_each(node: OnnxNode) -> Result:
    """The reduction over no axes."""
    x = node.tensor(0)
    match node.operator:
        case "ReduceL1" | "ReduceL2":
            return f"torch.abs({x})"
        case "ReduceLogSum":
            return f"torch.log({x})"
        case "ReduceSumSquare":
            return f"torch.square({x})"
        case _:
            return node.value(0)


def _reduced(node: OnnxNode, axes: list[int], keep: str) -> str:
    x, dtype = node.tensor(0), node.dtype(0)
    dim = f"dim={sequence(axes) if len(axes) > 1 else axes[0]}{keep}"
    whole = "" if node.value(0).is_floating else f", dtype=torch.{dtype}"
    match node.operator:
        case "ReduceSum":
            return f"{x}.sum({dim}{whole})"
        case "ReduceMean":
            if node.value(0).is_floating:
                return f"{x}.mean({dim})"
            return f"{x}.double().mean({dim}).to(torch.{dtype})"
        case "ReduceMax":
            return f"{x}.amax({dim})"
        case "ReduceMin":
            return f"{x}.amin({dim})"
        case "ReduceProd":
            return x + "".join(f".prod(dim={axis}{keep}{whole})" for axis in sorted(axes, reverse=True))
        case "ReduceL1":
            return f"{x}.abs().sum({dim}{whole})"
        case "ReduceL2":
            root = f"{x}.square().sum({dim}).sqrt()"
            return root if node.value(0).is_floating else f"{root}.to(torch.{dtype})"
        case "ReduceLogSum":
            logarithm = f"{x}.sum({dim}).log()"
            return logarithm if node.value(0).is_floating else f"{logarithm}.to(torch.{dtype})"
        case "ReduceLogSumExp":
            if node.value(0).is_floating:
                return f"torch.logsumexp({x}, {dim})"
            return f"torch.logsumexp({x}.double(), {dim}).to(torch.{dtype})"
        case "ReduceSumSquare":
            return f"{x}.square().sum({dim}{whole})"
        case _:
            raise Unsupported("unknown reduction")


@operator("ArgMax", "ArgMin")
def place(node: OnnxNode) -> str:
    x, axis = node.tensor(0), node.axis(0, 0)
    keep = ", keepdim=True" if node.attribute("keepdims", 1) else ""
    function = node.operator.lower()
    if node.attribute("select_last_index", 0):
        return f"{x}.shape[{axis}] - 1 - {x}.flip({axis}).{function}({axis}{keep})"
    return f"{x}.{function}({axis}{keep})"


@operator("TopK")
def top_k(node: OnnxNode) -> list[str]:
    axis = node.axis(0, -1)
    if node.opset < 10:
        count = str(node.attribute("k"))
    else:
        items = node.items(1)
        count = items[0] if items is not None else f"int({node.tensor(1)})"
    largest = bool(node.attribute("largest", 1))
    if node.uses(1):  # of equal elements the first comes first, which torch.topk does not promise
        descending = ", descending=True" if largest else ""
        call = f"torch.sort({node.tensor(0)}, dim={axis}{descending}, stable=True)"
        ordered = node.program.unpack("sorted", 2, call)
        return [node.local(f"{text}.narrow({axis}, 0, {count})", "TopK") for text in ordered]
    smallest = "" if largest else ", largest=False"
    return node.program.unpack("TopK", 2, f"torch.topk({node.tensor(0)}, {count}, dim={axis}{smallest})")


@operator("CumSum", "CumProd")
def scan(node: OnnxNode) -> str:
    x = node.tensor(0)
    axis = int(node.constants(1, "an axis")[0])
    function = node.operator.lower()
    whole = "" if node.value(0).is_floating else f", dtype=torch.{node.dtype(0)}"
    backwards = bool(node.attribute("reverse", 0))
    source = f"{x}.flip({axis})" if backwards else x
    if node.attribute("exclusive", 0):
        neutral = "zeros" if node.operator == "CumSum" else "ones"
        source = node.local(source, "Shifted") if backwards else source
        first = f"torch.{neutral}_like({source}.narrow({axis}, 0, 1))"
        source = f"torch.cat(({first}, {source}.narrow({axis}, 0, {source}.shape[{axis}] - 1)), dim={axis})"
    result = f"{source}.{function}({axis}{whole})"
    return f"{result}.flip({axis})" if backwards else result
