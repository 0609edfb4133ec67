"""Products of matrices and vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Dim, Range, Spec, UnsatisfiableSpec, most

_linalg = partial(operator, family="linalg")


_PRODUCTS = (*FLOATS, "int64", "int32", "complex64")
"""What matrices may be of that are multiplied."""
_ROOM = 8192


def _sane(spec: Spec) -> Spec:
    """``spec``; floats are bounded so that their products can be summed in any order."""
    return spec.within(-64.0, 64.0) if spec.is_float else spec


def _inner(draw: Draw, out: Spec) -> int:
    """The size of the inner dimension, sometimes a changing one."""
    dims = [n for n in out.shape if isinstance(n, Dim)]
    if dims and draw.chance(0.3):
        return draw.choice(dims)
    if out.numel <= 256 and draw.chance(0.12):
        return draw.choice((0, 31, 32, 33, 64, 65, 128))
    return draw.size() if out.numel * 17 <= _ROOM else 3


def _summed(count: int, *ranges: Range, is_complex: bool = False) -> Range:
    """The range of sums of ``count`` products."""
    got = ranges[0]
    for other in ranges[1:]:
        got = got * other * Range(2, 2, exact=True) if is_complex else got * other
    got = Range(-got.most, got.most, got.exact, got.nonfinite) if is_complex else got
    return got.times(most(count))


def _product(draw: Draw, out: Spec, first: Sequence[int], second: Sequence[int], inner: int) -> Needs:
    values = lambda x, y: _summed(inner, x, y, is_complex=out.is_complex)  # noqa: E731
    return Needs(_sane(out.of(*first)), _sane(out.of(*second)), values=values)


@_linalg(
    "torch.mm",
    "torch.mm({0}, {1})",
    "{0}.mm({1})",
    "{0} @ {1}",
    dtypes=_PRODUCTS,
    rank=(2, 2),
    exact=True,
    out=["torch.mm({0}, {1}, out={out})"],
    name_hint="product",
    weight=2,
)
def mm(draw: Draw, out: Spec) -> Needs:
    """Two matrices."""
    k = _inner(draw, out)
    return _product(draw, out, (out.shape[0], k), (k, out.shape[1]), k)


@_linalg(
    "torch.mm.transposed",
    "{0} @ {1}.t()",
    "torch.mm({0}, {1}.T)",
    "torch.mm({0}, {1}.transpose(0, 1))",
    "torch.matmul({0}, {1}.mT)",
    dtypes=_PRODUCTS,
    rank=(2, 2),
    exact=True,
    name_hint="product",
)
def mm_transposed(draw: Draw, out: Spec) -> Needs:
    """A matrix and a transposed one."""
    k = _inner(draw, out)
    return _product(draw, out, (out.shape[0], k), (out.shape[1], k), k)


@_linalg(
    "torch.bmm",
    "torch.bmm({0}, {1})",
    "{0}.bmm({1})",
    "{0} @ {1}",
    dtypes=_PRODUCTS,
    rank=(3, 3),
    exact=True,
    out=["torch.bmm({0}, {1}, out={out})"],
    name_hint="product",
)
def bmm(draw: Draw, out: Spec) -> Needs:
    """Pairs of matrices."""
    k = _inner(draw, out)
    b, m, n = out.shape
    return _product(draw, out, (b, m, k), (b, k, n), k)


@_linalg(
    "torch.matmul",
    "torch.matmul({0}, {1})",
    "{0} @ {1}",
    "{0}.matmul({1})",
    dtypes=_PRODUCTS,
    exact=True,
    name_hint="product",
    weight=3,
)
def matmul(draw: Draw, out: Spec) -> Needs:
    """Vectors, matrices and batches, with broadcasting."""
    k, size = _inner(draw, out), list(out.shape)
    if not size:
        return _product(draw, out, (k,), (k,), k)
    if len(size) < 5 and (len(size) == 1 or draw.chance(0.3)):
        if draw.chance(0.5):
            return _product(draw, out, (*size, k), (k,), k)
        return _product(draw, out, (k,), (*size[:-1], k, size[-1]), k)
    first, second = (*size[:-1], k), (*size[:-2], k, size[-1])
    if len(size) > 2 and draw.chance(0.5):
        cut = draw.integer(1, len(size) - 2)
        first, second = draw.choice(((first[cut:], second), (first, second[cut:]), (first, (1, *second[1:]))))
    return _product(draw, out, first, second, k)


@_linalg(
    "torch.mv",
    "torch.mv({0}, {1})",
    "{0}.mv({1})",
    "{0} @ {1}",
    dtypes=_PRODUCTS,
    rank=(1, 1),
    exact=True,
    out=["torch.mv({0}, {1}, out={out})"],
)
def mv(draw: Draw, out: Spec) -> Needs:
    """A matrix and a vector."""
    k = _inner(draw, out)
    return _product(draw, out, (out.shape[0], k), (k,), k)


for _name in ("dot", "vdot", "inner"):

    @_linalg(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{1}})",
        f"{{0}}.{_name}({{1}})",
        dtypes=_PRODUCTS,
        rank=(0, 0 if _name != "inner" else 4),
        exact=True,
        name_hint="product",
    )
    def dot(draw: Draw, out: Spec) -> Needs:
        """Two vectors; ``inner`` also takes all pairs of rows of two tensors."""
        k = _inner(draw, out)
        cut = draw.integer(0, out.rank)
        return _product(draw, out, (*out.shape[:cut], k), (*out.shape[cut:], k), k)


@_linalg(
    "torch.outer",
    "torch.outer({0}, {1})",
    "{0}.outer({1})",
    "torch.ger({0}, {1})",
    dtypes=_PRODUCTS,
    rank=(2, 2),
    exact=True,
)
def outer(draw: Draw, out: Spec) -> Needs:
    """The outer product of two vectors."""
    return _product(draw, out, out.shape[:1], out.shape[1:], 1)


def _scaled(draw: Draw, out: Spec, first: Sequence[int], second: Sequence[int], inner: int) -> Needs:
    """A product added to a tensor that may broadcast, with ``beta`` and ``alpha``."""
    plain = _product(draw, out, first, second, inner)
    added = draw.broadcast(out).free()
    factors = (1, 1, 2, -1) if out.exact or not out.is_float else (1, 1, 0.5, 2, -1.5)
    beta, alpha = draw.choice((*factors, 0)), draw.choice(factors)
    beta_range, alpha_range = Range(beta, beta, exact=True), Range(alpha, alpha, exact=True)

    def values(c: Range, x: Range, y: Range) -> Range:
        return c * beta_range + _summed(inner, x, y, is_complex=out.is_complex) * alpha_range

    words = [f"beta={beta}"] * (beta != 1) + [f"alpha={alpha}"] * (alpha != 1)
    return Needs(added, *plain.inputs, values=values, factors=", ".join(words))


for _name in ("addmm", "addmv", "addr", "addbmm", "baddbmm"):

    @_linalg(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{1}}, {{2}}, {{factors}})",
        f"{{0}}.{_name}({{1}}, {{2}}, {{factors}})",
        dtypes=_PRODUCTS,
        rank={"addmv": (1, 1), "baddbmm": (3, 3)}.get(_name, (2, 2)),
        exact=True,
        inplace=[f"{{0}}.{_name}_({{1}}, {{2}}, {{factors}})"],
        out=[f"torch.{_name}({{0}}, {{1}}, {{2}}, out={{out}}, {{factors}})"],
        name_hint="added",
    )
    def add_product(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """A tensor that may broadcast plus a product, each scaled by a number."""
        size = out.shape
        k = _inner(draw, out)
        if _name == "addmv":
            k = 1 if k == 0 else k  # torch 2.13 does not broadcast the first operand where the inner size is 0
            return _scaled(draw, out, (*size, k), (k,), k)
        if _name == "addr":
            return _scaled(draw, out, size[:1], size[1:], 1)
        if _name == "baddbmm":
            return _scaled(draw, out, (*size[:2], k), (size[0], k, size[2]), k)
        if _name == "addmm":
            return _scaled(draw, out, (size[0], k), (k, size[1]), k)
        b = draw.size(5)
        k = 3 if isinstance(k, Dim) else k
        first, second = (b, size[0], k), (b, k, size[1])
        return _scaled(draw, out, first, second, b * k)


_PATTERNS = {
    0: ("i,i->", "ij,ij->", "ij,ji->", "i,ij,j->"),
    1: ("ij,j->i", "ij,ij->i", "ij,i->j", "i,i->i", "ijk,jk->i", "bij,bij->b", "ii,i->i"),
    2: ("ij,jk->ik", "ij,kj->ik", "i,j->ij", "ij,ij->ij", "ij,jk,kl->il", "bij,bj->bi", "ij,jk->ki", "bi,bij->bj"),
    3: ("bij,bjk->bik", "bij,bkj->bik", "bij,jk->bik", "i,j,k->ijk", "bih,bjh->bij", "ij,jkl->ikl", "bij,bjk->kib"),
    4: ("bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "bhqk,bhkd->bqhd", "ij,kl->ijkl", "abij,jk->abik", "bhqk,bkhd->bhqd"),
    5: ("abcij,jk->abcik", "abij,abjk,c->abcik"),
}
_DOTTED = {1: "...i,...i->...", 2: "...ij,...j->...i", 3: "...ij,...jk->...ik", 4: "...ij,jk->...ik"}


@_linalg("torch.einsum", dtypes=(*FLOATS, "int64", "complex64"), exact=True, dense=False, name_hint="product", weight=2)
def einsum(draw: Draw, out: Spec) -> Needs:
    """Products summed over dimensions, in Einstein notation."""
    k = _inner(draw, out)
    if out.rank in _DOTTED and draw.chance(0.2):
        batch = {1: out.shape, 2: out.shape[:-1], 3: out.shape[:-2], 4: out.shape[:-2]}[out.rank]
        ends = out.shape[len(batch) :]
        left = (*batch, *ends[:1], k)
        right = {1: (*batch, k), 2: (*batch, k), 3: (*batch, k, *ends[1:]), 4: (k, *ends[1:])}[out.rank]
        needs = _product(draw, out, left, right, k)
        return _in_form(needs, f'torch.einsum("{_DOTTED[out.rank]}", {{0}}, {{1}})')
    pattern = draw.choice(_PATTERNS[out.rank])
    inputs, output = pattern.split("->")
    sizes = dict(zip(output, out.shape, strict=True))
    count = 1
    for letter in dict.fromkeys(inputs.replace(",", "")):
        if letter not in sizes:
            sizes[letter] = k if count == 1 else draw.size(5)
            count *= most(sizes[letter])
    specs = [_sane(out.of(*(sizes[letter] for letter in one))) for one in inputs.split(",")]
    if any(spec.numel > _ROOM for spec in specs):
        raise UnsatisfiableSpec("too large")
    holes = ", ".join(f"{{{number}}}" for number in range(len(specs)))
    pattern = pattern.replace(",", ", ") if draw.chance(0.3) else pattern
    values = lambda *ranges: _summed(count, *ranges, is_complex=out.is_complex)  # noqa: E731
    return Needs(*specs, values=values, forms=[f'torch.einsum("{pattern}", {holes})'])


def _in_form(needs: Needs, form: str) -> Needs:
    return Needs(*needs.inputs, values=needs.values, forms=[form])


@_linalg("torch.einsum.one", dtypes=(*FLOATS, "int64"), rank=(0, 3), exact=True, view=True, name_hint="h")
def einsum_of_one(draw: Draw, out: Spec) -> Needs:
    """Dimensions of one tensor reordered, summed over, or taken along the diagonal."""
    patterns = (
        ("ij->", "ii->"),
        ("ij->i", "ij->j", "ii->i", "ijk->j"),
        ("ij->ji", "bij->bj", "iij->ij"),
        ("bij->bji", "bij->jib"),
    )
    pattern = draw.choice(patterns[out.rank])
    inputs, output = pattern.split("->")
    sizes = dict(zip(output, out.shape, strict=True))
    count = 1
    for letter in dict.fromkeys(inputs):
        if letter not in sizes:
            sizes[letter] = draw.size(9)
            count *= sizes[letter]
    operand = _sane(out.of(*(sizes[letter] for letter in inputs)))
    values = (lambda x: x) if count == 1 else (lambda x: x.times(count))
    return Needs(operand, values=values, forms=[f'torch.einsum("{pattern}", {{0}})'])


@_linalg("torch.tensordot", dtypes=(*FLOATS, "int64"), exact=True, name_hint="product")
def tensordot(draw: Draw, out: Spec) -> Needs:
    """Over the last dimensions of one and the first of the other, or over named dimensions."""
    cut = draw.integer(0, out.rank)
    left, right = out.shape[:cut], out.shape[cut:]
    k = _inner(draw, out)
    form = draw.choice(("one", "two", "named"))
    if form == "two" and not isinstance(k, Dim) and max(len(left), len(right)) < 4:
        j = draw.size(4)
        needs = _product(draw, out, (*left, k, j), (k, j, *right), k * j)
        return _in_form(needs, draw.choice(("torch.tensordot({0}, {1})", "torch.tensordot({0}, {1}, dims=2)")))
    if form == "named" and max(len(left), len(right)) < 5:
        needs = _product(draw, out, (k, *left), (*right, k), k)
        return _in_form(needs, f"torch.tensordot({{0}}, {{1}}, dims=([0], [{draw.choice((-1, len(right)))}]))")
    return _in_form(_product(draw, out, (*left, k), (k, *right), k), "torch.tensordot({0}, {1}, dims=1)")


_COPIES = ", ".join(f"{{{i}}}.clone(memory_format=torch.contiguous_format)" for i in (0, 1))
"""Contiguous tensors whose dimensions of size 1 have strides in order too."""


@_linalg("torch.kron", f"torch.kron({_COPIES})", dtypes=(*FLOATS, "int64"), rank=(1, 3), exact=True)
def kron(draw: Draw, out: Spec) -> Needs:
    """The Kronecker product, of contiguous copies: for tensors with other strides eager may raise."""
    first = [
        1 if isinstance(n, Dim) or n == 0 else draw.choice([d for d in range(1, n + 1) if n % d == 0])
        for n in out.shape
    ]
    second = [n if one == 1 else n // one for n, one in zip(out.shape, first, strict=True)]
    if draw.chance(0.5):
        first, second = second, first
    return _product(draw, out, first, second, 1)


@_linalg(
    "torch.linalg.cross",
    "torch.linalg.cross({0}, {1}, dim={dim})",
    "torch.cross({0}, {1}, dim={dim})",
    "{0}.cross({1}, dim={dim})",
    dtypes=(*FLOATS, "int64"),
    rank=(1, 5),
    exact=True,
)
def cross(draw: Draw, out: Spec) -> Needs:
    """The cross product of vectors."""
    axis = draw.choice([axis for axis, n in enumerate(out.shape) if n == 3])
    operand = _sane(out.free())
    values = lambda x, y: (x * y).times(2) - (x * y)  # noqa: E731
    return Needs(operand, operand, values=values, dim=draw.signed_axis(axis, out.rank))


@_linalg("torch.linalg.vecdot", dtypes=(*FLOATS, "complex64"), rank=(0, 4), exact=True, name_hint="product")
def vecdot(draw: Draw, out: Spec) -> Needs:
    """The dot product of vectors along a dimension."""
    k, axis = _inner(draw, out), draw.integer(0, out.rank)
    size = (*out.shape[:axis], k, *out.shape[axis:])
    needs = _product(draw, out, size, size, k)
    dim = draw.signed_axis(axis, len(size))
    if axis == out.rank and draw.chance(0.5):
        return _in_form(needs, "torch.linalg.vecdot({0}, {1})")
    return _in_form(needs, f"torch.linalg.vecdot({{0}}, {{1}}, dim={dim})")


@_linalg("torch.linalg.multi_dot", dtypes=WIDE, rank=(0, 2), name_hint="product")
def multi_dot(draw: Draw, out: Spec) -> Needs:
    """The product of three or four matrices; the first and the last may be vectors."""
    inner = [draw.size(9) for _ in range(draw.integer(2, 3))]
    ends = {0: ((), ()), 1: draw.choice(((out.shape, ()), ((), out.shape))), 2: (out.shape[:1], out.shape[1:])}
    if out.rank not in ends:
        raise UnsatisfiableSpec("no such product")
    before, after = ends[out.rank]
    sizes = [(*before, inner[0]), *itertools.pairwise(inner), (inner[-1], *after)]
    specs = [out.of(*size).within(-8.0, 8.0) for size in sizes]
    holes = ", ".join(f"{{{number}}}" for number in range(len(specs)))
    forms = [f"torch.linalg.multi_dot([{holes}])"]
    if out.rank == 2:
        forms += [" @ ".join(f"{{{number}}}" for number in range(len(specs))), f"torch.chain_matmul({holes})"]
    values = lambda *ranges: _summed(math.prod(inner), *ranges)  # noqa: E731
    return Needs(*specs, values=values, forms=forms)
