"""Normalisation, softmax and losses written out, as Inductor's graph passes match them."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Range, Spec, UnsatisfiableSpec, index
from eqfuzz.generate.dag.values.value_bounds import bounded, moderate, root

_fusion = partial(operator, family="fusion")


@_fusion(
    "pattern: layer norm",
    "({0} - {0}.mean(-1, keepdim=True)) / torch.sqrt({0}.var(-1, keepdim=True, unbiased=False) + 1e-3) * {1} + {2}",
    "({0} - {0}.mean(-1, keepdim=True)) * torch.rsqrt(({0} - {0}.mean(-1, keepdim=True)).pow(2).mean(-1, True) + 1e-3)"
    " * {1} + {2}",
    "F.layer_norm({0}, ({n},)) * {1} + {2}",
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="normed",
)
def layer_norm(draw: Draw, out: Spec) -> Needs:
    """Layer normalisation written out: Inductor's scheduler fuses its reductions."""
    n = out.shape[-1]
    spread = bounded(root(n))
    return Needs(moderate(out), out.of(n), out.of(n), values=lambda x, w, b: spread(x) * w + b, n=n)


@_fusion(
    "pattern: rms norm",
    "{0} * torch.rsqrt({0}.pow(2).mean(-1, keepdim=True) + 1e-3) * {1}",
    "{1} * ({0} / ({0}.square().mean(dim=-1, keepdim=True) + 1e-3).sqrt())",
    "({0}.float() * torch.rsqrt({0}.float().pow(2).mean(-1, keepdim=True) + 1e-3)).to({0}.dtype) * {1}",
    dtypes=("float32", "float16", "bfloat16"),
    rank=(1, 5),
    name_hint="normed",
)
def rms_norm(draw: Draw, out: Spec) -> Needs:
    """RMS normalisation written out, sometimes in float32."""
    spread = bounded(root(out.shape[-1]))
    return Needs(moderate(out), out.of(out.shape[-1]), values=lambda x, w: spread(x) * w)


@_fusion(
    "pattern: batch norm",
    "({0} - {0}.mean((0, 2, 3), keepdim=True)) / ({0}.var((0, 2, 3), keepdim=True, correction=0) + 1e-3).sqrt()",
    "({0} - torch.var_mean({0}, (0, 2, 3), keepdim=True, correction=0)[1]) * "
    "torch.rsqrt(torch.var_mean({0}, (0, 2, 3), keepdim=True, correction=0)[0] + 1e-3)",
    dtypes=WIDE,
    rank=(4, 4),
    name_hint="normed",
)
def batch_norm(draw: Draw, out: Spec) -> Needs:
    """Batch normalisation in training, written out: Welford reductions over several dimensions."""
    return Needs(moderate(out), values=bounded(max(64.0, 4 * out.numel**0.5)))


@_fusion(
    "pattern: group norm",
    "F.layer_norm({0}.reshape({b}, {g}, {k}), ({k},)).reshape({size})",
    "F.group_norm({0}, {g})",
    dtypes=WIDE,
    rank=(3, 4),
    name_hint="normed",
)
def group_norm(draw: Draw, out: Spec) -> Needs:
    """Group normalisation as a layer norm of a reshaped tensor."""
    operand = moderate(out)
    b, c, *rest = out.shape
    each = 1
    for n in rest:
        each = each * n
    groups = draw.choice([g for g in (1, 2, 3, 4) if c % g == 0])
    k = c // groups * each
    if k * int(b) < 2 or k < 2:
        raise UnsatisfiableSpec("nothing to normalise over")
    return Needs(operand, values=bounded(root(k)), b=b, g=groups, k=k, size=out.shape)


@_fusion(
    "pattern: softmax",
    "torch.exp({0} - {0}.amax({dim}, keepdim=True)) / torch.exp({0} - {0}.amax({dim}, True)).sum({dim}, keepdim=True)",
    "({0} - {0}.max({dim}, keepdim=True).values).exp() / ({0} - {0}.max({dim}, True).values).exp().sum({dim}, True)",
    "torch.exp({0} - torch.logsumexp({0}, dim={dim}, keepdim=True))",
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="weights",
)
def softmax(draw: Draw, out: Spec) -> Needs:
    """Softmax written out: prepare_softmax in post_grad.py."""
    return Needs(moderate(out), values=bounded(1.2, 0.0), dim=draw.signed_axis(draw.axis(out), out.rank))


@_fusion(
    "pattern: scaled softmax",
    "torch.softmax({0} * {scale}, dim={dim})",
    "torch.softmax({0} / {scale}, {dim})",
    "torch.softmax({scale} * {0}, {dim}).to(torch.float64).to(torch.{dtype})",
    "(({0} * {scale}) - ({0} * {scale}).amax({dim}, keepdim=True)).exp()",
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="weights",
)
def scaled_softmax(draw: Draw, out: Spec) -> Needs:
    """Softmax of a tensor scaled by a number, also a negative one: mul_softmax_pattern in joint_graph.py."""
    scale = draw.choice((3.0, 0.125, -2.0, 0.5, 1.7))
    dim = draw.signed_axis(draw.axis(out), out.rank)
    return Needs(moderate(out), values=bounded(1.2, 0.0), scale=scale, dim=dim, dtype=out.dtype)


@_fusion(
    "pattern: softmax scaled by a tensor",
    "torch.softmax({0} * {1}, dim=-1)",
    "torch.softmax({0} / {1}, dim=-1)",
    "F.log_softmax({0} / {1}, -1).exp()",
    dtypes=WIDE,
    rank=(2, 4),
    name_hint="weights",
)
def softmax_scaled_by_tensor(draw: Draw, out: Spec) -> Needs:
    """Softmax of a tensor scaled by one that broadcasts along its dimension: joint_graph.py."""
    scale = out.of(*out.shape[:-1], 1) if draw.chance(0.7) else out.of()
    return Needs(moderate(out), scale.within(0.25, 4.0), values=bounded(1.2, 0.0))


@_fusion(
    "pattern: logsumexp",
    "torch.log(torch.exp({0} - {0}.amax(-1, keepdim=True)).sum(-1)) + {0}.amax(-1)",
    "torch.log({0}.exp().sum(dim=-1))",
    "{0}.max(-1).values + ({0} - {0}.max(-1, keepdim=True).values).exp().sum(-1).log()",
    dtypes=WIDE,
    rank=(0, 4),
)
def logsumexp(draw: Draw, out: Spec) -> Needs:
    """The logarithm of a sum of exponentials, written out."""
    return Needs(moderate(out.of(*out.shape, draw.size())), values=lambda x: Range(x.low - 1, x.high + 6))


@_fusion(
    "pattern: cross entropy",
    "-F.log_softmax({0}, dim=-1).gather(-1, {1}.unsqueeze(-1)).squeeze(-1)",
    "torch.logsumexp({0}, -1) - torch.gather({0}, -1, {1}.unsqueeze(-1)).squeeze(-1)",
    "-(F.log_softmax({0}, dim=-1) * F.one_hot({1}, {n})).sum(-1)",
    dtypes=WIDE,
    rank=(1, 3),
    name_hint="loss",
)
def cross_entropy(draw: Draw, out: Spec) -> Needs:
    """Cross entropy written out: the gather of a log-softmax, which post-grad passes fuse."""
    n = draw.integer(2, 12)
    return Needs(moderate(out.of(*out.shape, n)), index(out.shape, n), values=bounded(24.0, -1.0), n=n)


@_fusion(
    "pattern: cosine similarity",
    "({0} * {1}).sum(-1) / (torch.sqrt(({0} ** 2).sum(-1) + 0.1) * torch.sqrt(({1} ** 2).sum(-1) + 0.1))",
    "torch.sum(({0} / ({0}.norm(dim=-1, keepdim=True) + 0.1)) * ({1} / ({1}.norm(dim=-1, keepdim=True) + 0.1)), -1)",
    dtypes=WIDE,
    rank=(0, 4),
)
def cosine(draw: Draw, out: Spec) -> Needs:
    """The cosine of pairs of rows, written out: three reductions over the same operands."""
    rows = out.of(*out.shape, draw.size())
    positive = rows.within(0.1, 8.0)
    return Needs(positive, moderate(rows), values=bounded(1.1))


@_fusion(
    "pattern: batched layer norms",
    "torch.stack([F.layer_norm({0}, ({n},), {2}, {3}), F.layer_norm({1}, ({n},), {2}, {3})]).mean(0)",
    "F.layer_norm({0}, ({n},), {2}, {3}, 1e-3) + F.layer_norm({1}, ({n},), {3}, {2}, 1e-3)",
    dtypes=WIDE,
    rank=(2, 4),
    name_hint="normed",
)
def batched_layer_norm(draw: Draw, out: Spec) -> Needs:
    """Several layer norms of one shape: batch_layernorm in group_batch_fusion.py."""
    n = out.shape[-1]
    spread = bounded(root(n) * 2)
    values = lambda x, y, w, b: spread(x, y) * w.over(b) + w.over(b) + w.over(b)  # noqa: E731
    return Needs(moderate(out), moderate(out), out.of(n), out.of(n), values=values, n=n)
