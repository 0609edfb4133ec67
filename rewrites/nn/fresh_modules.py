"""Functions as modules without parameters, made where they are called."""

import torch
import torch.nn.functional as F
from torch import nn

from eqfuzz.rewrite.facts.preconditions import at_least, at_most, floating, full_precision, real, same_dtype, when
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, dim_of, rank, same_shape, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Float, Int


@rule(exact="bitwise")
def identity(x):
    """Anything through an Identity; it is the same object."""
    return x, nn.Identity()(x)


@rule(exact="bitwise", where=[real("x")])
def relu(x):
    """``relu`` as a module."""
    return torch.relu(x), nn.ReLU()(x)


@rule(exact="bitwise", where=[floating("x")])
def gelu(x):
    """``gelu`` as a module."""
    return F.gelu(x), nn.GELU()(x)


@rule(exact="bitwise", where=[floating("x")])
def gelu_by_tanh(x):
    """The approximation of ``gelu`` as a module."""
    return F.gelu(x, approximate="tanh"), nn.GELU("tanh")(x)


@rule(exact="bitwise", where=[floating("x")])
def silu(x):
    """``silu`` as a module."""
    return F.silu(x), nn.SiLU()(x)


@rule(exact="bitwise", where=[floating("x")])
def elu(x):
    """``elu`` as a module."""
    return F.elu(x), nn.ELU()(x)


@rule(exact="bitwise", where=[floating("x")])
def selu(x):
    """``selu`` as a module."""
    return F.selu(x), nn.SELU()(x)


@rule(exact="bitwise", where=[floating("x")])
def mish(x):
    """``mish`` as a module."""
    return F.mish(x), nn.Mish()(x)


@rule(exact="bitwise", where=[floating("x")])
def softplus(x):
    """``softplus`` as a module."""
    return F.softplus(x), nn.Softplus()(x)


@rule(exact="bitwise", where=[floating("x")])
def leaky_relu(x, slope: Float):
    """``leaky_relu`` as a module with its slope."""
    return F.leaky_relu(x, slope), nn.LeakyReLU(slope)(x)


@rule(exact="bitwise", where=[floating("x")])
def hardswish(x):
    """``hardswish`` as a module."""
    return F.hardswish(x), nn.Hardswish()(x)


@rule(exact="bitwise", where=[floating("x")])
def hardsigmoid(x):
    """``hardsigmoid`` as a module."""
    return F.hardsigmoid(x), nn.Hardsigmoid()(x)


@rule(exact="bitwise", where=[real("x")])
def relu6(x):
    """``relu6`` as a module."""
    return F.relu6(x), nn.ReLU6()(x)


@rule(exact="bitwise", where=[floating("x")])
def log_sigmoid(x):
    """``logsigmoid`` as a module."""
    return F.logsigmoid(x), nn.LogSigmoid()(x)


@rule(exact="bitwise", where=[real("x")])
def softsign(x):
    """``softsign`` as a module."""
    return F.softsign(x), nn.Softsign()(x)


@rule(exact="bitwise", where=[floating("x")])
def tanh(x):
    """``tanh`` as a module."""
    return torch.tanh(x), nn.Tanh()(x)


@rule(exact="bitwise", where=[floating("x")])
def sigmoid(x):
    """``sigmoid`` as a module."""
    return torch.sigmoid(x), nn.Sigmoid()(x)


@rule(exact="bitwise", where=[floating("x")])
def tanh_shrink(x):
    """``tanhshrink`` as a module."""
    return F.tanhshrink(x), nn.Tanhshrink()(x)


@rule(exact="bitwise", where=[floating("x"), dim_of("d", "x")])
def softmax(x, d: Int):
    """``softmax`` as a module."""
    return torch.softmax(x, d), nn.Softmax(d)(x)


@rule(exact="bitwise", where=[floating("x"), dim_of("d", "x")])
def log_softmax(x, d: Int):
    """``log_softmax`` as a module."""
    return torch.log_softmax(x, d), nn.LogSoftmax(d)(x)


@rule(exact="bitwise", where=[floating("x"), dim_of("d", "x")])
def glu(x, d: Int):
    """``glu`` as a module."""
    return F.glu(x, d), nn.GLU(d)(x)


@rule(exact="bitwise", where=[sizes(x="* a b c"), at_least("k", 0), at_most("k", 2)])
def flatten_from(x, k: Int):
    """Flattened from a dimension to the last, as a module."""
    return torch.flatten(x, k), nn.Flatten(k)(x)


@rule(exact="bitwise", where=[floating("x"), sizes(x="n c 8 8"), at_least("k", 1), at_most("k", 4)])
def max_pool(x, k: Int):
    """A maximum over windows as a module."""
    return F.max_pool2d(x, k), nn.MaxPool2d(k)(x)


@rule(exact="bitwise", where=[full_precision("x"), sizes(x="n c 8 8"), at_least("k", 1), at_most("k", 4)])
def average_pool(x, k: Int):
    """A mean over windows as a module."""
    return F.avg_pool2d(x, k), nn.AvgPool2d(k)(x)


@rule(exact="bitwise", where=[full_precision("x"), sizes(x="n c 8 8"), at_least("k", 1), at_most("k", 4)])
def adaptive_average_pool(x, k: Int):
    """A mean over a number of windows as a module."""
    return F.adaptive_avg_pool2d(x, k), nn.AdaptiveAvgPool2d(k)(x)


@rule(exact="bitwise", where=[sizes(x="n 8 h w"), when("k is 1 or 2", lambda k: k.value in (1, 2), "k")])
def pixel_shuffle(x, k: Int):
    """Channels to pixels as a module."""
    return F.pixel_shuffle(x, k), nn.PixelShuffle(k)(x)


@rule(exact="bitwise", where=[floating("x"), same_dtype("x", "y"), same_shape("x", "y")])
def squared_loss(x, y):
    """A mean squared difference as a module."""
    return F.mse_loss(x, y), nn.MSELoss()(x, y)


@rule(exact="bitwise", where=[floating("x"), same_dtype("x", "y"), same_shape("x", "y")])
def absolute_loss(x, y):
    """A mean absolute difference as a module."""
    return F.l1_loss(x, y), nn.L1Loss()(x, y)


@rule(exact="bitwise", where=[floating("x"), same_dtype("x", "y"), same_shape("x", "y")])
def smooth_loss(x, y):
    """A loss that is a square near zero as a module."""
    return F.smooth_l1_loss(x, y), nn.SmoothL1Loss()(x, y)


@rule(exact="bitwise", where=[full_precision("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), rank("x", 2)])
def cross_entropy_of_shares(x, y):
    """A cross entropy against shares as a module."""
    return F.cross_entropy(x, y), nn.CrossEntropyLoss()(x, y)


@rule(exact="bitwise", where=[full_precision("x"), at_least_rank("x", 1)])
def layer_norm(x, n: Int):
    """A norm over the last dimension as a module without parameters."""
    return F.layer_norm(x, (n,)), nn.LayerNorm(n, elementwise_affine=False)(x)
