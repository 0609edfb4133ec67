"""Normalisations and dropout."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import Result, operator
from eqfuzz.imports.text.literals import Unsupported, joined, number_text, sequence


@operator("BatchNormalization")
def batch_norm(node: OnnxNode) -> str | list[str]:
    x, scale, bias, mean, variance = node.tensors()
    epsilon = f"eps={number_text(node.attribute('epsilon', 1e-5))}"
    if not node.attribute("training_mode", 0):
        if any(node.uses(output) for output in range(1, 5)):
            raise Unsupported("training mode of opset 13 and older")
        return f"F.batch_norm({joined([x, mean, variance, scale, bias, epsilon])})"
    result = node.local(f"F.batch_norm({joined([x, 'None', 'None', scale, bias, 'training=True', epsilon])})", "norm")
    dims = sequence([0, *range(2, node.rank(0))])
    old = node.attribute("momentum", 0.9)
    names = [result]
    current = f"{x}.mean(dim={dims})", f"{x}.var(dim={dims}, unbiased=False)"
    for number, (before, now) in enumerate(zip((mean, variance), current, strict=True), 1):
        running = f"{before} * {number_text(old)} + {now} * {number_text(1 - old)}"
        names.append(node.local(running, "running") if node.uses(number) else "")
    return names


@operator("InstanceNormalization")
def instance_norm(node: OnnxNode) -> str:
    x, scale, bias = node.tensors()
    return f"F.instance_norm({x}, weight={scale}, bias={bias}, eps={number_text(node.attribute('epsilon', 1e-5))})"


@operator("GroupNormalization")
def group_norm(node: OnnxNode) -> str:
    x, scale, bias = node.tensors()
    groups = node.attribute("num_groups")
    if node.opset < 21:  # one factor for each group
        repeats = node.size(0, 1) // groups
        scale, bias = (f"{text}.repeat_interleave({repeats})" if repeats != 1 else text for text in (scale, bias))
    return f"F.group_norm({x}, {groups}, {scale}, {bias}, {number_text(node.attribute('epsilon', 1e-5))})"


@operator("LayerNormalization")
def layer_norm(node: OnnxNode) -> str | list[str]:
    x, axis = node.tensor(0), node.axis(0, -1)
    rank = node.rank(0)
    sizes = [node.value(0).shape[dim] if node.value(0).shape else None for dim in range(axis, rank)]  # type: ignore[index]
    static = all(size is not None for size in sizes)
    shape = sequence([str(size) for size in sizes]) if static else f"{x}.shape[{axis}:]"
    fits = all(not node.has(i) or (static and node.value(i).shape == tuple(sizes)) for i in (1, 2))
    epsilon = number_text(node.attribute("epsilon", 1e-5))
    if fits:
        bias = node.tensor(2) if node.has(2) else ""
        result = f"F.layer_norm({joined([x, shape, node.optional(1), bias, f'eps={epsilon}'])})"
    else:
        result = f"F.layer_norm({x}, {shape}, eps={epsilon}) * {node.tensor(1)}"
        result += f" + {node.tensor(2)}" if node.has(2) else ""
    if not (node.uses(1) or node.uses(2)):
        return result
    dims = sequence(list(range(axis, rank)))
    mean = node.local(f"{x}.mean(dim={dims}, keepdim=True)", "mean")
    variance = f"{x}.var(dim={dims}, unbiased=False, keepdim=True)"
    scale = node.local(f"torch.rsqrt({variance} + {epsilon})", "scale")
    return [node.local(result, "norm"), mean, scale]


@operator("RMSNormalization")
def rms_norm(node: OnnxNode) -> str:
    x, axis = node.tensor(0), node.axis(0, -1)
    dims = sequence(list(range(axis, node.rank(0))))
    epsilon = number_text(node.attribute("epsilon", 1e-5))
    return f"{x} * torch.rsqrt({x}.square().mean(dim={dims}, keepdim=True) + {epsilon}) * {node.tensor(1)}"


@operator("LpNormalization")
def lp_norm(node: OnnxNode) -> str:
    x, axis, power = node.tensor(0), node.axis(0, -1), node.attribute("p", 2)
    return f"F.normalize({x}, p={power}, dim={axis})"


@operator("LRN")
def local_response_norm(node: OnnxNode) -> str:
    x, size = node.tensor(0), node.attribute("size")
    alpha, beta, bias = node.attribute("alpha", 1e-4), node.attribute("beta", 0.75), node.attribute("bias", 1.0)
    if size % 2:
        factors = f"alpha={number_text(alpha)}, beta={number_text(beta)}, k={number_text(bias)}"
        return f"F.local_response_norm({x}, {size}, {factors})"
    pads = sequence([*[0] * (2 * (node.rank(0) - 2)), (size - 1) // 2, size // 2])
    sums = f"F.pad({x}.square(), {pads}).unfold(1, {size}, 1).sum(dim=-1)"
    return f"{x} / ({number_text(bias)} + {number_text(alpha / size)} * {sums}) ** {number_text(beta)}"


@operator("MeanVarianceNormalization")
def mean_variance_norm(node: OnnxNode) -> str:
    x, dims = node.tensor(0), sequence(node.axes(0, None) or [0, 2, 3])
    centred = node.local(f"{x} - {x}.mean(dim={dims}, keepdim=True)", "centred")
    return f"{centred} / ({centred}.square().mean(dim={dims}, keepdim=True).sqrt() + 1e-09)"


@operator("Dropout")
def dropout(node: OnnxNode) -> Result:
    training = node.constant(2)
    if node.has(2) and (training is None or bool(training)) and not _drops_nothing(node):
        raise Unsupported("training mode, whose results are random")
    if node.uses(1):
        return [node.tensor(0), node.local(f"torch.ones_like({node.tensor(0)}, dtype=torch.bool)", "mask")]
    return node.value(0)


def _drops_nothing(node: OnnxNode) -> bool:
    ratio = node.constant(1)
    return node.has(1) and ratio is not None and float(ratio) == 0
