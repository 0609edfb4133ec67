"""Products, reductions and normalisation of DTensors."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.dtensor.dtensor import EXACT, dtensor, even
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, index, nonempty
from eqfuzz.generate.dag.values.value_bounds import longest, root, sum_of_products


@dtensor(
    "dtensor: matmul",
    "torch.matmul(replicated({0}), replicated({1})).to_local()",
    "(sharded({0}, 0) @ replicated({1})).to_local()",
    "torch.mm(replicated({0}), sharded({1}, 1)).to_local()",
    "(sharded({0}, 1) @ sharded({1}, 0)).full_tensor()",
    "torch.mm(sharded({0}, 1), sharded({1}, 0)).redistribute(mesh, [Replicate(), Replicate()]).to_local()",
    dtypes=EXACT[:2],
    rank=(2, 2),
    exact=True,
)
def matmul(draw: Draw, out: Spec) -> Needs:
    """Of matrices whose rows, columns or inner dimension are sharded."""
    (m, n), k = nonempty(out).shape, draw.size()
    return Needs(out.of(m, k), out.of(k, n), values=sum_of_products(k))


@dtensor(
    "dtensor: linear",
    "F.linear(sharded({0}, 0), replicated({1}), replicated({2})).to_local()",
    "F.linear(replicated({0}), sharded({1}, 0), sharded({2}, 0)).to_local()",
    "F.relu(F.linear(replicated({0}), replicated({1}), replicated({2}))).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
)
def linear(draw: Draw, out: Spec) -> Needs:
    """A linear layer sharded by rows of the input or by outputs."""
    *rows, n = nonempty(out).shape
    k = draw.size()
    values = sum_of_products(k)
    zero = Range(0, 0)
    return Needs(out.of(*rows, k), out.of(n, k), out.of(n), values=lambda x, w, b: values(x, w, b).over(zero))


@dtensor(
    "dtensor: two linears",
    "F.linear(F.relu(F.linear(replicated({0}), sharded({1}, 0))), sharded({2}, 1)).full_tensor()",
    "F.linear(F.linear(replicated({0}), sharded({1}, 0)).tanh(), sharded({2}, 1)).full_tensor()",
    dtypes=WIDE,
    rank=(2, 2),
)
def two_linears(draw: Draw, out: Spec) -> Needs:
    """Column-wise then row-wise parallel, as tensor parallelism shards two layers."""
    (m, n), k, j = nonempty(out).shape, draw.size(9), draw.size(9)
    most = lambda x, v, w: max(1.0, x.most) * max(1.0, v.most) * max(1.0, w.most) * k * j  # noqa: E731
    one = out.of(m, k).within(-4, 4), out.of(j, k).within(-4, 4), out.of(n, j).within(-4, 4)
    return Needs(*one, values=lambda *r: Range(-most(*r), most(*r)))


@dtensor(
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
    (b, m, n), k = nonempty(out).shape, draw.size()
    return Needs(out.of(b, m, k), out.of(b, k, n), values=sum_of_products(k))


for _name in ("sum", "mean", "amax", "amin"):

    @dtensor(
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
        """Over a sharded dimension, or over another."""
        dim, n = draw.integer(1, out.rank), draw.size()
        operand = nonempty(out).of(*out.shape[:dim], n, *out.shape[dim:])
        values = lambda x: x.times(n) if _name == "sum" else x.over(x.times(1))  # noqa: E731
        return Needs(operand, values=values, dim=dim)


@dtensor(
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
    """Over all elements, on all ranks."""
    operand = out.of(draw.size(9), draw.size(9))
    return Needs(operand, values=lambda x: x.times(operand.numel).over(x))


@dtensor(
    "dtensor: softmax",
    "torch.softmax(sharded({0}, 0), dim=-1).to_local()",
    "F.log_softmax(sharded({0}, 0), dim=-1).to_local()",
    "torch.softmax(replicated({0}), dim=0).to_local()",
    "torch.cumsum(sharded({0}, 0), dim=-1).to_local()",
    dtypes=WIDE,
    rank=(2, 4),
)
def softmax(draw: Draw, out: Spec) -> Needs:
    """Along a dimension that is not sharded."""
    count = longest(out.shape[-1])
    return Needs(nonempty(out).within(-8, 8), values=lambda x: Range(-20, 1.1).over(x.times(count)))


@dtensor(
    "dtensor: softmax of shards",
    "torch.softmax(sharded({0}, {dim}), dim={dim}).to_local()",
    "F.log_softmax(sharded({0}, {dim}), dim={dim}).full_tensor()",
    "(sharded({0}, {dim}) - sharded({0}, {dim}).mean({dim}, keepdim=True)).full_tensor()",
    dtypes=WIDE,
    rank=(1, 3),
)
def softmax_of_shards(draw: Draw, out: Spec) -> Needs:
    """Along a sharded dimension, which is gathered first."""
    dim, half = even(out)
    return Needs(half.within(-8, 8), values=Range(-24, 24), dim=dim)


@dtensor(
    "dtensor: layer norm",
    "F.layer_norm(sharded({0}, 0), ({n},), replicated({1}), replicated({2})).to_local()",
    "F.layer_norm(replicated({0}), ({n},), replicated({1}), replicated({2}), 1e-3).to_local()",
    "(F.layer_norm(sharded({0}, 0), ({n},)) * replicated({1}) + replicated({2})).to_local()",
    dtypes=WIDE,
    rank=(2, 4),
    name_hint="normed",
)
def layer_norm(draw: Draw, out: Spec) -> Needs:
    """Over the last dimension, of a tensor sharded by rows."""
    n = nonempty(out).shape[-1]
    edge = root(n)
    values = lambda x, w, b: Range(-edge, edge) * w + b  # noqa: E731
    return Needs(out.within(-8, 8), out.of(n), out.of(n), values=values, n=n)


@dtensor(
    "dtensor: attention",
    "(torch.softmax(sharded({0}, 1) @ sharded({1}, 1).transpose(-2, -1), -1) @ sharded({2}, 1)).to_local()",
    "(torch.softmax(sharded({0}, 0) @ sharded({1}, 0).transpose(-2, -1), -1) @ sharded({2}, 0)).to_local()",
    dtypes=("float32",),
    rank=(4, 4),
    name_hint="attended",
)
def attention(draw: Draw, out: Spec) -> Needs:
    """Sharded by heads or by batch."""
    b, h, s, _ = nonempty(out).shape
    q = out.of(b, h, s, draw.size(9)).within(-2, 2)
    edge = lambda v: Range(-1.05 * v.most, 1.05 * v.most)  # noqa: E731
    return Needs(q, q, out.free().within(-16, 16), values=lambda q, k, v: edge(v))


@dtensor(
    "dtensor: embedding",
    "F.embedding(sharded({0}, 0), replicated({1})).to_local()",
    "F.embedding(replicated({0}), sharded({1}, 1)).to_local()",
    "F.embedding(replicated({0}), replicated({1})).to_local()",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
    name_hint="embedded",
)
def embedding(draw: Draw, out: Spec) -> Needs:
    """Rows of a table that is replicated or sharded by columns."""
    words = draw.integer(2, 9)
    *rows, n = nonempty(out).shape
    return Needs(index(rows, words), out.of(words, n), values=lambda i, w: w)
