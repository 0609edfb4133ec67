"""Activation functions."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.text.literals import number_text

_PLAIN = {
    "Relu": "F.relu",
    "Sigmoid": "torch.sigmoid",
    "Softplus": "F.softplus",
    "Softsign": "F.softsign",
    "HardSwish": "F.hardswish",
    "Mish": "F.mish",
}


@operator(*_PLAIN)
def apply(node: OnnxNode) -> str:
    return f"{_PLAIN[node.operator]}({node.tensor(0)})"


@operator("LeakyRelu", "Elu", "Celu")
def with_slope(node: OnnxNode) -> str:
    function, default = {"LeakyRelu": ("leaky_relu", 0.01), "Elu": ("elu", 1.0), "Celu": ("celu", 1.0)}[node.operator]
    return f"F.{function}({node.tensor(0)}, {number_text(node.attribute('alpha', default))})"


@operator("Selu")
def selu(node: OnnxNode) -> str:
    alpha, gamma = node.attribute("alpha", _SELU_ALPHA), node.attribute("gamma", _SELU_GAMMA)
    x = node.tensor(0)
    if (alpha, gamma) == (_SELU_ALPHA, _SELU_GAMMA):
        return f"F.selu({x})"
    return f"{number_text(gamma)} * F.elu({x}, {number_text(alpha)})"


_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


@operator("PRelu")
def prelu(node: OnnxNode) -> str:
    x, slope = node.tensor(0), node.tensor(1)
    return f"torch.where({x} < 0, {x} * {slope}, {x})"


@operator("HardSigmoid")
def hard_sigmoid(node: OnnxNode) -> str:
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return f"torch.clamp({node.tensor(0)} * {number_text(alpha)} + {number_text(beta)}, 0, 1)"


@operator("ThresholdedRelu")
def thresholded_relu(node: OnnxNode) -> str:
    return f"F.threshold({node.tensor(0)}, {number_text(node.attribute('alpha', 1.0))}, 0.0)"


@operator("Gelu")
def gelu(node: OnnxNode) -> str:
    approximate = ', approximate="tanh"' if node.attribute("approximate", "none") == "tanh" else ""
    return f"F.gelu({node.tensor(0)}{approximate})"


@operator("Swish")
def swish(node: OnnxNode) -> str:
    x, alpha = node.tensor(0), node.attribute("alpha", 1.0)
    return f"F.silu({x})" if alpha == 1 else f"{x} * torch.sigmoid({number_text(alpha)} * {x})"


@operator("Shrink")
def shrink(node: OnnxNode) -> str:
    x, bias, bound = node.tensor(0), node.attribute("bias", 0.0), node.attribute("lambd", 0.5)
    low, high = number_text(-bound), number_text(bound)
    zero = f"torch.zeros_like({x})"
    if bias == 0:
        return f"torch.where(({x} < {low}) | ({x} > {high}), {x}, {zero})"
    shifted = f"torch.where({x} > {high}, {x} - {number_text(bias)}, {zero})"
    return f"torch.where({x} < {low}, {x} + {number_text(bias)}, {shifted})"


@operator("Softmax", "LogSoftmax")
def softmax(node: OnnxNode) -> str:
    function = "F.softmax" if node.operator == "Softmax" else "F.log_softmax"
    x = node.tensor(0)
    if node.opset >= 13:
        return f"{function}({x}, dim={node.axis(0, -1)})"
    axis = node.axis(0, 1)
    if axis == node.rank(0) - 1:
        return f"{function}({x}, dim=-1)"
    return f"{function}({x}.flatten({axis}), dim=-1).reshape({x}.shape)"  # older opsets flatten what follows the axis


@operator("Hardmax")
def hardmax(node: OnnxNode) -> str:
    x = node.tensor(0)
    if node.opset < 13:
        axis = node.axis(0, 1)
        if axis != node.rank(0) - 1:
            flat = node.local(f"{x}.flatten({axis})", "Flatten")
            hot = f"torch.zeros_like({flat}).scatter(-1, {flat}.argmax(-1, keepdim=True), 1.0)"
            return f"{hot}.reshape({x}.shape)"
    axis = node.axis(0, -1 if node.opset >= 13 else 1)
    return f"torch.zeros_like({x}).scatter({axis}, {x}.argmax({axis}, keepdim=True), 1.0)"
