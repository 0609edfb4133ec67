"""Activations, normalisation, attention, losses."""

import math

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import (
    away_from_zero,
    dtype_in,
    finite,
    floating,
    moderate,
    no_nan,
    no_negative_zero,
    real,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import (
    at_least_rank,
    contiguous,
    dim_of,
    index_into,
    non_empty,
    same_shape,
    sizes,
)
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Ints, Number

ALONG = [wide("x"), at_least_rank("x", 1), non_empty("x"), contiguous("x"), moderate("x"), dim_of("d", "x")]


@rule(exact="bitwise", where=[real("x"), no_negative_zero("x")], gradients=False, both_ways=True)
def relu_is_clamp(x):
    """``relu(x)`` is ``clamp(x, min=0)``; at 0 the gradient of the clamp is 1."""
    return torch.relu(x), torch.clamp(x, min=0)


@rule(exact="bitwise", where=[real("x"), no_negative_zero("x")], gradients=False)
def relu_is_maximum(x):
    """``relu(x)`` is the maximum with zero; at 0 the gradient of the maximum is 1/2."""
    return torch.relu(x), torch.maximum(x, torch.zeros_like(x))


@rule(exact="bitwise", where=[real("x"), no_nan("x"), no_negative_zero("x")])
def relu_is_where(x):
    """``relu(x)`` is ``where(x > 0, x, 0)`` without NaN."""
    return torch.relu(x), torch.where(x > 0, x, 0)


@rule(exact="bitwise", where=[real("x"), no_nan("x"), no_negative_zero("x"), contiguous("x")])
def relu_is_masked_fill(x):
    """``relu(x)`` fills what is negative with zero."""
    return torch.relu(x), x.masked_fill(x <= 0, 0)


@rule(exact="bitwise", where=[floating("x"), finite("x"), no_negative_zero("x")])
def relu_is_masked_product(x):
    """``relu(x)`` is ``x * (x > 0)``; adding 0 makes its negative zeros positive."""
    return torch.relu(x), x * (x > 0) + 0


@rule(exact="bitwise", where=[real("x"), no_negative_zero("x")])
def relu_is_threshold(x):
    """``relu(x)`` is a threshold at zero."""
    return torch.relu(x), F.threshold(x, 0, 0)


@rule(exact="bitwise", where=[floating("x"), finite("x"), no_negative_zero("x")])
def relu_is_leaky_relu(x):
    """``relu(x)`` is a leaky relu that does not leak, made non-negative again."""
    return torch.relu(x), torch.abs(F.leaky_relu(x, 0.0))


@rule(exact="bitwise", where=[floating("x"), no_negative_zero("x")], both_ways=True)
def relu6_is_hardtanh(x):
    """``relu6(x)`` is ``hardtanh(x, 0, 6)``."""
    return F.relu6(x), F.hardtanh(x, 0.0, 6.0)


@rule(exact="bitwise", where=[dtype_in("x", torch.float32, torch.float64), moderate("k")])
def leaky_relu_is_where(x, k: Number):
    """``leaky_relu(x, k)`` is ``where(x > 0, x, x * k)``."""
    return F.leaky_relu(x, k), torch.where(x > 0, x, x * k)


@rule(exact="bitwise", where=[floating("x"), no_negative_zero("x")])
def softsign_by_definition(x):
    """``softsign(x)`` is ``x / (1 + |x|)``."""
    return F.softsign(x), x / (1 + torch.abs(x))


@rule(exact="bitwise", where=[floating("x")])
def tanhshrink_by_definition(x):
    """``tanhshrink(x)`` is ``x - tanh(x)``."""
    return F.tanhshrink(x), x - torch.tanh(x)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=20)], both_ways=True)
def silu_by_definition(x):
    """``silu(x)`` is ``x * sigmoid(x)``."""
    return F.silu(x), x * torch.sigmoid(x)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=20)], both_ways=True)
def mish_by_definition(x):
    """``mish(x)`` is ``x * tanh(softplus(x))``."""
    return F.mish(x), x * torch.tanh(F.softplus(x))


@rule(exact="real", where=[wide("x"), moderate("x", bound=20)])
def gelu_by_error_function(x):
    """``gelu(x)`` is ``x * (1 + erf(x / sqrt(2))) / 2``, which cancels where x is very negative."""
    return F.gelu(x), 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=15)])
def softplus_by_definition(x):
    """``softplus(x)`` is ``log1p(exp(x))`` below its threshold of 20."""
    return F.softplus(x), torch.log1p(torch.exp(x))


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=15), contiguous("x")], both_ways=True)
def logsigmoid_is_negated_softplus(x):
    """``logsigmoid(x)`` is ``-softplus(-x)``."""
    return F.logsigmoid(x), -F.softplus(-x)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=20)])
def elu_by_definition(x):
    """``elu(x)`` is ``where(x > 0, x, expm1(x))``."""
    return F.elu(x), torch.where(x > 0, x, torch.expm1(x))


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=100)], gradients=False)
def hardsigmoid_by_definition(x):
    """``hardsigmoid(x)`` is ``relu6(x + 3) / 6``."""
    return F.hardsigmoid(x), F.relu6(x + 3) / 6


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=100)], gradients=False)
def hardswish_by_definition(x):
    """``hardswish(x)`` is ``x * relu6(x + 3) / 6``."""
    return F.hardswish(x), x * F.relu6(x + 3) / 6


@rule(exact="real", where=ALONG)
def softmax_by_logsumexp(x, d: Int):
    """``softmax(x, d)`` is ``exp(x - logsumexp(x))``."""
    return torch.softmax(x, dim=d), torch.exp(x - torch.logsumexp(x, dim=d, keepdim=True))


@rule(exact="real", where=[*ALONG, moderate("x", bound=20)])
def softmax_by_definition(x, d: Int):
    """``softmax(x, d)`` is ``exp(x)`` over its sum."""
    return torch.softmax(x, dim=d), torch.exp(x) / torch.sum(torch.exp(x), dim=d, keepdim=True)


@rule(exact="real", where=ALONG)
def softmax_of_shifted(x, d: Int):
    """``softmax(x, d)`` does not change when the maximum is taken away."""
    return torch.softmax(x, dim=d), torch.softmax(x - torch.amax(x, dim=d, keepdim=True), dim=d)


@rule(exact="real", where=ALONG, layout=True)
def softmax_along_last(x, d: Int):
    """``softmax(x, d)`` with the dimension moved to the end and back."""
    return torch.softmax(x, dim=d), torch.softmax(x.transpose(d, -1), dim=-1).transpose(d, -1)


@rule(exact="real", where=ALONG)
def log_softmax_by_logsumexp(x, d: Int):
    """``log_softmax(x, d)`` is ``x - logsumexp(x)``."""
    return torch.log_softmax(x, dim=d), x - torch.logsumexp(x, dim=d, keepdim=True)


@rule(exact="real", where=[*ALONG, moderate("x", bound=10)])
def log_softmax_is_log_of_softmax(x, d: Int):
    """``log_softmax(x, d)`` is ``log(softmax(x, d))`` where that does not underflow."""
    return torch.log_softmax(x, dim=d), torch.log(torch.softmax(x, dim=d))


@rule(exact="bitwise", where=[floating("x"), at_least_rank("x", 1), dim_of("d", "x")])
def softmin_is_softmax(x, d: Int):
    """``softmin(x, d)`` is ``softmax(-x, d)``."""
    return F.softmin(x, dim=d), torch.softmax(-x, dim=d)


@rule(
    exact="real",
    where=[
        reassociable("x", "w", "b", bound=30),
        sizes(x="* k", w="k", b="k"),
        non_empty("x"),
        contiguous("x"),
        when("one dimension", lambda s: len(s.value) == 1, "s"),
        when("spread", lambda x: x.shape[-1] > 1, "x"),
    ],
    gradients=False,
)
def layer_norm_by_definition(x, s: Ints, w, b):
    """A layer norm over the last dimension; the gradients are ill-conditioned where a row hardly varies."""
    return (
        F.layer_norm(x, s, w, b),
        (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + 1e-5) * w.reshape(s) + b,
    )


@rule(exact="real", where=[*ALONG, away_from_zero("x", 1e-2)])
def normalize_by_definition(x, d: Int):
    """``normalize(x, dim=d)`` divides by the norm."""
    return F.normalize(x, dim=d), x / torch.linalg.vector_norm(x, dim=d, keepdim=True).clamp_min(1e-12)


LOSS = [reassociable("x", "y", bound=100), same_shape("x", "y"), non_empty("x")]


@rule(exact="real", where=LOSS)
def squared_error_by_definition(x, y):
    """The mean squared error."""
    return F.mse_loss(x, y), torch.mean((x - y) ** 2)


@rule(exact="real", where=LOSS)
def absolute_error_by_definition(x, y):
    """The mean absolute error."""
    return F.l1_loss(x, y), torch.mean(torch.abs(x - y))


CLASSES = [
    wide("x"),
    sizes(x="n c", i="n"),
    index_into("i", "x", 1),
    moderate("x", bound=30),
]


@rule(exact="ulp", where=CLASSES)
def cross_entropy_is_nll(x, i):
    """Cross entropy is the negative log likelihood of the log-softmax."""
    return F.cross_entropy(x, i), F.nll_loss(torch.log_softmax(x, dim=1), i)


@rule(exact="real", where=CLASSES)
def cross_entropy_by_gather(x, i):
    """Cross entropy gathers the log-softmax at the classes."""
    return F.cross_entropy(x, i), -torch.mean(torch.log_softmax(x, dim=1).gather(1, i.unsqueeze(1)))


ATTENTION = [reassociable("q", "k", "v", bound=10), sizes(q="b l e", k="b s e", v="b s f"), non_empty("q", "k", "v")]


@rule(exact="real", where=ATTENTION)
def attention_by_definition(q, k, v):
    """Attention is softmax of the scaled products, times the values."""
    return (
        F.scaled_dot_product_attention(q, k, v),
        torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v,
    )


@rule(exact="real", where=ATTENTION)
def attention_with_scaled_query(q, k, v):
    """Attention with the scale put on the query."""
    return (
        F.scaled_dot_product_attention(q, k, v),
        torch.softmax((q * q.shape[-1] ** -0.5) @ k.mT, dim=-1) @ v,
    )


@rule(
    exact="bitwise",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        no_negative_zero("x"),
        when("between 0 and 1", lambda k: 0 < k.value < 1, "k"),
    ],
    gradients=False,
)
def leaky_relu_is_maximum(x, k: Number):
    """``leaky_relu(x, k)`` is ``maximum(x, k * x)`` for slopes below one; at 0 the gradient is between the two."""
    return F.leaky_relu(x, k), torch.maximum(x, k * x)


@rule(exact="bitwise", where=[dtype_in("x", torch.float32, torch.float64), at_least_rank("x", 2), moderate("k")])
def prelu_is_leaky_relu(x, k: Number):
    """``prelu`` with one constant weight is ``leaky_relu``."""
    return F.prelu(x, torch.full((1,), k, dtype=x.dtype)), F.leaky_relu(x, k)


@rule(exact="bitwise", where=[dtype_in("x", torch.float32, torch.float64), at_least_rank("x", 2), moderate("k")])
def leaky_relu_is_prelu(x, k: Number):
    """``leaky_relu(x, k)`` is ``prelu`` with one constant weight."""
    return F.leaky_relu(x, k), F.prelu(x, torch.full((1,), k, dtype=x.dtype, device=x.device))


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=20)])
def selu_is_scaled_elu(x):
    """``selu(x)`` is ``elu`` with its two constants."""
    return F.selu(x), 1.0507009873554805 * F.elu(x, 1.6732632423543772)


@rule(
    exact="real",
    where=[wide("x"), moderate("x", bound=20), when("between 0.1 and 10", lambda k: 0.1 <= k.value <= 10, "k")],
    gradients=False,
)
def celu_by_definition(x, k: Number):
    """``celu(x, k)`` by two clamps; ``exp - 1`` cancels near zero, where the clamps have kinks."""
    return F.celu(x, k), torch.clamp(x, min=0) + torch.clamp(k * (torch.exp(x / k) - 1), max=0)


@rule(exact="real", where=[wide("x"), moderate("x", bound=20)])
def gelu_by_tanh(x):
    """The tanh form of ``gelu``, which cancels where x is very negative."""
    return (
        F.gelu(x, approximate="tanh"),
        0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    )


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=15)])
def softplus_is_logaddexp(x):
    """``softplus(x)`` is ``log(exp(x) + exp(0))`` below its threshold of 20."""
    return F.softplus(x), torch.logaddexp(x, torch.zeros_like(x))


@rule(
    exact="ulp",
    where=[dtype_in("x", torch.float32, torch.float64), no_nan("x"), when("k ≥ 0", lambda k: k.value >= 0, "k")],
)
def softshrink_by_definition(x, k: Number):
    """``softshrink(x, k)`` moves everything towards zero by k, save that eager keeps the sign of what becomes zero."""
    return F.softshrink(x, k), torch.where(x > k, x - k, torch.where(x < -k, x + k, 0.0))


@rule(exact="bitwise", where=[dtype_in("x", torch.float32, torch.float64), no_nan("x"), moderate("k", "j")])
def threshold_by_definition(x, k: Number, j: Number):
    """``threshold(x, k, j)`` keeps what is above k and puts j for the rest."""
    return F.threshold(x, k, j), torch.where(x > k, x, j)


@rule(
    exact="ulp",
    where=[
        wide("x"),
        at_least_rank("x", 1),
        dim_of("d", "x"),
        non_empty("x"),
        moderate("x", bound=100),
        when("an even size", lambda x, d: x.shape[d.value] % 2 == 0, "x", "d"),
    ],
)
def gated_linear_unit(x, d: Int):
    """``glu(x, d)`` is the first half times the sigmoid of the second."""
    return (
        F.glu(x, d),
        x.narrow(d, 0, x.shape[d] // 2) * torch.sigmoid(x.narrow(d, x.shape[d] // 2, x.shape[d] // 2)),
    )


@rule(exact="bitwise", both_ways=True)
def dropout_out_of_training(x):
    """Dropout does nothing out of training."""
    return x, F.dropout(x, 0.5, training=False)


@rule(exact="bitwise", both_ways=True)
def dropout_of_nothing(x):
    """Dropout with probability zero does nothing and draws nothing."""
    return x, F.dropout(x, 0.0, training=True)


@rule(exact="real", where=ALONG)
def softmax_of_shifted_exponentials(x, d: Int):
    """``softmax(x, d)`` is the exponential of what is below the maximum, over its sum."""
    return (
        torch.softmax(x, dim=d),
        (lambda t, n: t / t.sum(n, keepdim=True))(torch.exp(x - torch.amax(x, dim=d, keepdim=True)), d),
    )
