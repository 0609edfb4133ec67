"""The function behind a module called with its parameters, and back."""

import libcst as cst
import torch

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.submodule import arguments, called, function_called, functional, model, submodule
from eqfuzz.rewrite.facts.composite_preconditions import float32_images, float32_rows
from eqfuzz.rewrite.facts.preconditions import at_least, at_most, dtype_in, moderate
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

LINEAR = {
    "Linear": functional("linear", "weight", "bias"),
    "Bilinear": functional("bilinear", "weight", "bias"),
}
_OPTIONS = ("weight", "bias", "stride", "padding")
CONVOLUTIONS = {f"Conv{n}d": functional(f"conv{n}d", *_OPTIONS, "dilation", "groups") for n in (1, 2, 3)}
TRANSPOSED_CONVOLUTIONS = {
    f"ConvTranspose{n}d": functional(f"conv_transpose{n}d", *_OPTIONS, "output_padding", "groups", "dilation")
    for n in (1, 2, 3)
}
NORMS = {
    "LayerNorm": functional("layer_norm", "normalized_shape", "weight", "bias", "eps"),
    "GroupNorm": functional("group_norm", "num_groups", "weight", "bias", "eps"),
    "RMSNorm": functional("rms_norm", "normalized_shape", "weight", "eps"),
    "LocalResponseNorm": functional("local_response_norm", "size", "alpha", "beta", "k"),
}
BATCH_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
EMBEDDINGS = {
    "Embedding": functional(
        "embedding", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"
    )
}


@rule(exact="bitwise", where=float32_rows("x"), example=model("self.fc(x) + 1", fc="torch.nn.Linear(4, 3)"))
def linear_functional(call: cst.Call, ctx: RewriteContext):
    """``self.fc(x)`` is ``F.linear`` with the weight and bias of the module."""
    yield from function_called(call, ctx, LINEAR)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.conv(x)", conv="torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)"),
        model("self.conv(x.flatten(2))", conv="torch.nn.Conv1d(4, 2, 5, padding='same', bias=False)"),
    ],
)
def convolution_functional(call: cst.Call, ctx: RewriteContext):
    """A convolution module without padding of its own is ``F.conv1d`` to ``F.conv3d``."""
    module = called(call, ctx, CONVOLUTIONS)
    if module is not None and module.attributes["padding_mode"] != "zeros":
        skip(f"it pads by {module.attributes['padding_mode']}")
    yield from function_called(call, ctx, CONVOLUTIONS)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.conv(x)", conv="torch.nn.Conv2d(4, 2, 3, padding=(1, 2), padding_mode='reflect')"),
        model("self.conv(x.flatten(2))", conv="torch.nn.Conv1d(4, 2, 5, padding=2, padding_mode='circular')"),
    ],
)
def padded_convolution_functional(call: cst.Call, ctx: RewriteContext):
    """A convolution module that reflects, repeats or wraps its input is ``F.pad`` and a convolution without padding."""
    module = called(call, ctx, CONVOLUTIONS)
    if module is None:
        return
    mode, padding = module.attributes["padding_mode"], module.attributes["padding"]
    if mode == "zeros" or isinstance(padding, str):
        skip(f"it pads by {mode}, {padding}")
    sides = tuple(p for p in reversed(padding) for _ in range(2))
    name, m = f"conv{module.kind[4]}d", ctx.text(call.func)
    padded = f"{ctx.path('torch.nn.functional.pad')}({arguments(call, ctx)}, {sides}, mode={mode!r})"
    yield (
        f"{ctx.path(f'torch.nn.functional.{name}')}({padded}, {m}.weight, {m}.bias, {m}.stride, 0, "
        f"{m}.dilation, {m}.groups)"
    )


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=model("self.up(x)", up="torch.nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1)"),
)
def transposed_convolution_functional(call: cst.Call, ctx: RewriteContext):
    """A transposed convolution is ``F.conv_transpose1d`` to ``F.conv_transpose3d``."""
    if len(call.args) == 1:  # the second would be the output size
        yield from function_called(call, ctx, TRANSPOSED_CONVOLUTIONS)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.norm(x)", norm="torch.nn.LayerNorm((8, 8))"),
        model("self.norm(x)", norm="torch.nn.GroupNorm(2, 4)"),
        model("self.norm(x)", norm="torch.nn.RMSNorm(8)"),
    ],
)
def norm_functional(call: cst.Call, ctx: RewriteContext):
    """A norm without running statistics is its function."""
    yield from function_called(call, ctx, NORMS)


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        model("self.norm(x)", norm="torch.nn.BatchNorm2d(4).eval()"),
        model("self.norm(x)", norm="torch.nn.BatchNorm2d(4, affine=False, momentum=None).eval()"),
        model("self.norm(x.flatten(2))", norm="torch.nn.BatchNorm1d(4, track_running_stats=False)"),
    ],
)
def batch_norm_with_fixed_statistics(call: cst.Call, ctx: RewriteContext):
    """A batch norm that does not update running statistics: those of its evaluation, or those of each batch."""
    module = called(call, ctx, BATCH_NORMS)
    if module is None:
        return
    tracks, training = module.attributes["track_running_stats"], module.attributes["training"]
    if tracks and training:
        skip("the module updates its running statistics")
    m = ctx.text(call.func)
    momentum = "0.0" if module.attributes["momentum"] is None else f"{m}.momentum"
    yield (
        f"{ctx.path('torch.nn.functional.batch_norm')}({arguments(call, ctx)}, {m}.running_mean, {m}.running_var, "
        f"{m}.weight, {m}.bias, {not tracks}, {momentum}, {m}.eps)"
    )


@rule(
    exact="bitwise",
    where=float32_images("x"),
    example=[
        """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.BatchNorm2d(4)

            def forward(self, x):
                x = self.norm(x)
                return x, self.norm.running_mean.clone(), self.norm.running_var + self.norm.num_batches_tracked
        """,
        """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.BatchNorm2d(4, momentum=None)

            def forward(self, x):
                x = self.norm(self.norm(x) * 2)
                return x, self.norm.running_mean.clone(), self.norm.running_var + self.norm.num_batches_tracked
        """,
    ],
)
def batch_norm_with_running_statistics(call: cst.Call, ctx: RewriteContext):
    """A batch norm in training counts the batch and updates its statistics; without a momentum, by 1/count."""
    module = called(call, ctx, BATCH_NORMS)
    if module is None:
        return
    attributes = module.attributes
    if not (attributes["training"] and attributes["track_running_stats"]):
        skip("the module does not update its running statistics")
    m = ctx.text(call.func)
    counted = f"{m}.num_batches_tracked.add_(1)"
    momentum = f"1.0 / float({counted})" if attributes["momentum"] is None else f"({counted}, {m}.momentum)[1]"
    yield (
        f"{ctx.path('torch.nn.functional.batch_norm')}({arguments(call, ctx)}, {m}.running_mean, {m}.running_var, "
        f"{m}.weight, {m}.bias, True, {momentum}, {m}.eps)"
    )


@rule(
    exact="bitwise",
    where=[dtype_in("x", torch.float32), sizes(x="n 4 8")],
    example=model("self.norm(x)", norm="torch.nn.InstanceNorm1d(4, affine=True)"),
)
def instance_norm_functional(call: cst.Call, ctx: RewriteContext):
    """A norm over each instance of a batch, by its function."""
    module = called(call, ctx, ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"])
    if module is None:
        return
    attributes = module.attributes
    facts = (
        ctx.tensors(call.args[0].value) if len(call.args) == 1 else skip("the module is not called with one argument")
    )
    if attributes["momentum"] is None or any(f.ndim != int(module.kind[12]) + 2 for f in facts):
        skip("the module has no momentum, or the input no batch")
    m = ctx.text(call.func)
    own = attributes["training"] or not attributes["track_running_stats"]
    yield (
        f"{ctx.path('torch.nn.functional.instance_norm')}({arguments(call, ctx)}, {m}.running_mean, {m}.running_var, "
        f"{m}.weight, {m}.bias, {own}, {m}.momentum, {m}.eps)"
    )


@rule(
    exact="bitwise",
    where=[dtype_in("x", torch.int64), at_least("x", 0), at_most("x", 6)],
    example=model("self.table(x)", table="torch.nn.Embedding(7, 3, padding_idx=2)"),
)
def embedding_functional(call: cst.Call, ctx: RewriteContext):
    """A table of vectors is ``F.embedding``."""
    yield from function_called(call, ctx, EMBEDDINGS)


@rule(
    exact="bitwise",
    where=float32_rows("x"),
    example=model("torch.nn.functional.linear(x * 2, self.fc.weight, self.fc.bias)", fc="torch.nn.Linear(4, 3)"),
)
def linear_module(call: cst.Call, ctx: RewriteContext):
    """``F.linear`` with the weight and bias of one module is that module."""
    if ctx.resolved(call.func) != "torch.nn.functional.linear" or len(call.args) != 3:
        return
    x, weight, bias = (a.value for a in call.args)
    if any(a.star or a.keyword is not None for a in call.args):
        skip("the arguments are not positional")
    if not isinstance(weight, cst.Attribute) or ctx.text(weight) != f"{ctx.text(weight.value)}.weight":
        skip("the weight is not an attribute `weight`")
    if ctx.text(bias) != f"{ctx.text(weight.value)}.bias" or submodule(weight.value, ctx, ["Linear"]) is None:
        skip("weight and bias are not those of one Linear")
    yield f"{ctx.text(weight.value)}({ctx.text(x)})"


@rule(exact="bitwise", where=float32_rows("x"), example=model("self.fc(x) + 1", fc="torch.nn.Linear(4, 3)"))
def linear_with_weight_turned_twice(call: cst.Call, ctx: RewriteContext):
    """The weight of a linear module, transposed twice."""
    if called(call, ctx, ["Linear"]) is not None:
        m = ctx.text(call.func)
        path = ctx.path("torch.nn.functional.linear")
        yield f"{path}({arguments(call, ctx)}, {m}.weight.t().t(), {m}.bias)"


@rule(
    exact="real",
    where=[float32_rows("x"), at_least_rank("x", 2), moderate("x")],
    example=model("self.fc(x)", fc="torch.nn.Linear(4, 3)"),
)
def linear_of_two_halves(call: cst.Call, ctx: RewriteContext):
    """A linear module applied to two parts of a batch; products of other sizes are summed in another order."""
    if called(call, ctx, ["Linear"]) is None or len(call.args) != 1:
        return
    x = call.args[0].value
    ctx.require_pure(x)
    sizes_seen = [f.shape[0] if f.ndim > 1 else 0 for f in ctx.tensors(x)]
    if min(sizes_seen) < 2:
        skip("the batch cannot be halved")
    m, whole = ctx.text(call.func), ctx.atom(x)
    yield f"{ctx.path('torch.cat')}([{m}({whole}[:{min(sizes_seen) // 2}]), {m}({whole}[{min(sizes_seen) // 2}:])])"


@rule(exact="real", where=[float32_rows("x"), moderate("x")], example=model("self.fc(x)", fc="torch.nn.Linear(4, 3)"))
def linear_of_split_weight(call: cst.Call, ctx: RewriteContext):
    """The outputs of a linear module, computed from the first row of the weight and from the others."""
    module = called(call, ctx, ["Linear"])
    if module is None or len(call.args) != 1:
        return
    x = call.args[0].value
    ctx.require_pure(x)
    if module.attributes["out_features"] < 2:
        skip("the module has one output")
    m, path, whole = ctx.text(call.func), ctx.path("torch.nn.functional.linear"), ctx.text(x)
    first, rest = (f"None if {m}.bias is None else {m}.bias[{part}]" for part in (":1", "1:"))
    yield (
        f"{ctx.path('torch.cat')}([{path}({whole}, {m}.weight[:1], {first}), "
        f"{path}({whole}, {m}.weight[1:], {rest})], -1)"
    )
