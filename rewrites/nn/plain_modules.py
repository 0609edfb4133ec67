"""The function behind a module that has no parameters."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.submodule import called, function_called, model
from eqfuzz.rewrite.facts.composite_preconditions import float32_images, float32_rows
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

MAX_POOLING = (
    "{x}, {m}.kernel_size, {m}.stride, {m}.padding, {m}.dilation, "
    "ceil_mode={m}.ceil_mode, return_indices={m}.return_indices"
)
AVERAGE = "{x}, {m}.kernel_size, {m}.stride, {m}.padding, {m}.ceil_mode, {m}.count_include_pad"
DROPOUT = "{x}, {m}.p, {m}.training, {m}.inplace"

ACTIVATIONS = {
    **{name: f"{name.lower()}({{x}}, inplace={{m}}.inplace)" for name in ("ReLU", "ReLU6", "SELU", "SiLU", "Mish")},
    **{name: f"{name.lower()}({{x}}, inplace={{m}}.inplace)" for name in ("Hardswish", "Hardsigmoid")},
    **{name: f"{name.lower()}({{x}}, {{m}}.alpha, {{m}}.inplace)" for name in ("ELU", "CELU")},
    **{name: f"{name.lower()}({{x}})" for name in ("Tanh", "Sigmoid", "LogSigmoid", "Softsign", "Tanhshrink")},
    **{name: f"{name.lower()}({{x}}, {{m}}.lambd)" for name in ("Softshrink", "Hardshrink")},
    "GELU": "gelu({x}, approximate={m}.approximate)",
    "LeakyReLU": "leaky_relu({x}, {m}.negative_slope, {m}.inplace)",
    "PReLU": "prelu({x}, {m}.weight)",
    "Hardtanh": "hardtanh({x}, {m}.min_val, {m}.max_val, {m}.inplace)",
    "Softplus": "softplus({x}, {m}.beta, {m}.threshold)",
    "Threshold": "threshold({x}, {m}.threshold, {m}.value, {m}.inplace)",
    "GLU": "glu({x}, {m}.dim)",
}
SOFTMAXES = {
    "Softmax": "softmax({x}, {m}.dim)",
    "LogSoftmax": "log_softmax({x}, {m}.dim)",
    "Softmin": "softmin({x}, {m}.dim)",
}
DROPOUTS = {
    "Dropout": f"dropout({DROPOUT})",
    "Dropout1d": f"dropout1d({DROPOUT})",
    "Dropout2d": f"dropout2d({DROPOUT})",
    "Dropout3d": f"dropout3d({DROPOUT})",
    "AlphaDropout": f"alpha_dropout({DROPOUT.removesuffix(', {m}.inplace')})",
    "FeatureAlphaDropout": f"feature_alpha_dropout({DROPOUT.removesuffix(', {m}.inplace')})",
}
POOLINGS = {
    **{f"MaxPool{n}d": f"max_pool{n}d({MAX_POOLING})" for n in (1, 2, 3)},
    "AvgPool1d": f"avg_pool1d({AVERAGE})",
    **{f"AvgPool{n}d": f"avg_pool{n}d({AVERAGE}, {{m}}.divisor_override)" for n in (2, 3)},
    **{f"AdaptiveAvgPool{n}d": f"adaptive_avg_pool{n}d({{x}}, {{m}}.output_size)" for n in (1, 2, 3)},
    **{
        f"AdaptiveMaxPool{n}d": f"adaptive_max_pool{n}d({{x}}, {{m}}.output_size, {{m}}.return_indices)"
        for n in (1, 2, 3)
    },
    **{
        f"LPPool{n}d": f"lp_pool{n}d({{x}}, float({{m}}.norm_type), {{m}}.kernel_size, {{m}}.stride, {{m}}.ceil_mode)"
        for n in (1, 2)
    },
}
SHAPES = {
    "PixelShuffle": "pixel_shuffle({x}, {m}.upscale_factor)",
    "PixelUnshuffle": "pixel_unshuffle({x}, {m}.downscale_factor)",
    "ChannelShuffle": "channel_shuffle({x}, {m}.groups)",
    "Fold": "fold({x}, {m}.output_size, {m}.kernel_size, {m}.dilation, {m}.padding, {m}.stride)",
    "Unfold": "unfold({x}, {m}.kernel_size, {m}.dilation, {m}.padding, {m}.stride)",
    **{
        f"{kind}Pad{n}d": f"pad({{x}}, {{m}}.padding, {mode!r}{', {m}.value' if mode == 'constant' else ''})"
        for kind, mode in (
            ("Constant", "constant"),
            ("Zero", "constant"),
            ("Reflection", "reflect"),
            ("Replication", "replicate"),
            ("Circular", "circular"),
        )
        for n in (1, 2, 3)
    },
}
LOSSES = {
    "MSELoss": "mse_loss({x}, reduction={m}.reduction)",
    "L1Loss": "l1_loss({x}, reduction={m}.reduction)",
    "SmoothL1Loss": "smooth_l1_loss({x}, reduction={m}.reduction, beta={m}.beta)",
    "HuberLoss": "huber_loss({x}, reduction={m}.reduction, delta={m}.delta)",
    "KLDivLoss": "kl_div({x}, reduction={m}.reduction, log_target={m}.log_target)",
    "SoftMarginLoss": "soft_margin_loss({x}, reduction={m}.reduction)",
    "HingeEmbeddingLoss": "hinge_embedding_loss({x}, margin={m}.margin, reduction={m}.reduction)",
    "CosineSimilarity": "cosine_similarity({x}, {m}.dim, {m}.eps)",
    "PairwiseDistance": "pairwise_distance({x}, {m}.norm, {m}.eps, {m}.keepdim)",
    "NLLLoss": "nll_loss({x}, weight={m}.weight, ignore_index={m}.ignore_index, reduction={m}.reduction)",
    "BCELoss": "binary_cross_entropy({x}, weight={m}.weight, reduction={m}.reduction)",
    "CrossEntropyLoss": (
        "cross_entropy({x}, weight={m}.weight, ignore_index={m}.ignore_index, reduction={m}.reduction, "
        "label_smoothing={m}.label_smoothing)"
    ),
    "BCEWithLogitsLoss": (
        "binary_cross_entropy_with_logits({x}, {m}.weight, pos_weight={m}.pos_weight, reduction={m}.reduction)"
    ),
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
        skip("it chooses the dimension itself, with a warning")
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
    yield from function_called(call, ctx, SHAPES)


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
