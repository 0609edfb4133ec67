"""Operators that move the elements of DTensors."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.dtensor.dtensor import dtensor, static
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, index, nonempty


@dtensor(
    "dtensor: transpose",
    "sharded({0}, 0).transpose(0, 1).to_local() * 1",
    "replicated({0}).transpose(0, 1).contiguous().to_local()",
    "sharded({0}, 1).transpose(1, 0).redistribute(mesh, [Replicate(), Replicate()])"
    ".redistribute(mesh, [Shard(0), Replicate()]).to_local() + 0",
    "twice_sharded({0}).transpose(-1, -2).to_local() + 1",
    dtypes=(*WIDE, "int64"),
    rank=(2, 2),
    exact=True,
    view=True,
)
def transpose(draw: Draw, out: Spec) -> Needs:
    """With a sharded dimension moved."""
    one = Range(1, 1, exact=True)
    return Needs(static(out).of(*reversed(out.shape)), values=lambda x: x.over(x + one))


@dtensor(
    "dtensor: reshape",
    "sharded({0}, 0).reshape(-1, {n}).to_local() * 1",
    "sharded({0}, 0).flatten(1).to_local() + 0",
    "replicated({0}).view({m}, {n}).to_local() * 1",
    "sharded({0}, 0).unsqueeze(1).squeeze(1).flatten(1, 2).to_local() * 2",
    dtypes=(*WIDE, "int64"),
    rank=(2, 2),
    exact=True,
)
def reshape(draw: Draw, out: Spec) -> Needs:
    """The same elements in another shape, the sharded dimension kept."""
    m, n = static(out).shape
    k = draw.choice([k for k in (1, 2, 3) if n % k == 0])
    return Needs(out.of(m, k, n // k).dense(), values=lambda x: x.over(x + x), m=m, n=n)


@dtensor(
    "dtensor: slice",
    "sharded({0}, 0)[:, {start}:].to_local() * 1",
    "replicated({0}).narrow(1, {start}, {n}).to_local() + 0",
    "(sharded({0}, 0) + 1)[:, {start}:].contiguous().to_local()",
    "torch.index_select(replicated({0}), 1, replicated(torch.arange({start}, {start} + {n}))).to_local()",
    dtypes=(*WIDE, "int64"),
    rank=(2, 3),
    exact=True,
)
def slice_(draw: Draw, out: Spec) -> Needs:
    """A slice of a dimension that is not sharded."""
    m, n, *rest = static(out).shape
    start = draw.integer(1, 3)
    return Needs(out.of(m, n + start, *rest), values=lambda x: x.over(x + Range(1, 1, True)), start=start, n=n)


@dtensor(
    "dtensor: cat",
    "torch.cat([sharded({0}, 0), sharded({1}, 0)], dim=1).to_local()",
    "torch.cat([replicated({0}), replicated({1})], dim=1).to_local()",
    "torch.cat([sharded({0}, 0).relu(), sharded({1}, 0) * 2], 1).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
    name_hint="joined",
)
def cat(draw: Draw, out: Spec) -> Needs:
    """Joined along a dimension that is not sharded."""
    m, n, *rest = nonempty(out).shape
    parts = [out.of(m, part, *rest) for part in draw.split(n, 2)]
    return Needs(*parts, values=lambda x, y: x.over(y, y + y, Range(0, 0, exact=True)))


@dtensor(
    "dtensor: stack",
    "torch.stack([sharded({0}, 0), sharded({1}, 0)]).sum(0).to_local()",
    "torch.stack([replicated({0}), replicated({1})], dim=-1).amax(-1).to_local()",
    "sum(torch.stack([sharded({0}, 0), sharded({1}, 0)], 1).unbind(1)).to_local()",
    dtypes=WIDE,
    rank=(1, 3),
    exact=True,
)
def stack(draw: Draw, out: Spec) -> Needs:
    """Joined along a new dimension, which is reduced again."""
    return Needs(nonempty(out), out.free(), values=lambda x, y: x.over(y, x + y))


@dtensor(
    "dtensor: sort",
    "torch.sort(sharded({0}, 0), dim=-1)[0].to_local()",
    "sharded({0}, 0).flip(-1).to_local()",
    "torch.topk(replicated({0}), {n}, dim=-1)[0].to_local()",
    "torch.gather(replicated({0}), -1, replicated({1})).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
)
def sort(draw: Draw, out: Spec) -> Needs:
    """Reordered along a dimension that is not sharded."""
    n = static(out).shape[-1]
    return Needs(out.free().within(-1e3, 1e3), index(out.shape, n), values=lambda x, i: x, n=n)
