"""The function behind a module that has no parameters."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.submodule import called, function_called, functional, model
from eqfuzz.rewrite.facts.composite_preconditions import float32_images, float32_rows
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

_IN_PLACE = ("ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid")
_WITHOUT_OPTIONS = ("Tanh", "Sigmoid", "LogSigmoid", "Softsign", "Tanhshrink")

ACTIVATIONS = {
    **{name: functional(name.lower(), keywords="inplace") for name in _IN_PLACE},
    **{name: functional(name.lower(), "alpha", "inplace") for name in ("ELU", "CELU")},
    **{name: functional(name.lower()) for name in _WITHOUT_OPTIONS},
    **{name: functional(name.lower(), "lambd") for name in ("Softshrink", "Hardshrink")},
    "GELU": functional("gelu", keywords="approximate"),
    "LeakyReLU": functional("leaky_relu", "negative_slope", "inplace"),
    "PReLU": functional("prelu", "weight"),
    "Hardtanh": functional("hardtanh", "min_val", "max_val", "inplace"),
    "Softplus": functional("softplus", "beta", "threshold"),
    "Threshold": functional("threshold", "threshold", "value", "inplace"),
    "GLU": functional("glu", "dim"),
}
SOFTMAXES = {
    "Softmax": functional("softmax", "dim"),
    "LogSoftmax": functional("log_softmax", "dim"),
    "Softmin": functional("softmin", "dim"),
}
DROPOUTS = {
    "Dropout": functional("dropout", "p", "training", "inplace"),
    "Dropout1d": functional("dropout1d", "p", "training", "inplace"),
    "Dropout2d": functional("dropout2d", "p", "training", "inplace"),
    "Dropout3d": functional("dropout3d", "p", "training", "inplace"),
    "AlphaDropout": functional("alpha_dropout", "p", "training"),
    "FeatureAlphaDropout": functional("feature_alpha_dropout", "p", "training"),
}
_MAX = ("kernel_size", "stride", "padding", "dilation")
_AVERAGE = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
POOLINGS = {
    **{f"MaxPool{n}d": functional(f"max_pool{n}d", *_MAX, keywords="ceil_mode return_indices") for n in (1, 2, 3)},
    "AvgPool1d": functional("avg_pool1d", *_AVERAGE),
    **{f"AvgPool{n}d": functional(f"avg_pool{n}d", *_AVERAGE, "divisor_override") for n in (2, 3)},
    **{f"AdaptiveAvgPool{n}d": functional(f"adaptive_avg_pool{n}d", "output_size") for n in (1, 2, 3)},
    **{
        f"AdaptiveMaxPool{n}d": functional(f"adaptive_max_pool{n}d", "output_size", "return_indices") for n in (1, 2, 3)
    },
    **{
        f"LPPool{n}d": functional(f"lp_pool{n}d", "float({m}.norm_type)", "kernel_size", "stride", "ceil_mode")
        for n in (1, 2)
    },
}
_PADDING_MODES = {"Reflection": "reflect", "Replication": "replicate", "Circular": "circular"}
REARRANGEMENTS = {
    "PixelShuffle": functional("pixel_shuffle", "upscale_factor"),
    "PixelUnshuffle": functional("pixel_unshuffle", "downscale_factor"),
    "ChannelShuffle": functional("channel_shuffle", "groups"),
    "Fold": functional("fold", "output_size", "kernel_size", "dilation", "padding", "stride"),
    "Unfold": functional("unfold", "kernel_size", "dilation", "padding", "stride"),
    **{
        f"{kind}Pad{n}d": functional("pad", "padding", "'constant'", "value")
        for kind in ("Constant", "Zero")
        for n in (1, 2, 3)
    },
    **{
        f"{kind}Pad{n}d": functional("pad", "padding", repr(mode))
        for kind, mode in _PADDING_MODES.items()
        for n in (1, 2, 3)
    },
}
LOSSES = {
    "MSELoss": functional("mse_loss", keywords="reduction"),
    "L1Loss": functional("l1_loss", keywords="reduction"),
    "SmoothL1Loss": functional("smooth_l1_loss", keywords="reduction beta"),
    "HuberLoss": functional("huber_loss", keywords="reduction delta"),
    "KLDivLoss": functional("kl_div", keywords="reduction log_target"),
    "SoftMarginLoss": functional("soft_margin_loss", keywords="reduction"),
    "HingeEmbeddingLoss": functional("hinge_embedding_loss", keywords="margin reduction"),
    "CosineSimilarity": functional("cosine_similarity", "dim", "eps"),
    "PairwiseDistance": functional("pairwise_distance", "norm", "eps", "keepdim"),
    "NLLLoss": functional("nll_loss", keywords="weight ignore_index reduction"),
    "BCELoss": functional("binary_cross_entropy", keywords="weight reduction"),
    "CrossEntropyLoss": functional("cross_entropy", keywords="weight ignore_index reduction label_smoothing"),
    "BCEWithLogitsLoss": functional("binary_cross_entropy_with_logits", "weight", keywords="pos_weight reduction"),
}


@rule(
    exact="bitwise",
    where=float32_rows("x"),
    example=[
        model("self.act(x * 1)", act=f"torch.nn.{text}")
        for text in (
            "ReLU()",
            "ReLU(inplace=True)",
            "GELU(approximate='tanh')",
            "SiLU()",
            "ELU(0.5)",
            "LeakyReLU(0.2)",
            "PReLU()",
            "Hardtanh(-0.5, 0.5)",
            "Softplus(2.0)",
            "Threshold(0.1, 20.0)",
            "Softshrink()",
            "LogSigmoid()",
        )
    ],
)
def activation_functional(call: cst.Call, ctx: RewriteContext):
    """An activation module is its function."""
    yield from function_called(call, ctx, ACTIVATIONS)


@rule(
    exact="bitwise",
    where=float32_rows("x"),
    example=[
        model("self.share(x)", share="torch.nn.Softmax(-1)"),
        model("self.share(x)", share="torch.nn.LogSoftmax(0)"),
    ],
)
def softmax_functional(call: cst.Call, ctx: RewriteContext):
    """A softmax module that names its dimension is its function."""
    module = called(call, ctx, SOFTMAXES)
    if module is not None and module.attributes["dim"] is None:
        skip("the module chooses the dimension itself, with a warning")
    yield from function_called(call, ctx, SOFTMAXES)


@rule(
    exact="bitwise",
    where=float32_rows("x"),
    example=[
        model("self.drop(x) + torch.rand(())", drop="torch.nn.Dropout(0.4)"),
        model("self.drop(x)", drop="torch.nn.AlphaDropout(0.4).eval()"),
    ],
)
def dropout_functional(call: cst.Call, ctx: RewriteContext):
    """A dropout module is its function in the mode of the module; in training both draw the same mask."""
    yield from function_called(call, ctx, DROPOUTS)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.pool(x)", pool="torch.nn.MaxPool2d(3, stride=2, padding=1)"),
        model("self.pool(x)", pool="torch.nn.AvgPool2d(2, ceil_mode=True)"),
        model("self.pool(x)", pool="torch.nn.AdaptiveAvgPool2d((2, 3))"),
        model("self.pool(x.flatten(2))", pool="torch.nn.MaxPool1d(4)"),
    ],
)
def pooling_functional(call: cst.Call, ctx: RewriteContext):
    """A pooling module is its function."""
    yield from function_called(call, ctx, POOLINGS)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.shuffle(x)", shuffle="torch.nn.PixelShuffle(2)"),
        model("self.pad(x)", pad="torch.nn.ReflectionPad2d((1, 2, 0, 3))"),
        model("self.pad(x)", pad="torch.nn.ConstantPad2d(1, 0.5)"),
        model("self.unfold(x)", unfold="torch.nn.Unfold(3)"),
    ],
)
def rearrangement_functional(call: cst.Call, ctx: RewriteContext):
    """A module that pads, shuffles or unfolds is its function."""
    yield from function_called(call, ctx, REARRANGEMENTS)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.flat(x) + 1", flat="torch.nn.Flatten()"),
        model("self.flat(x) + 1", flat="torch.nn.Flatten(0, -2)"),
    ],
)
def flatten_method(call: cst.Call, ctx: RewriteContext):
    """A flattening module is the method ``flatten``."""
    if called(call, ctx, ["Flatten"]) is not None and len(call.args) == 1:
        m = ctx.text(call.func)
        yield f"{ctx.atom(call.args[0].value)}.flatten({m}.start_dim, {m}.end_dim)"


@rule(
    exact="bitwise",
    where=float32_rows("x"),
    example=[
        model("self.loss(x, x.flip(0))", loss="torch.nn.SmoothL1Loss(beta=0.5)"),
        model("self.loss(x, x.sigmoid())", loss="torch.nn.BCEWithLogitsLoss()"),
        model("self.loss(x, x.flip(-1))", loss="torch.nn.CosineSimilarity(dim=-1)"),
    ],
)
def loss_functional(call: cst.Call, ctx: RewriteContext):
    """A loss or distance module is its function."""
    if len(call.args) == 2:
        yield from function_called(call, ctx, LOSSES)
