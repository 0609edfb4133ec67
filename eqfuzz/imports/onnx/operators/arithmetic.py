"""Elementwise arithmetic, products and sums of several tensors."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.text.literals import Unsupported, joined, number_text

_SIGNS = {"Add": "+", "Sub": "-", "Mul": "*"}
_FUNCTIONS = {
    **{name: f"torch.{name.lower()}" for name in "Abs Neg Sqrt Exp Log Floor Ceil Sign Sin Cos Tan Sinh Cosh".split()},
    **{name: f"torch.{name.lower()}" for name in "Asin Acos Atan Asinh Acosh Atanh Erf Reciprocal Det".split()},
    "Tanh": "torch.tanh",
    "Round": "torch.round",
}


@operator(*_SIGNS)
def combine(node: OnnxNode) -> str:
    return f"{node.operand(0, 1)} {_SIGNS[node.operator]} {node.operand(1, 0)}"


@operator("Div")
def divide(node: OnnxNode) -> str:
    left, right = node.operand(0, 1), node.operand(1, 0)
    if node.dtype(0).startswith(("int", "uint")):
        return f'torch.div({left}, {right}, rounding_mode="trunc")'
    return f"{left} / {right}"


@operator("Mod")
def modulo(node: OnnxNode) -> str:
    function = "fmod" if node.attribute("fmod", 0) else "remainder"
    return f"torch.{function}({node.tensor(0)}, {node.tensor(1)})"


@operator("Pow")
def power(node: OnnxNode) -> str:
    exponent = node.value(1)
    text, plain = node.tensor(1) if exponent.constant is None else "", False
    if exponent.constant is not None:
        plain = exponent.constant.size == 1 and exponent.constant.ndim <= (node.value(0).rank or 0)
        text = number_text(exponent.constant.reshape(-1)[0].item()) if plain else node.tensor(1)
    base, dtype = node.tensor(0), node.dtype(0)
    result = f"{base} ** {text}" if not text.startswith("-") else f"{base} ** ({text})"
    if dtype == exponent.dtype or (plain and node.value(0).is_floating):
        return result
    return f"({result}).to(torch.{dtype})"


@operator(*_FUNCTIONS)
def apply(node: OnnxNode) -> str:
    return f"{_FUNCTIONS[node.operator]}({node.tensor(0)})"


@operator("Min", "Max")
def extreme(node: OnnxNode) -> str:
    function = "torch.minimum" if node.operator == "Min" else "torch.maximum"
    first, *others = node.tensors()
    for other in others:
        first = f"{function}({first}, {other})"
    return first


@operator("Sum")
def add_all(node: OnnxNode) -> str:
    return " + ".join(node.tensors())


@operator("Mean")
def average_all(node: OnnxNode) -> str:
    return f"({' + '.join(node.tensors())}) / {len(node.inputs)}"


@operator("Clip")
def clip(node: OnnxNode) -> str:
    if node.opset < 11:
        lowest, highest = (node.attribute(name) for name in ("min", "max"))
        bounds = [f"{name}={number_text(v)}" for name, v in (("min", lowest), ("max", highest)) if v is not None]
        return f"torch.clamp({joined([node.tensor(0), *bounds])})" if bounds else node.tensor(0)
    bounds = [(name, index) for name, index in (("min", 1), ("max", 2)) if node.has(index)]
    if not bounds:
        return node.tensor(0)
    values = {name: node.constant(index) for name, index in bounds}
    if all(value is not None for value in values.values()):
        texts = {name: number_text(value.item()) for name, value in values.items() if value is not None}
    else:
        texts = {name: node.tensor(index) for name, index in bounds}
    return f"torch.clamp({joined([node.tensor(0), *(f'{name}={text}' for name, text in texts.items())])})"


@operator("BitShift")
def shift(node: OnnxNode) -> str:
    return f"{node.tensor(0)} {'<<' if node.attribute('direction') == 'LEFT' else '>>'} {node.tensor(1)}"


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def combine_bits(node: OnnxNode) -> str:
    sign = {"BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^"}[node.operator]
    return f"{node.tensor(0)} {sign} {node.tensor(1)}"


@operator("BitwiseNot")
def invert_bits(node: OnnxNode) -> str:
    return f"~{node.tensor(0)}"


@operator("MatMul")
def multiply(node: OnnxNode) -> str:
    return f"{node.tensor(0)} @ {node.tensor(1)}"


@operator("Gemm")
def linear(node: OnnxNode) -> str:
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    left = f"{node.tensor(0)}.T" if node.attribute("transA", 0) else node.tensor(0)
    right = node.tensor(1)
    transposed = bool(node.attribute("transB", 0))
    if transposed and alpha == 1 and node.value(0).is_floating and (not node.has(2) or _is_bias(node, beta)):
        return f"F.linear({joined([left, right, node.tensor(2) if node.has(2) else ''])})"
    right = f"{right}.T" if transposed else right
    if not node.has(2):
        return f"{left} @ {right}" if alpha == 1 else f"{number_text(alpha)} * ({left} @ {right})"
    factors = [f"{name}={_factor(node, v)}" for name, v in (("beta", beta), ("alpha", alpha)) if v != 1]
    return f"torch.addmm({joined([node.tensor(2), left, right, *factors])})"


def _is_bias(node: OnnxNode, beta: float) -> bool:
    return (
        beta == 1
        and node.value(2).rank == 1
        and node.value(1).shape is not None
        and (node.value(2).shape == (node.value(1).shape or (None,))[:1])
    )


def _factor(node: OnnxNode, value: float) -> str:
    if node.value(0).is_floating:
        return number_text(value)
    if not float(value).is_integer():
        raise Unsupported("a factor that is no integer, of integers")
    return str(int(value))


@operator("Einsum")
def einsum(node: OnnxNode) -> str:
    equation = "".join(node.attribute("equation").split())
    return f'torch.einsum("{equation}", {joined(node.tensors())})'


@operator("IsNaN")
def is_nan(node: OnnxNode) -> str:
    return f"torch.isnan({node.tensor(0)})"


@operator("IsInf")
def is_infinite(node: OnnxNode) -> str:
    negative, positive = node.attribute("detect_negative", 1), node.attribute("detect_positive", 1)
    if negative and positive:
        return f"torch.isinf({node.tensor(0)})"
    if negative or positive:
        return f"torch.is{'neg' if negative else 'pos'}inf({node.tensor(0)})"
    return f"torch.zeros_like({node.tensor(0)}, dtype=torch.bool)"
