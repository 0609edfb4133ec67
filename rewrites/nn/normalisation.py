"""Normalisation layers by their definitions and by one another."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import at_least, at_most, away_from_zero, moderate, same_dtype, when, wide
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, dim_of, non_empty, same_shape, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Float, Int, Ints

ONE_DIM = when("one dimension", lambda s: len(s.value) == 1, "s")


@rule(
    exact="real",
    where=[
        wide("x"),
        sizes(x="* k"),
        non_empty("x"),
        moderate("x", bound=30),
        contiguous("x"),
        ONE_DIM,
        when("several elements a row", lambda x: x.shape[-1] > 1, "x"),
    ],
    gradients=False,
)
def layer_norm_is_group_norm(x, s: Ints):
    """A layer norm is a group norm of rows that are one channel; its gradients are ill-conditioned."""
    return F.layer_norm(x, s), F.group_norm(x.reshape(-1, 1, *s), 1).reshape(x.shape)


@rule(
    exact="real",
    where=[
        reassociable("x", "w", bound=30),
        sizes(x="* k", w="k"),
        non_empty("x"),
        contiguous("x"),
        ONE_DIM,
        at_least("e", 1e-6),
        at_most("e", 1),
    ],
    gradients=False,
)
def root_mean_square_norm(x, s: Ints, w, e: Float):
    """``rms_norm`` divides by the root of the mean square; its gradients are ill-conditioned near zero."""
    return F.rms_norm(x, s, w, e), x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + e) * w.reshape(s)


STATISTICS = [
    wide("x", "m", "v", "w", "b"),
    same_dtype("x", "m", "v", "w", "b"),
    sizes(x="n c h k", m="c", v="c", w="c", b="c"),
    non_empty("x"),
    moderate("x", "m", "w", "b", bound=30),
    contiguous("x"),
    at_least("v", 0.1),
    at_most("v", 10),
]


@rule(exact="real", where=STATISTICS)
def batch_norm_by_definition(x, m, v, w, b):
    """A batch norm with given statistics is affine in every channel."""
    return (
        F.batch_norm(x, m, v, w, b),
        (x - m.reshape(1, -1, 1, 1)) / torch.sqrt(v.reshape(1, -1, 1, 1) + 1e-5) * w.reshape(1, -1, 1, 1)
        + b.reshape(1, -1, 1, 1),
    )


@rule(
    exact="real",
    where=[
        wide("x", "w", "m", "v"),
        same_dtype("x", "w", "m", "v"),
        sizes(x="n c h k", w="o c p q", m="o", v="o"),
        non_empty("x", "w"),
        moderate("x", "w", "m", bound=10),
        at_least("v", 0.1),
        at_most("v", 10),
    ],
)
def batch_norm_folded_into_convolution(x, w, m, v):
    """A batch norm after a convolution is a convolution with scaled weights and a bias."""
    return (
        F.batch_norm(F.conv2d(x, w), m, v),
        F.conv2d(x, w * torch.rsqrt(v + 1e-5).reshape(-1, 1, 1, 1), -m * torch.rsqrt(v + 1e-5)),
    )


@rule(
    exact="real",
    where=[
        wide("x"),
        sizes(x="n c h k"),
        non_empty("x"),
        moderate("x", bound=30),
        contiguous("x"),
        when("several pixels", lambda x: x.shape[2] * x.shape[3] > 1, "x"),
    ],
    gradients=False,
)
def instance_norm_is_group_norm(x):
    """An instance norm is a group norm with a group for every channel; its gradients are ill-conditioned."""
    return F.instance_norm(x), F.group_norm(x, x.shape[1])


@rule(
    exact="real",
    where=[
        reassociable("x", "y", bound=100),
        same_shape("x", "y"),
        dim_of("d", "x"),
        non_empty("x"),
        away_from_zero("x", 1e-2),
        away_from_zero("y", 1e-2),
    ],
)
def cosine_of_normalised(x, y, d: Int):
    """Cosine similarity is the product of normalised vectors."""
    return F.cosine_similarity(x, y, d), (F.normalize(x, dim=d) * F.normalize(y, dim=d)).sum(d)
