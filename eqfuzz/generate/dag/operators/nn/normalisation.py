"""Normalisation functions; similarity and distance of vectors."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.values.windows import divisor, greatest

_EPSILONS = ("", ", eps=1e-05", ", eps=0.001", ", eps=0.1")


def _normalised(
    draw: Draw, out: Spec, count: int, channels: tuple[int, ...], forms: dict[int, tuple[str, ...]]
) -> Needs:
    """Needs of a normalisation over ``count`` elements; ``forms`` are those of the call by the number of weights."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    bound = math.sqrt(count) + 0.1
    weights = draw.choice(list(forms))
    operands = [out.free().within(-16.0, 16.0), *(out.of(*channels).within(-1.0, 1.0) for _ in range(weights))]
    values = Range(-bound - (weights > 1), bound + (weights > 1))
    eps = draw.choice(_EPSILONS)
    return Needs(*operands, values=values, forms=forms[weights], eps=eps)


@operator("torch.nn.functional.layer_norm", dtypes=FLOATS, rank=(1, 5), name_hint="normed", weight=2)
def layer_norm(draw: Draw, out: Spec) -> Needs:
    """Over the last dimensions, with and without weight and bias."""
    shape = out.shape[-draw.integer(1, min(3, out.rank)) :]
    forms = {
        0: ("F.layer_norm({0}, {shape}{eps})",),
        1: ("F.layer_norm({0}, {shape}, {1}{eps})", "F.layer_norm({0}, {shape}, weight={1}{eps})"),
        2: ("F.layer_norm({0}, {shape}, {1}, {2}{eps})", "F.layer_norm({0}, {shape}, weight={1}, bias={2}{eps})"),
    }
    needs = _normalised(draw, out, greatest(shape), shape, forms)
    return Needs(*needs.inputs, values=needs.values, forms=needs.forms, **needs.params, shape=shape)


@operator("torch.nn.functional.rms_norm", dtypes=FLOATS, rank=(1, 5), name_hint="normed", weight=1.5)
def rms_norm(draw: Draw, out: Spec) -> Needs:
    """Over the last dimensions, with and without weight."""
    shape = out.shape[-draw.integer(1, min(3, out.rank)) :]
    forms = {
        0: ("F.rms_norm({0}, {shape}{eps})",),
        1: ("F.rms_norm({0}, {shape}, {1}{eps})", "F.rms_norm({0}, {shape}, weight={1}{eps})"),
    }
    needs = _normalised(draw, out, greatest(shape), shape, forms)
    return Needs(*needs.inputs, values=needs.values, forms=needs.forms, **needs.params, shape=shape)


@operator("torch.nn.functional.group_norm", dtypes=FLOATS, rank=(2, 5), name_hint="normed")
def group_norm(draw: Draw, out: Spec) -> Needs:
    """Over groups of channels."""
    groups = divisor(draw, out.shape[1])
    count = greatest(out.shape[1:]) // groups
    if out.numel // groups <= 1:
        raise UnsatisfiableSpec("one value in each group")
    forms = {
        0: ("F.group_norm({0}, {groups}{eps})", "F.group_norm({0}, num_groups={groups}{eps})"),
        2: ("F.group_norm({0}, {groups}, {1}, {2}{eps})", "F.group_norm({0}, {groups}, weight={1}, bias={2}{eps})"),
    }
    needs = _normalised(draw, out, count, out.shape[1:2], forms)
    return Needs(*needs.inputs, values=needs.values, forms=needs.forms, **needs.params, groups=groups)


@operator("torch.nn.functional.batch_norm", dtypes=FLOATS, rank=(2, 5), name_hint="normed", weight=1.5)
def batch_norm(draw: Draw, out: Spec) -> Needs:
    """In evaluation mode: with statistics as inputs."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    channel = out.of(out.shape[1])
    operands = [out.free(), channel.within(-2.0, 2.0).dense(), channel.within(0.25, 4.0).dense()]
    text = "F.batch_norm({0}, {1}.detach(), {2}.detach(){eps})"
    eps = draw.choice(("", ", eps=1e-05", ", training=False, eps=0.001"))
    if draw.chance(0.4):
        return Needs(*operands, values=lambda x, m, v: (x - m) * Range(0, 2), forms=(text,), eps=eps)
    operands += [channel.within(-1.0, 1.0), channel.within(-1.0, 1.0)]
    form = text.replace("{eps}", ", {3}, {4}{eps}")
    values = lambda x, m, v, w, b: (x - m) * Range(0, 2) * w + b  # noqa: E731
    return Needs(*operands, values=values, forms=(form, form.replace("{3}, {4}", "weight={3}, bias={4}")), eps=eps)


@operator("torch.nn.functional.batch_norm.training", dtypes=FLOATS, rank=(2, 5), name_hint="normed")
def batch_norm_in_training(draw: Draw, out: Spec) -> Needs:
    """In training, without running statistics."""
    count = greatest((out.shape[0], *out.shape[2:]))
    if count <= 1:
        raise UnsatisfiableSpec("one value in each channel")
    forms = {
        0: ("F.batch_norm({0}, None, None, training=True{eps})",),
        2: (
            "F.batch_norm({0}, None, None, {1}, {2}, training=True{eps})",
            "F.batch_norm({0}, None, None, weight={1}, bias={2}, training=True{eps})",
        ),
    }
    return _normalised(draw, out, count, out.shape[1:2], forms)


@operator("torch.nn.functional.instance_norm", dtypes=FLOATS, rank=(3, 5), name_hint="normed")
def instance_norm(draw: Draw, out: Spec) -> Needs:
    """Over all but the first two dimensions."""
    count = greatest(out.shape[2:])
    if count <= 1:
        raise UnsatisfiableSpec("one value in each channel")
    forms = {
        0: ("F.instance_norm({0}{eps})", "F.instance_norm({0}, use_input_stats=True{eps})"),
        2: ("F.instance_norm({0}, weight={1}, bias={2}{eps})",),
    }
    return _normalised(draw, out, count, out.shape[1:2], forms)


@operator(
    "torch.nn.functional.local_response_norm",
    "F.local_response_norm({0}, {size}{more})",
    "F.local_response_norm({0}, size={size}{more})",
    dtypes=WIDE,
    rank=(3, 5),
    name_hint="normed",
)
def local_response_norm(draw: Draw, out: Spec) -> Needs:
    """Over neighbouring channels."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    more = draw.choice(("", ", alpha=0.001", ", alpha=0.1, beta=0.5", ", alpha=0.01, beta=0.75, k=2.0"))
    operand = out.free().within(-16.0, 16.0)
    if out.rank == 5:
        operand = operand.dense()  # torch views it in another size
    return Needs(operand, values=lambda x: x.over(Range(0, 0)), size=draw.integer(1, 5), more=more)


@operator(
    "torch.nn.functional.normalize",
    "F.normalize({0}, p={p}, dim={dim}{eps})",
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="direction",
)
def normalize(draw: Draw, out: Spec) -> Needs:
    """Vectors scaled to length 1; their norm is bounded away from zero, where the direction is discontinuous."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    axis = draw.axis(out)
    positive = draw.chance(0.5)
    operand = out.free().positive() if positive else out.free().within(-16.0, 16.0)
    eps = draw.choice(("", ", eps=1e-06")) if positive else draw.choice((", eps=0.01", ", eps=0.1"))
    p = draw.choice((2.0, 2, 1, 1.0, 3.0))
    return Needs(operand, values=Range(-1.02, 1.02), dim=draw.signed_axis(axis, out.rank), p=p, eps=eps)


@operator(
    "torch.nn.functional.cosine_similarity",
    "F.cosine_similarity({0}, {1}, dim={dim}{eps})",
    "torch.cosine_similarity({0}, {1}, dim={dim}{eps})",
    "nn.CosineSimilarity(dim={dim}{eps})({0}, {1})",
    dtypes=("float32", "float64", "bfloat16"),
    rank=(0, 4),
    name_hint="similarity",
)
def cosine_similarity(draw: Draw, out: Spec) -> Needs:
    """Of vectors that are not zero."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    axis = draw.integer(0, out.rank)
    size = list(out.shape)
    size.insert(axis, draw.size(9))
    operand = out.of(*size)
    dim = draw.signed_axis(axis, out.rank + 1)
    return Needs(
        operand.positive(),
        operand.within(0.05, 8.0),
        values=Range(-1.02, 1.02),
        dim=dim,
        eps=draw.choice(("", ", eps=0.001")),
    )


@operator(
    "torch.nn.functional.pairwise_distance",
    "F.pairwise_distance({0}, {1}{more})",
    "torch.pairwise_distance({0}, {1}{more})",
    dtypes=("float32", "float64", "bfloat16"),
    rank=(0, 4),
    name_hint="distance",
)
def pairwise_distance(draw: Draw, out: Spec) -> Needs:
    """Norms of the differences of vectors, bounded away from zero."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    keeps = out.rank > 1 and out.shape[-1] == 1 and draw.chance(0.7)
    before = out.shape[:-1] if keeps else out.shape
    count = draw.size(9)
    operand = out.of(*before, count)
    more = draw.choice(("", ", p=2.0", ", p=1", ", p=3.0, eps=0.001")) + (", keepdim=True" if keeps else "")
    values = lambda x, y: Range(0, (x.most + y.most + 0.1) * count)  # noqa: E731
    return Needs(operand.within(-16.0, 4.0), operand.within(4.25, 16.0), values=values, more=more)
