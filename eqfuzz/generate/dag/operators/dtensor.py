"""Operations on DTensors, for the template of that name: its preamble makes the mesh and the functions used here.

Each is an expression from plain tensors to a plain tensor. The process group is a fake one of which this is rank 0: a
gather gives copies of what this rank holds, and a sum over ranks what it holds itself, so that all is determined.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import SIGNED, WIDE, Dim, Range, Spec, Unfit, index

_dtensor = partial(operator, family="dtensor")
_EXACT = (*WIDE, "int64")

_KINDS = ("replicated({x})", "sharded({x}, {dim})", "twice_sharded({x})")


def _placed(form: str, rank: int = 1) -> list[str]:
    """The spelling with its tensors placed in each way; ``d0`` to ``d2`` stand for the tensors."""
    found = []
    for kind in _KINDS[: 3 if rank > 1 else 2]:
        text = form
        for number in range(3):
            text = text.replace(f"d{number}", kind.replace("{x}", f"{{{number}}}"))
        found.append(text)
    return found


def _solid(out: Spec) -> Spec:
    if out.numel == 0:
        raise Unfit("empty")
    return out.free()


def _static(out: Spec) -> Spec:
    if not out.is_static:
        raise Unfit("sizes that change")
    return _solid(out)


def _even(out: Spec) -> tuple[int, Spec]:
    """A dimension that can be halved, and the half."""
    shape = _solid(out).shape
    dim = next((i for i, n in enumerate(shape) if not isinstance(n, Dim) and n % 2 == 0), None)
    if dim is None:
        raise Unfit("no even size")
    return dim, out.of(*shape[:dim], shape[dim] // 2, *shape[dim + 1 :])


# Element by element

for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*")):

    @_dtensor(
        f"dtensor: {_name}",
        *_placed(f"(d0 {_symbol} d1).to_local()", 2),
        *_placed(f"torch.{_name}(d0, d1).to_local()", 2),
        dtypes=_EXACT,
        rank=(2, 4),
        exact=True,
    )
    def arithmetic(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of two tensors placed alike."""
        values = lambda x, y: x * y if _symbol == "*" else x + y if _symbol == "+" else x - y  # noqa: E731
        return Needs(_solid(out), out.free(), values=values, dim=draw.axis(out))


for _name in ("tanh", "sigmoid", "sin", "exp", "relu", "neg", "abs"):

    @_dtensor(f"dtensor: {_name}", *_placed(f"torch.{_name}(d0).to_local()", 2), dtypes=WIDE, rank=(2, 4))
    def unary(draw: Draw, out: Spec) -> Needs:
        """A function of each element."""
        given = _solid(out).within(-6, 6)
        return Needs(given, values=Range(-6.1, 405), dim=draw.axis(out))


@_dtensor(
    "dtensor: broadcast",
    "(sharded({0}, 0) * replicated({1})).to_local()",
    "(replicated({1}) + sharded({0}, 0)).to_local()",
    "torch.maximum(sharded({0}, 0), replicated({1})).to_local()",
    dtypes=_EXACT,
    rank=(2, 3),
    exact=True,
)
def broadcast(draw: Draw, out: Spec) -> Needs:
    """A sharded tensor and a replicated one of fewer dimensions."""
    return Needs(_solid(out), out.of(*out.shape[1:]), values=lambda x, y: (x * y).over(x + y, x, y))


@_dtensor(
    "dtensor: chain",
    *_placed("F.gelu(d0 * 2 + d1).to_local()", 2),
    *_placed("(d0.tanh() - d1.sigmoid() * d0).to_local()", 2),
    *_placed("(d0.to(torch.float64) + d1).to({0}.dtype).to_local()", 2),
    *_placed("d0.clone().mul_(2).add_(d1).to_local()", 2),
    dtypes=WIDE,
    rank=(2, 4),
)
def chain(draw: Draw, out: Spec) -> Needs:
    """Several steps in a row, one of them in place at times."""
    return Needs(_solid(out), out.free(), values=lambda x, y: (x + x + y).over(x, x + x), dim=draw.axis(out))


@_dtensor(
    "dtensor: where",
    "torch.where(sharded({0}, 0), sharded({1}, 0), sharded({2}, 0)).to_local()",
    "torch.where(replicated({0}), replicated({1}), replicated({2})).to_local()",
    "sharded({1}, 0).masked_fill(sharded({0}, 0), 0).to_local() + {2}",
    dtypes=_EXACT,
    rank=(1, 4),
    exact=True,
)
def where(draw: Draw, out: Spec) -> Needs:
    """One where the mask is true, the other elsewhere."""
    mask = Spec(_solid(out).size, "bool")
    return Needs(mask, out.free(), out.free(), values=lambda m, x, y: x.over(y, x + y))


# Products


def _of_product(k: int) -> Callable[..., Range]:
    return lambda x, w, *b: (x * w).times(k) + (b[0] if b else Range(0, 0, exact=True))


@_dtensor(
    "dtensor: matmul",
    "torch.matmul(replicated({0}), replicated({1})).to_local()",
    "(sharded({0}, 0) @ replicated({1})).to_local()",
    "torch.mm(replicated({0}), sharded({1}, 1)).to_local()",
    "(sharded({0}, 1) @ sharded({1}, 0)).full_tensor()",
    "torch.mm(sharded({0}, 1), sharded({1}, 0)).redistribute(mesh, [Replicate(), Replicate()]).to_local()",
    dtypes=_EXACT[:2],
    rank=(2, 2),
    exact=True,
)
def matmul(draw: Draw, out: Spec) -> Needs:
    """Of matrices of which rows, columns or what is summed over are sharded."""
    (m, n), k = _solid(out).shape, draw.size()
    return Needs(out.of(m, k), out.of(k, n), values=_of_product(k))


@_dtensor(
    "dtensor: linear",
    "F.linear(sharded({0}, 0), replicated({1}), replicated({2})).to_local()",
    "F.linear(replicated({0}), sharded({1}, 0), sharded({2}, 0)).to_local()",
    "F.relu(F.linear(replicated({0}), replicated({1}), replicated({2}))).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
)
def linear(draw: Draw, out: Spec) -> Needs:
    """A linear layer split by rows of the input or by its outputs."""
    *rows, n = _solid(out).shape
    k = draw.size()
    values = _of_product(k)
    zero = Range(0, 0)
    return Needs(out.of(*rows, k), out.of(n, k), out.of(n), values=lambda x, w, b: values(x, w, b).over(zero))


@_dtensor(
    "dtensor: two linears",
    "F.linear(F.relu(F.linear(replicated({0}), sharded({1}, 0))), sharded({2}, 1)).full_tensor()",
    "F.linear(F.linear(replicated({0}), sharded({1}, 0)).tanh(), sharded({2}, 1)).full_tensor()",
    dtypes=WIDE,
    rank=(2, 2),
)
def two_linears(draw: Draw, out: Spec) -> Needs:
    """Column-wise and then row-wise parallel, as tensor parallelism splits two layers."""
    (m, n), k, j = _solid(out).shape, draw.size(9), draw.size(9)
    most = lambda x, v, w: max(1.0, x.most) * max(1.0, v.most) * max(1.0, w.most) * k * j  # noqa: E731
    one = out.of(m, k).within(-4, 4), out.of(j, k).within(-4, 4), out.of(n, j).within(-4, 4)
    return Needs(*one, values=lambda *r: Range(-most(*r), most(*r)))


@_dtensor(
    "dtensor: bmm",
    "torch.bmm(sharded({0}, 0), sharded({1}, 0)).to_local()",
    "(replicated({0}) @ replicated({1})).to_local()",
    "torch.einsum('bik,bkj->bij', sharded({0}, 0), sharded({1}, 0)).to_local()",
    dtypes=WIDE,
    rank=(3, 3),
    exact=True,
)
def bmm(draw: Draw, out: Spec) -> Needs:
    """Batches of matrices, sharded by batch."""
    (b, m, n), k = _solid(out).shape, draw.size()
    return Needs(out.of(b, m, k), out.of(b, k, n), values=_of_product(k))


# Reductions and normalisation

for _name in ("sum", "mean", "amax", "amin"):

    @_dtensor(
        f"dtensor: {_name}",
        f"sharded({{0}}, 0).{_name}({{dim}}).to_local()",
        f"torch.{_name}(replicated({{0}}), {{dim}}).to_local()",
        f"sharded({{0}}, {{dim}}).{_name}({{dim}}).full_tensor()",
        f"torch.{_name}(sharded({{0}}, {{dim}}), dim={{dim}}).redistribute(mesh, [Replicate()] * 2).to_local()",
        dtypes=WIDE,
        rank=(1, 3),
        exact=_name != "mean",
    )
    def reduction(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over a dimension that is sharded, or over another."""
        dim, n = draw.integer(1, out.rank), draw.size()
        given = _solid(out).of(*out.shape[:dim], n, *out.shape[dim:])
        values = lambda x: x.times(n) if _name == "sum" else x.over(x.times(1))  # noqa: E731
        return Needs(given, values=values, dim=dim)


@_dtensor(
    "dtensor: full reduction",
    "sharded({0}, 0).sum().full_tensor()",
    "twice_sharded({0}).sum().full_tensor()",
    "replicated({0}).sum().to_local()",
    "sharded({0}, 0).max().full_tensor()",
    "twice_sharded({0}).mean().full_tensor()",
    dtypes=WIDE,
    rank=(0, 0),
)
def full_reduction(draw: Draw, out: Spec) -> Needs:
    """Of everything, on all ranks."""
    given = out.of(draw.size(9), draw.size(9))
    return Needs(given, values=lambda x: x.times(given.numel).over(x))


@_dtensor(
    "dtensor: softmax",
    "torch.softmax(sharded({0}, 0), dim=-1).to_local()",
    "F.log_softmax(sharded({0}, 0), dim=-1).to_local()",
    "torch.softmax(replicated({0}), dim=0).to_local()",
    "torch.cumsum(sharded({0}, 0), dim=-1).to_local()",
    dtypes=WIDE,
    rank=(2, 4),
)
def softmax(draw: Draw, out: Spec) -> Needs:
    """Along a dimension that each rank has all of."""
    count = max(int(out.shape[-1]), 17)
    return Needs(_solid(out).within(-8, 8), values=lambda x: Range(-20, 1.1).over(x.times(count)))


@_dtensor(
    "dtensor: softmax of shards",
    "torch.softmax(sharded({0}, {dim}), dim={dim}).to_local()",
    "F.log_softmax(sharded({0}, {dim}), dim={dim}).full_tensor()",
    "(sharded({0}, {dim}) - sharded({0}, {dim}).mean({dim}, keepdim=True)).full_tensor()",
    dtypes=WIDE,
    rank=(1, 3),
)
def softmax_of_shards(draw: Draw, out: Spec) -> Needs:
    """Along a sharded dimension, which is gathered first."""
    dim, half = _even(out)
    return Needs(half.within(-8, 8), values=Range(-24, 24), dim=dim)


@_dtensor(
    "dtensor: layer norm",
    "F.layer_norm(sharded({0}, 0), ({n},), replicated({1}), replicated({2})).to_local()",
    "F.layer_norm(replicated({0}), ({n},), replicated({1}), replicated({2}), 1e-3).to_local()",
    "(F.layer_norm(sharded({0}, 0), ({n},)) * replicated({1}) + replicated({2})).to_local()",
    dtypes=WIDE,
    rank=(2, 4),
    noun="normed",
)
def layer_norm(draw: Draw, out: Spec) -> Needs:
    """Over the last dimension, of a tensor sharded by rows."""
    n = _solid(out).shape[-1]
    root = max(int(n), 17) ** 0.5 + 1
    values = lambda x, w, b: Range(-root, root) * w + b  # noqa: E731
    return Needs(out.within(-8, 8), out.of(n), out.of(n), values=values, n=n)


@_dtensor(
    "dtensor: attention",
    "(torch.softmax(sharded({0}, 1) @ sharded({1}, 1).transpose(-2, -1), -1) @ sharded({2}, 1)).to_local()",
    "(torch.softmax(sharded({0}, 0) @ sharded({1}, 0).transpose(-2, -1), -1) @ sharded({2}, 0)).to_local()",
    dtypes=("float32",),
    rank=(4, 4),
    noun="attended",
)
def attention(draw: Draw, out: Spec) -> Needs:
    """Sharded by heads or by batch."""
    b, h, s, _ = _solid(out).shape
    q = out.of(b, h, s, draw.size(9)).within(-2, 2)
    edge = lambda v: Range(-1.05 * v.most, 1.05 * v.most)  # noqa: E731
    return Needs(q, q, out.free().within(-16, 16), values=lambda q, k, v: edge(v))


@_dtensor(
    "dtensor: embedding",
    "F.embedding(sharded({0}, 0), replicated({1})).to_local()",
    "F.embedding(replicated({0}), sharded({1}, 1)).to_local()",
    "F.embedding(replicated({0}), replicated({1})).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
    noun="embedded",
)
def embedding(draw: Draw, out: Spec) -> Needs:
    """Rows of a table that is replicated or sharded by columns."""
    words = draw.integer(2, 9)
    *rows, n = _solid(out).shape
    return Needs(index(rows, words), out.of(words, n), values=lambda i, w: w)


# Views


@_dtensor(
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
    """A sharded dimension moves."""
    one = Range(1, 1, exact=True)
    return Needs(_static(out).of(*reversed(out.shape)), values=lambda x: x.over(x + one))


@_dtensor(
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
    m, n = _static(out).shape
    k = draw.choice([k for k in (1, 2, 3) if n % k == 0])
    return Needs(out.of(m, k, n // k).dense(), values=lambda x: x.over(x + x), m=m, n=n)


@_dtensor(
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
    m, n, *rest = _static(out).shape
    start = draw.integer(1, 3)
    return Needs(out.of(m, n + start, *rest), values=lambda x: x.over(x + Range(1, 1, True)), start=start, n=n)


@_dtensor(
    "dtensor: cat",
    "torch.cat([sharded({0}, 0), sharded({1}, 0)], dim=1).to_local()",
    "torch.cat([replicated({0}), replicated({1})], dim=1).to_local()",
    "torch.cat([sharded({0}, 0).relu(), sharded({1}, 0) * 2], 1).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
    noun="joined",
)
def cat(draw: Draw, out: Spec) -> Needs:
    """Joined along a dimension that is not sharded."""
    m, n, *rest = _solid(out).shape
    parts = [out.of(m, part, *rest) for part in draw.split(n, 2)]
    return Needs(*parts, values=lambda x, y: x.over(y, y + y, Range(0, 0, exact=True)))


@_dtensor(
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
    return Needs(_solid(out), out.free(), values=lambda x, y: x.over(y, x + y))


@_dtensor(
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
    """In another order along a dimension that is not sharded."""
    n = _static(out).shape[-1]
    return Needs(out.free().within(-1e3, 1e3), index(out.shape, n), values=lambda x, i: x, n=n)


# Placements


@_dtensor(
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
    """All shards put together: all_gather."""
    dim, half = _even(out)
    return Needs(half, values=lambda x: x.over(x + x), dim=dim)


@_dtensor(
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
    dim = draw.axis(_static(out))
    whole = out.of(*(2 * n if i == dim else n for i, n in enumerate(out.shape)))
    one = Range(1, 1, exact=True)
    return Needs(whole, values=lambda x: x.over(x + x, x + one), dim=dim)


@_dtensor(
    "dtensor: scatter and gather",
    "replicated({0}).redistribute(mesh, [Shard({dim}), Replicate()]).full_tensor()",
    "replicated({0}).redistribute(mesh, [Shard({dim}), Shard({dim})]).full_tensor()",
    "replicated({0}).redistribute(mesh, [Replicate(), Shard({dim})]).sin().full_tensor()",
    "distribute_tensor({0}.detach(), mesh, [Shard({dim}), Replicate()], src_data_rank=None).tanh().full_tensor()",
    dtypes=WIDE,
    rank=(1, 3),
)
def scatter_gather(draw: Draw, out: Spec) -> Needs:
    """Split, of uneven sizes too, and put together again."""
    return Needs(_static(out), values=lambda x: x.over(Range(-1, 1)), dim=draw.axis(out))


@_dtensor(
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
    """A sum that is still to be made over ranks: all_reduce."""
    return Needs(_solid(out), values=lambda x: x.over(x + x, Range(0, 0, exact=True)))


@_dtensor(
    "dtensor: moved shards",
    "sharded({0}, 0).redistribute(mesh, [Shard(1), Replicate()]).to_local() * 1",
    "partial_sum({0}.repeat(2, 1)).redistribute(mesh, [Shard(1), Replicate()]).to_local() + 0",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
)
def moved_shards(draw: Draw, out: Spec) -> Needs:
    """From one dimension to another: all_to_all; and from a sum to shards: reduce_scatter."""
    m, n = _static(out).shape
    if m % 2:
        raise Unfit("no halves")
    return Needs(out.of(m // 2, 2 * n))


@_dtensor(
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
    return Needs(_solid(out), values=values, call=call)


@_dtensor(
    "dtensor: constants",
    "{0} + dist.tensor.ones({size}, device_mesh=mesh, placements=[Replicate(), Replicate()]).to_local()",
    "(replicated({0}) * torch.ones_like(replicated({0}))).to_local()",
    "(sharded({0}, 0) + torch.full_like(sharded({0}, 0), 2)).to_local()",
    dtypes=("float32",),
    rank=(1, 3),
    exact=True,
)
def constants(draw: Draw, out: Spec) -> Needs:
    """With DTensors that are made of one number."""
    two = Range(2, 2, exact=True)
    return Needs(_static(out), values=lambda x: x.over(x + two), size=out.shape)


@_dtensor(
    "dtensor: integers",
    "(sharded({0}, 0) // 3).to_local()",
    "(replicated({0}) % 4).to_local()",
    "sharded({0}, 0).clamp(-3, 3).to_local()",
    "sharded({0}, 0).to(torch.float32).to(torch.int64).to_local().to({0}.dtype)",
    dtypes=SIGNED[:2],
    rank=(1, 3),
    exact=True,
)
def integers(draw: Draw, out: Spec) -> Needs:
    """Whole numbers."""
    values = lambda x: x.over(Range(-3, 3, exact=True), Range(-x.most - 1, x.most, exact=True))  # noqa: E731
    return Needs(_solid(out).within(-1e4, 1e4), values=values)
