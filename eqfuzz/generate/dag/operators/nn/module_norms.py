"""Layers that normalise."""

from __future__ import annotations

import math
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.nn.modules import DTYPES, LAYER, keywords
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.values.windows import divisor, greatest, readable, static

_module = partial(operator, family="modules")


def _normed(out: Spec, count: int, code: str) -> Needs:
    """Needs of a normalisation over ``count`` elements by the layer ``code``, with weights 1 and biases 0."""
    bound = math.sqrt(count) + 0.1
    return Needs(out.free().within(-16.0, 16.0), values=Range(-bound, bound), layers={"layer": code})


@_module("torch.nn.LayerNorm", LAYER, dtypes=DTYPES, rank=(1, 5), name_hint="normed", weight=2)
def layer_norm(draw: Draw, out: Spec) -> Needs:
    """Over the last dimensions."""
    shape = readable(out).shape[-draw.integer(1, min(2, out.rank)) :]
    count = math.prod(static(n) for n in shape)
    sizes = shape[0] if len(shape) == 1 else shape
    more = draw.choice(("", ", eps=0.001", ", elementwise_affine=False", ", bias=False"))
    return _normed(out, count, f"nn.LayerNorm({sizes}{more}{keywords(out)})")


@_module("torch.nn.RMSNorm", LAYER, dtypes=DTYPES, rank=(1, 5), name_hint="normed")
def rms_norm(draw: Draw, out: Spec) -> Needs:
    """Over the last dimension."""
    width = static(readable(out).shape[-1])
    return _normed(out, width, f"nn.RMSNorm({width}{draw.choice((', eps=1e-05', ', eps=0.001'))}{keywords(out)})")


@_module("torch.nn.GroupNorm", LAYER, dtypes=DTYPES, rank=(2, 5), name_hint="normed")
def group_norm(draw: Draw, out: Spec) -> Needs:
    """Over groups of channels."""
    channels = static(readable(out).shape[1])
    groups = divisor(draw, channels)
    count = greatest(out.shape[1:]) // groups
    if out.numel // groups <= 1:
        raise UnsatisfiableSpec("one value in each group")
    return _normed(out, count, f"nn.GroupNorm({groups}, {channels}{keywords(out)})")


for _rank, _ranks in ((1, (2, 3)), (2, (4, 4)), (3, (5, 5))):

    @_module(
        f"torch.nn.BatchNorm{_rank}d",
        LAYER,
        dtypes=DTYPES,
        rank=_ranks,
        name_hint="normed",
        weight=2 if _rank < 3 else 1,
    )
    def batch_norm(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """In training: each call updates the running statistics."""
        channels = static(readable(out).shape[1])
        count = greatest(out.shape) // channels
        if count < 2:
            raise UnsatisfiableSpec("one value in each channel")
        more = draw.choice(
            ("", "", ", momentum=0.3", ", momentum=None", ", affine=False", ", track_running_stats=False")
        )
        return _normed(out, count, f"nn.BatchNorm{_rank}d({channels}{more}{keywords(out)})")

    @_module(
        f"torch.nn.BatchNorm{_rank}d.eval",
        LAYER,
        dtypes=DTYPES,
        rank=_ranks,
        name_hint="normed",
        weight=1 if _rank < 3 else 0.5,
    )
    def batch_norm_at_rest(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """With the initial statistics."""
        channels = static(readable(out).shape[1])
        code = f"nn.BatchNorm{_rank}d({channels}{keywords(out)}).eval()"
        return Needs(out.free(), values=lambda x: x.over(-x).inexact(), layers={"layer": code})


for _rank, _ranks in ((1, (2, 3)), (2, (3, 4))):

    @_module(f"torch.nn.InstanceNorm{_rank}d", LAYER, dtypes=WIDE, rank=_ranks, name_hint="normed")
    def instance_norm(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """Over all but the first dimensions."""
        size = readable(out).shape
        count = greatest(size[-_rank:])
        if count < 2:
            raise UnsatisfiableSpec("one value in each channel")
        more = draw.choice(("", ", affine=True", ", affine=True, track_running_stats=True"))
        return _normed(out, count, f"nn.InstanceNorm{_rank}d({static(size[-_rank - 1])}{more}{keywords(out)})")
