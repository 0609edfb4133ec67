"""Placements of DTensors on the mesh, and redistribution."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.dtensor.dtensor import dtensor, even, static
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, UnsatisfiableSpec, nonempty


@dtensor(
    "dtensor: gather",
    "sharded({0}, {dim}).full_tensor()",
    "sharded({0}, {dim}).redistribute(mesh, [Replicate(), Replicate()]).to_local()",
    "(sharded({0}, {dim}) * 2).full_tensor()",
    "sharded({0}, {dim}).redistribute(placements=[Replicate(), Shard({dim})]).full_tensor()",
    dtypes=(*WIDE, "int64"),
    rank=(1, 3),
    exact=True,
)
def gather(draw: Draw, out: Spec) -> Needs:
    """All shards joined: all_gather."""
    dim, half = even(out)
    return Needs(half, values=lambda x: x.over(x + x), dim=dim)


@dtensor(
    "dtensor: scatter",
    "replicated({0}).redistribute(mesh, [Shard({dim}), Replicate()]).to_local().clone()",
    "replicated({0}).redistribute(mesh, [Replicate(), Shard({dim})]).to_local() * 2",
    "distribute_tensor({0}.detach(), mesh, [Shard({dim}), Replicate()], src_data_rank=None).to_local() + 0",
    "(replicated({0}).redistribute(mesh, [Shard({dim}), Replicate()]) + 1).to_local()",
    dtypes=(*WIDE, "int64"),
    rank=(1, 3),
    exact=True,
)
def scatter(draw: Draw, out: Spec) -> Needs:
    """This rank's part of a replicated tensor."""
    dim = draw.axis(static(out))
    whole = out.of(*(2 * n if i == dim else n for i, n in enumerate(out.shape)))
    one = Range(1, 1, exact=True)
    return Needs(whole, values=lambda x: x.over(x + x, x + one), dim=dim)


@dtensor(
    "dtensor: scatter and gather",
    "replicated({0}).redistribute(mesh, [Shard({dim}), Replicate()]).full_tensor()",
    "replicated({0}).redistribute(mesh, [Shard({dim}), Shard({dim})]).full_tensor()",
    "replicated({0}).redistribute(mesh, [Replicate(), Shard({dim})]).sin().full_tensor()",
    "distribute_tensor({0}.detach(), mesh, [Shard({dim}), Replicate()], src_data_rank=None).tanh().full_tensor()",
    dtypes=WIDE,
    rank=(1, 3),
)
def scatter_gather(draw: Draw, out: Spec) -> Needs:
    """Split, also unevenly, and joined again."""
    return Needs(static(out), values=lambda x: x.over(Range(-1, 1)), dim=draw.axis(out))


@dtensor(
    "dtensor: partial",
    "partial_sum({0}).full_tensor()",
    "partial_sum({0}).redistribute(mesh, [Replicate(), Replicate()]).to_local() * 1",
    "(partial_sum({0}) * 2).full_tensor()",
    "(partial_sum({0}) + partial_sum({0})).full_tensor()",
    "F.relu(partial_sum({0})).to_local()",
    dtypes=WIDE,
    rank=(1, 3),
    exact=True,
)
def partial_(draw: Draw, out: Spec) -> Needs:
    """A pending sum over ranks: all_reduce."""
    return Needs(nonempty(out), values=lambda x: x.over(x + x, Range(0, 0, exact=True)))


@dtensor(
    "dtensor: moved shards",
    "sharded({0}, 0).redistribute(mesh, [Shard(1), Replicate()]).to_local() * 1",
    "partial_sum({0}.repeat(2, 1)).redistribute(mesh, [Shard(1), Replicate()]).to_local() + 0",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
)
def moved_shards(draw: Draw, out: Spec) -> Needs:
    """Shards moved to another dimension: all_to_all; or made from a pending sum: reduce_scatter."""
    m, n = static(out).shape
    if m % 2:
        raise UnsatisfiableSpec("no halves")
    return Needs(out.of(m // 2, 2 * n))


@dtensor(
    "dtensor: part of the mesh",
    'DTensor.from_local({0}, mesh["a"], [Shard(0)], run_check=False).{call}.to_local()',
    'DTensor.from_local({0}, mesh["b"], [Replicate()], run_check=False).{call}.to_local()',
    'distribute_tensor({0}.detach(), mesh["b"], [Replicate()], src_data_rank=None).{call}.to_local()',
    dtypes=WIDE,
    rank=(1, 3),
)
def part_of_mesh(draw: Draw, out: Spec) -> Needs:
    """On one dimension of the mesh."""
    call = draw.choice(("tanh()", "mul(0.5)", "relu()", "add(1)", "sin()"))
    values = lambda x: x.over(Range(-1, 1), x + Range(1, 1))  # noqa: E731
    return Needs(nonempty(out), values=values, call=call)
