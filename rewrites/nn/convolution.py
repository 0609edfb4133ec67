"""Convolution and pooling by windows, by parts, by other sizes."""

import libcst as cst
import torch
import torch.nn.functional as F

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import (
    Precondition,
    floating,
    moderate,
    no_nan,
    no_negative_zero,
    same_dtype,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int
from eqfuzz.rewrite.source.edit import skip

TAME = [reassociable("x", "w", bound=30), non_empty("x", "w")]
CONVOLUTION = [*TAME, sizes(x="n c h v", w="o c p q")]
SMALL_KERNEL = when("at most 8 channels", lambda x: x.shape[1] <= 8, "x")


def spaced(step):
    """``step`` is 2 or 3."""
    return when("2 or 3", lambda k: k.value in (2, 3), step)


def grouped(groups):
    """``groups`` divides the channels of ``x`` and ``w`` has what is left; proposes such shapes."""

    def check(visit):
        g, x, w = visit[groups].value, visit["x"].shape, visit["w"].shape
        fits = len(x) == len(w) == 4 and g > 1 and x[1] == w[1] * g and w[0] % g == 0
        return None if fits else f"{list(x)} and {list(w)} are not in {g} groups"

    def propose(operands, rng):
        g, c, o = rng.choice((2, 3)), rng.choice((1, 2)), rng.choice((1, 2))
        operands[groups].value = g
        operands["x"].shape = (rng.choice((1, 2)), c * g, rng.choice((5, 6)), rng.choice((5, 7)))
        operands["w"].shape = (o * g, c, rng.choice((1, 3)), rng.choice((2, 3)))

    return Precondition(f"{groups} groups", check, propose)


def windows_in(padding, bias):
    """The kernel fits into the padded plane, and padding is not negative."""

    def check(visit):
        x, w, k = visit["x"].shape, visit["w"].shape, visit[padding].value
        fits = k >= 0 and all(x[i] + 2 * k >= w[i] for i in (2, 3))
        return None if fits else f"{list(w)} does not fit into {list(x)}, padded by {k}"

    def propose(operands, rng):
        c, o = rng.choice((1, 2, 3)), rng.choice((1, 2, 4))
        operands[padding].value = rng.choice((0, 1, 2))
        operands["x"].shape = (rng.choice((1, 2)), c, rng.choice((4, 5, 8)), rng.choice((4, 7)))
        operands["w"].shape = (o, c, rng.choice((1, 3)), rng.choice((2, 3)))
        operands[bias].shape = (o,)

    return Precondition(f"windows padded by {padding}", check, propose)


@rule(
    exact="real",
    where=[
        *TAME,
        wide("b"),
        same_dtype("x", "w", "b"),
        moderate("b", bound=30),
        sizes(x="n c h v", w="o c p q", b="o"),
        windows_in("k", "b"),
    ],
)
def convolution_by_unfolding(x, w, b, k: Int):
    """A convolution is a product of the weight with the columns that ``unfold`` makes."""
    return (
        F.conv2d(x, w, b, padding=k),
        (w.flatten(1) @ F.unfold(x, (w.shape[2], w.shape[3]), padding=k) + b[:, None]).reshape(
            x.shape[0], w.shape[0], x.shape[2] + 2 * k - w.shape[2] + 1, -1
        ),
    )


@rule(exact="ulp", where=[*TAME, sizes(x="n c h v", w="o c 3 3")], both_ways=True)
def same_padding_of_three(x, w):
    """Padding ``same`` of a kernel of three is a padding of one."""
    return F.conv2d(x, w, padding="same"), F.conv2d(x, w, padding=1)


@rule(exact="real", where=[*TAME, grouped("g")])
def convolution_by_groups(x, w, g: Int):
    """A grouped convolution is one for every group of channels."""
    return (
        F.conv2d(x, w, groups=g),
        torch.cat([F.conv2d(a, b) for a, b in zip(x.chunk(g, 1), w.chunk(g, 0), strict=True)], 1),
    )


@rule(exact="real", where=[*CONVOLUTION, contiguous("w")])
def dilated_convolution_with_zeros(x, w):
    """A convolution dilated by two has a kernel with zeros between its elements."""
    return (
        F.conv2d(x, w, dilation=2),
        F.conv2d(
            x, torch.kron(w, torch.tensor([[1, 0], [0, 0]], dtype=w.dtype, device=w.device))[..., :-1, :-1].contiguous()
        ),
    )


@rule(exact="real", where=[*CONVOLUTION, SMALL_KERNEL])
def convolution_by_channels(x, w):
    """A convolution adds one convolution for every input channel."""
    return F.conv2d(x, w), sum(F.conv2d(a, b) for a, b in zip(x.split(1, 1), w.split(1, 1), strict=True))


@rule(exact="real", where=[*TAME, sizes(x="n c h v", w="o c 1 1")])
def pointwise_convolution_by_einsum(x, w):
    """A convolution with a kernel of one pixel mixes the channels."""
    return F.conv2d(x, w), torch.einsum("bchw,oc->bohw", x, w[:, :, 0, 0]).contiguous()


@rule(exact="real", where=[*CONVOLUTION, spaced("k")])
def strided_convolution_is_sliced(x, w, k: Int):
    """A strided convolution keeps every k-th pixel of the dense one."""
    return F.conv2d(x, w, stride=k), F.conv2d(x, w)[:, :, ::k, ::k].contiguous()


@rule(exact="real", where=[*TAME, sizes(x="n c h v", w="c o p q")])
def transposed_convolution_is_convolution(x, w):
    """A transposed convolution is a convolution of the padded input with the kernel turned round."""
    return (
        F.conv_transpose2d(x, w),
        F.conv2d(
            F.pad(x, (w.shape[3] - 1, w.shape[3] - 1, w.shape[2] - 1, w.shape[2] - 1)),
            w.flip(2, 3).transpose(0, 1),
        ),
    )


@rule(exact="real", where=[*CONVOLUTION, when("at most 8 images", lambda x: x.shape[0] <= 8, "x")])
def convolution_by_images(x, w):
    """A convolution of one image after the other."""
    return F.conv2d(x, w), (lambda t, u: torch.cat([F.conv2d(s[None], u) for s in t]))(x, w)


POOLED = [
    rank("x", 4),
    non_empty("x"),
    when("a window within", lambda x, k: 1 <= k.value <= min(x.shape[2:]), "x", "k"),
]


@rule(exact="real", where=[wide("x"), moderate("x", bound=100), *POOLED])
def average_pool_is_convolution(x, k: Int):
    """An average pool is a convolution of every channel with equal weights."""
    return (
        F.avg_pool2d(x, k),
        F.conv2d(x, x.new_full((x.shape[1], 1, k, k), 1 / (k * k)), stride=k, groups=x.shape[1]),
    )


@rule(exact="real", where=[wide("x"), moderate("x", bound=100), *POOLED, contiguous("x")])
def average_pool_by_windows(x, k: Int):
    """An average pool is the mean over windows."""
    return F.avg_pool2d(x, k), x.unfold(2, k, k).unfold(3, k, k).mean((-2, -1))


@rule(
    exact="bitwise",
    where=[
        floating("x"),
        *POOLED,
        no_nan("x"),
        no_negative_zero("x"),
        when("k divides the plane", lambda x, k: x.shape[2] % k.value == 0 == x.shape[3] % k.value, "x", "k"),
    ],
    gradients=False,
)
def max_pool_by_reshape(x, k: Int):
    """A max pool that divides the plane is a maximum over tiles; ties send the gradient elsewhere."""
    return (
        F.max_pool2d(x, k),
        x.reshape(x.shape[0], x.shape[1], x.shape[2] // k, k, x.shape[3] // k, k).amax((3, 5)),
    )


@rule(
    exact="bitwise",
    where=[floating("x"), rank("x", 4), non_empty("x"), contiguous("x"), no_negative_zero("x")],
    gradients=False,
    example="""
    def program(x):
        return F.max_pool2d(x, 3, 1, padding=1)
    """,
)
def max_pool_padded_before(call: cst.Call, ctx: RewriteContext):
    """A max pool pads with minus infinity, which may be done first; ties send the gradient elsewhere."""
    if ctx.resolved(call.func) != "torch.nn.functional.max_pool2d":
        return
    named = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
    positional = [a for a in call.args if a.keyword is None and not a.star]
    if list(named) != ["padding"] or len(positional) + 1 != len(call.args) or len(positional) < 2:
        skip("not a kernel, a stride perhaps, and a padding")
    k = ctx.value(named["padding"], "int")
    if any(f.ndim not in (3, 4) for f in ctx.tensors(positional[0].value)):
        skip("neither an image nor a batch")
    ctx.require_pure(positional[0].value)
    infinity = f"{ctx.builtin('float')}('-inf')"
    operand = ctx.text(positional[0].value)
    padded = f"{ctx.path('torch.nn.functional.pad')}({operand}, ({k}, {k}, {k}, {k}), value={infinity})"
    yield f"{ctx.text(call.func)}({', '.join([padded, *(ctx.text(a.value) for a in positional[1:])])})"
