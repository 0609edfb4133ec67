"""Spellings of one call: other names, parameter names, defaults, method forms."""

from __future__ import annotations

ALIASES = {
    "torch.nn.functional.relu": "torch.relu",
    "torch.nn.functional.sigmoid": "torch.sigmoid",
    "torch.nn.functional.tanh": "torch.tanh",
    "torch.nn.functional.softmax": "torch.softmax",
    "torch.nn.functional.log_softmax": "torch.log_softmax",
    "torch.absolute": "torch.abs",
    "torch.clip": "torch.clamp",
    "torch.concat": "torch.cat",
    "torch.concatenate": "torch.cat",
    "torch.subtract": "torch.sub",
    "torch.multiply": "torch.mul",
    "torch.divide": "torch.div",
    "torch.true_divide": "torch.div",
    "torch.negative": "torch.neg",
    "torch.greater": "torch.gt",
    "torch.less": "torch.lt",
}
"""Other names of one function with one signature, by the name that patterns use."""

_REDUCTION = ("input", "dim", "keepdim")
SIGNATURES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        [f"torch.{n}" for n in "sum mean prod amax amin max min all any argmax argmin logsumexp std var".split()],
        _REDUCTION,
    ),
    **dict.fromkeys(
        [f"torch.{n}" for n in "softmax log_softmax cumsum cumprod unsqueeze unbind".split()], _REDUCTION[:2]
    ),
    **dict.fromkeys([f"torch.{n}" for n in "cat stack".split()], ("tensors", "dim")),
    **dict.fromkeys(
        [f"torch.{n}" for n in "matmul maximum minimum eq ne gt lt ge le mul div pow".split()], ("input", "other")
    ),
    "torch.count_nonzero": ("input", "dim"),
    "torch.flatten": ("input", "start_dim", "end_dim"),
    "torch.squeeze": ("input", "dim"),
    "torch.transpose": ("input", "dim0", "dim1"),
    "torch.clamp": ("input", "min", "max"),
    "torch.select": ("input", "dim", "index"),
    "torch.narrow": ("input", "dim", "start", "length"),
    "torch.gather": ("input", "dim", "index"),
    "torch.take_along_dim": ("input", "indices", "dim"),
    "torch.index_select": ("input", "dim", "index"),
    "torch.roll": ("input", "shifts", "dims"),
    "torch.flip": ("input", "dims"),
    "torch.diff": ("input", "n", "dim"),
    "torch.repeat_interleave": ("input", "repeats", "dim"),
    "torch.masked_fill": ("input", "mask", "value"),
    "torch.linalg.vector_norm": ("x", "ord", "dim", "keepdim"),
    "torch.nn.functional.linear": ("input", "weight", "bias"),
    "torch.nn.functional.conv2d": ("input", "weight", "bias", "stride", "padding", "dilation", "groups"),
    "torch.nn.functional.layer_norm": ("input", "normalized_shape", "weight", "bias", "eps"),
    "torch.nn.functional.leaky_relu": ("input", "negative_slope"),
    "torch.nn.functional.one_hot": ("tensor", "num_classes"),
    "torch.nn.functional.max_pool2d": ("input", "kernel_size"),
    "torch.nn.functional.normalize": ("input", "p", "dim"),
    "torch.nn.functional.mse_loss": ("input", "target"),
    "torch.nn.functional.l1_loss": ("input", "target"),
    "torch.nn.functional.cross_entropy": ("input", "target"),
    "torch.nn.functional.embedding": ("input", "weight"),
    "torch.nn.functional.scaled_dot_product_attention": ("query", "key", "value"),
}
"""Parameter names in order, so that ``x.sum(1)`` and ``torch.sum(x, dim=1)`` are one; functions without one match
argument by argument."""

DEFAULTS = {"torch.cat": {"dim": "0"}, "torch.stack": {"dim": "0"}, "torch.unbind": {"dim": "0"}}
"""Defaults that a pattern may bind although the seed does not write them."""

NOT_METHODS = frozenset({"torch.where", "torch.cat", "torch.stack", "torch.full", "torch.einsum", "torch.tensor"})
"""Functions whose method form takes its arguments in another order, or does not exist."""
