"""Matrix products as Inductor's graph passes match them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Range, Spec, nonempty
from eqfuzz.generate.dag.values.value_bounds import sum_of_products

HALVES = ("float16", "bfloat16")
_fusion = partial(operator, family="fusion")


def _depth(draw: Draw) -> int:
    """The inner size of a product: also one, and odd numbers."""
    return draw.choice((1, 2, 3, 4, 5, 7, 8, 16, 17, 33))


def tame(spec: Spec) -> Spec:
    """``spec`` with values so small that a softmax of their products does not saturate."""
    most = 2.0 if spec.dtype in HALVES else 4.0
    return spec.within(-most, most)


def _matrix(out: Spec) -> tuple[int, int]:
    m, n = nonempty(out).shape
    return m, n


@_fusion(
    "pattern: mm plus mm",
    "torch.mm({0}, {1}) + torch.mm({2}, {3})",
    "{0} @ {1} + {2} @ {3}",
    "torch.addmm(torch.mm({0}, {1}), {2}, {3})",
    dtypes=FLOATS,
    rank=(2, 2),
    exact=True,
)
def mm_plus_mm(draw: Draw, out: Spec) -> Needs:
    """The sum of two products: mm_plus_mm in post_grad.py."""
    (m, n), k = _matrix(out), _depth(draw)
    first, second = out.of(m, k), out.of(k, n)
    return Needs(first, second, first, second, values=lambda a, b, c, d: (a * b).times(k) + (c * d).times(k))


@_fusion(
    "pattern: mm plus bias",
    "torch.mm({0}, {1}) + {2}",
    "{2} + {0} @ {1}",
    "torch.addmm({2}, {0}, {1})",
    "F.relu(torch.addmm({2}, {0}, {1}))",
    "torch.addmm({2}, {0}, {1}) * 0.5",
    dtypes=FLOATS,
    rank=(2, 2),
    exact=True,
)
def mm_plus_bias(draw: Draw, out: Spec) -> Needs:
    """A product and a bias: addmm and unfuse_bias_add_to_pointwise in post_grad.py."""
    (m, n), k = _matrix(out), _depth(draw)
    bias = out.of(n) if draw.chance(0.7) else out.of(m, n)
    dot = sum_of_products(k)
    values = lambda x, w, b: dot(x, w, b).over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.of(m, k), out.of(k, n), bias, values=values)


@_fusion(
    "pattern: cat of products",
    "torch.cat([torch.mm({0}, {1}), torch.mm({0}, {2})], dim=1)",
    "torch.cat([{0} @ {1}, {0} @ {2}], -1)",
    "torch.cat([torch.addmm({3}, {0}, {1}), torch.addmm({4}, {0}, {2})], dim=1)",
    "torch.cat([F.linear({0}, {1}.t(), {3}), F.linear({0}, {2}.t(), {4})], dim=-1)",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
    name_hint="joined",
)
def cat_of_products(draw: Draw, out: Spec) -> Needs:
    """Products of one matrix joined: cat_addmm in post_grad.py, fuse_parallel_linear and batch_linear_lhs."""
    (m, n), k = _matrix(out), _depth(draw)
    a, b = draw.split(n, 2)
    dot = sum_of_products(k)
    values = lambda x, v, w, c, d: dot(x, v.over(w)) + c.over(d, Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.of(m, k), out.of(k, a), out.of(k, b), out.of(a), out.of(b), values=values)


@_fusion(
    "pattern: bmm of one batch",
    "torch.bmm({0}.unsqueeze(0), {1}.unsqueeze(0)).squeeze(0)",
    "torch.bmm({0}[None], {1}[None])[0].clone()",
    "torch.baddbmm(torch.zeros(1, {m}, {n}, dtype=torch.{dtype}), {0}[None], {1}[None]).reshape({m}, {n})",
    dtypes=FLOATS,
    rank=(2, 2),
    exact=True,
)
def bmm_of_one(draw: Draw, out: Spec) -> Needs:
    """A batch of one product: bmm_to_mm in joint_graph.py."""
    (m, n), k = _matrix(out), _depth(draw)
    return Needs(out.of(m, k), out.of(k, n), values=sum_of_products(k), m=m, n=n, dtype=out.dtype)


@_fusion(
    "pattern: bmm of one matrix",
    "torch.bmm({0}, {1}.expand({b}, {k}, {n}))",
    "torch.matmul({0}, {1})",
    "torch.einsum('bmk,kn->bmn', {0}, {1})",
    "({0}.reshape(-1, {k}) @ {1}).view({b}, {m}, {n})",
    "torch.bmm({0}, {1}.unsqueeze(0).repeat({b}, 1, 1))",
    dtypes=FLOATS,
    rank=(3, 3),
    exact=True,
)
def bmm_of_one_matrix(draw: Draw, out: Spec) -> Needs:
    """A batch of products with one matrix: the folding of matmul, decompose_mem_bound_mm.py, einsum passes."""
    b, m, n = nonempty(out).shape
    k = _depth(draw)
    return Needs(out.of(b, m, k), out.of(k, n), values=sum_of_products(k), b=b, m=m, n=n, k=k)


@_fusion(
    "pattern: product as a sum",
    "({0}.unsqueeze(-1) * {1}.unsqueeze(0)).sum(1)",
    "torch.einsum('mk,kn->mn', {0}, {1})",
    "torch.sum({0}[:, :, None] * {1}[None], dim=1)",
    "torch.mm({0}.contiguous(), {1}.t().contiguous().t())",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
)
def product_as_sum(draw: Draw, out: Spec) -> Needs:
    """A matrix product as pointwise product and sum, also of thin matrices: decompositions of mm and pad_mm.py."""
    (m, n), k = _matrix(out), draw.choice((1, 1, 2, 3, 5, 9))
    return Needs(out.of(m, k), out.of(k, n), values=sum_of_products(k))


@_fusion(
    "pattern: product of products",
    "torch.mm(torch.mm({0}, {1}), {2})",
    "{0} @ ({1} @ {2})",
    "torch.mm(F.relu(torch.mm({0}, {1})), {2})",
    "torch.mm({0}, F.gelu(torch.mm({1}, {2})))",
    "torch.tanh({0} @ {1}) @ {2}",
    dtypes=FLOATS,
    rank=(2, 2),
)
def product_of_products(draw: Draw, out: Spec) -> Needs:
    """Two products with a pointwise function in between: b2b_gemm.py."""
    (m, n), k, j = _matrix(out), draw.size(9), draw.size(9)

    def values(x: Range, v: Range, w: Range) -> Range:
        most = max(1.0, x.most) * max(1.0, v.most) * max(1.0, w.most) * k * j
        return Range(-most, most, nonfinite=x.nonfinite or v.nonfinite or w.nonfinite)

    small = tame(out)
    return Needs(small.of(m, k).within(-3, 3), out.of(k, j).within(-3, 3), out.of(j, n), values=values)


@_fusion(
    "pattern: permuted product",
    "torch.matmul({0}.transpose(-1, -2), {1})",
    "torch.matmul({0}.transpose(-1, -2), {1}.transpose(-1, -2).contiguous().transpose(-1, -2))",
    "F.linear({0}.transpose(-1, -2), {1}.transpose(-1, -2))",
    "F.linear({1}.transpose(-1, -2), {0}.transpose(-1, -2)).transpose(-1, -2).contiguous()",
    "({0}.t() @ {1}).t().t()",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
)
def permuted_product(draw: Draw, out: Spec) -> Needs:
    """Transposed operands and results: permute_matmul_fusion and linear_permute_fusion in pre_grad.py."""
    (m, n), k = _matrix(out), _depth(draw)
    return Needs(out.of(k, m), out.of(k, n), values=sum_of_products(k))


@_fusion(
    "pattern: batched linears",
    "torch.stack([F.linear({0}, {2}, {3}), F.linear({1}, {2}, {3})]).sum(0)",
    "F.linear({0}, {2}, {3}) + F.linear({1}, {2}, {3})",
    "F.linear({0}, {2}) * F.sigmoid(F.linear({1}, {2}, {3}))",
    "sum(F.linear(torch.cat([{0}, {1}]), {2}, {3}).chunk(2))",
    dtypes=WIDE,
    rank=(2, 2),
)
def batched_linears(draw: Draw, out: Spec) -> Needs:
    """Linear layers of one shape: batch_linear and group_linear in group_batch_fusion.py."""
    (m, n), k = _matrix(out), _depth(draw)
    rows = out.of(m, k)

    def values(x: Range, y: Range, w: Range, b: Range) -> Range:
        return (x * w).times(k) + (y * w).times(k) + b + b

    return Needs(rows, rows, out.of(n, k), out.of(n), values=values)


ACTIVATIONS = (
    "F.relu({f})",
    "F.gelu({f})",
    "F.gelu({f}, approximate='tanh')",
    "F.silu({f})",
    "torch.tanh({f})",
    "torch.sigmoid({f})",
    "F.hardswish({f})",
    "F.leaky_relu({f}, 0.1)",
    "F.hardtanh({f}, -0.5, 4.0)",
    "({f}).clamp(min=-1.0, max=3.0)",
)
JOINS = ("{f} + {3}", "{3} + {f}", "F.relu({f} + {3})", "({f}).add_({3})", "{3} * ({f})", "({f}) - {3}")


def around(forms: tuple[str, ...], inner: str) -> list[str]:
    return [form.replace("{f}", inner) for form in forms]


def activated(k: int) -> Callable[..., Range]:
    dot = sum_of_products(k)
    return lambda x, w, b: dot(x, w, b).over(Range(-1, 1))


@_fusion(
    "pattern: linear and activation",
    *around(ACTIVATIONS, "F.linear({0}, {1}, {2})"),
    dtypes=("float32", "float64", "bfloat16"),
    rank=(2, 4),
    name_hint="active",
)
def linear_activation(draw: Draw, out: Spec) -> Needs:
    """A linear layer and an activation: the unary fusions of mkldnn_fusion.py."""
    *rows, n = nonempty(out).shape
    k = _depth(draw)
    return Needs(out.of(*rows, k), out.of(n, k), out.of(n), values=activated(k))


@_fusion(
    "pattern: linear and binary",
    *around(JOINS, "F.linear({0}, {1}, {2})"),
    dtypes=("float32", "float64", "bfloat16"),
    rank=(2, 4),
)
def linear_binary(draw: Draw, out: Spec) -> Needs:
    """A linear layer and another tensor, added or multiplied: the binary fusions of mkldnn_fusion.py."""
    *rows, n = nonempty(out).shape
    k = _depth(draw)
    return Needs(out.of(*rows, k), out.of(n, k), out.of(n), out.free(), values=joined(k))


def joined(k: int) -> Callable[..., Range]:
    dot = sum_of_products(k)

    def values(x: Range, w: Range, b: Range, y: Range) -> Range:
        product = dot(x, w, b)
        return (product + y).over(product - y, product * y, Range(0, 0))

    return values
