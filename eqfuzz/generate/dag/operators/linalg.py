"""Products of matrices and vectors, and what is computed of matrices that are far from singular."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import FLOATS, WIDE, Dim, Range, Spec, Unfit, most

_PRODUCTS = (*FLOATS, "int64", "int32", "complex64")
"""What matrices may be of that are multiplied."""

_ROOM = 8192


def _sane(spec: Spec) -> Spec:
    """Of floats, those whose products can be added up in any order."""
    return spec.within(-64.0, 64.0) if spec.is_float else spec


def _inner(draw: Draw, out: Spec) -> int:
    """A dimension that is summed over, at times one of a size that changes."""
    dims = [n for n in out.shape if isinstance(n, Dim)]
    if dims and draw.chance(0.3):
        return draw.choice(dims)
    if out.numel <= 256 and draw.chance(0.12):
        return draw.choice((0, 31, 32, 33, 64, 65, 128))
    return draw.size() if out.numel * 17 <= _ROOM else 3


def _summed(count: int, *ranges: Range, is_complex: bool = False) -> Range:
    """Sums of products of so many elements."""
    got = ranges[0]
    for other in ranges[1:]:
        got = got * other * Range(2, 2, exact=True) if is_complex else got * other
    got = Range(-got.most, got.most, got.exact, got.wild) if is_complex else got
    return got.times(most(count))


def _product(draw: Draw, out: Spec, first: Sequence[int], second: Sequence[int], inner: int) -> Needs:
    values = lambda x, y: _summed(inner, x, y, is_complex=out.is_complex)  # noqa: E731
    return Needs(_sane(out.of(*first)), _sane(out.of(*second)), values=values)


@operator(
    "torch.mm",
    "torch.mm({0}, {1})",
    "{0}.mm({1})",
    "{0} @ {1}",
    dtypes=_PRODUCTS,
    rank=(2, 2),
    exact=True,
    out=["torch.mm({0}, {1}, out={out})"],
    noun="product",
    weight=2,
)
def mm(draw: Draw, out: Spec) -> Needs:
    """Two matrices."""
    k = _inner(draw, out)
    return _product(draw, out, (out.shape[0], k), (k, out.shape[1]), k)


@operator(
    "torch.mm.transposed",
    "{0} @ {1}.t()",
    "torch.mm({0}, {1}.T)",
    "torch.mm({0}, {1}.transpose(0, 1))",
    "torch.matmul({0}, {1}.mT)",
    dtypes=_PRODUCTS,
    rank=(2, 2),
    exact=True,
    noun="product",
)
def mm_transposed(draw: Draw, out: Spec) -> Needs:
    """A matrix and one that is turned on its side."""
    k = _inner(draw, out)
    return _product(draw, out, (out.shape[0], k), (out.shape[1], k), k)


@operator(
    "torch.bmm",
    "torch.bmm({0}, {1})",
    "{0}.bmm({1})",
    "{0} @ {1}",
    dtypes=_PRODUCTS,
    rank=(3, 3),
    exact=True,
    out=["torch.bmm({0}, {1}, out={out})"],
    noun="product",
)
def bmm(draw: Draw, out: Spec) -> Needs:
    """Matrices in pairs."""
    k = _inner(draw, out)
    b, m, n = out.shape
    return _product(draw, out, (b, m, k), (b, k, n), k)


@operator(
    "torch.matmul",
    "torch.matmul({0}, {1})",
    "{0} @ {1}",
    "{0}.matmul({1})",
    dtypes=_PRODUCTS,
    exact=True,
    noun="product",
    weight=3,
)
def matmul(draw: Draw, out: Spec) -> Needs:
    """Vectors, matrices and batches of them, which broadcast."""
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


@operator(
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

    @operator(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{1}})",
        f"{{0}}.{_name}({{1}})",
        dtypes=_PRODUCTS,
        rank=(0, 0 if _name != "inner" else 4),
        exact=True,
        noun="product",
    )
    def dot(draw: Draw, out: Spec) -> Needs:
        """Two vectors; inner also takes all pairs of rows of two tensors."""
        k = _inner(draw, out)
        cut = draw.integer(0, out.rank)
        return _product(draw, out, (*out.shape[:cut], k), (*out.shape[cut:], k), k)


@operator(
    "torch.outer",
    "torch.outer({0}, {1})",
    "{0}.outer({1})",
    "torch.ger({0}, {1})",
    dtypes=_PRODUCTS,
    rank=(2, 2),
    exact=True,
)
def outer(draw: Draw, out: Spec) -> Needs:
    """All products of two vectors' elements."""
    return _product(draw, out, out.shape[:1], out.shape[1:], 1)


def _scaled(draw: Draw, out: Spec, first: Sequence[int], second: Sequence[int], inner: int) -> Needs:
    """A product added to a tensor that may broadcast, with factors."""
    plain = _product(draw, out, first, second, inner)
    added = draw.broadcast(out).free()
    factors = (1, 1, 2, -1) if out.exact or not out.is_float else (1, 1, 0.5, 2, -1.5)
    beta, alpha = draw.choice((*factors, 0)), draw.choice(factors)
    said, scaled = Range(beta, beta, exact=True), Range(alpha, alpha, exact=True)

    def values(c: Range, x: Range, y: Range) -> Range:
        return c * said + _summed(inner, x, y, is_complex=out.is_complex) * scaled

    words = [f"beta={beta}"] * (beta != 1) + [f"alpha={alpha}"] * (alpha != 1)
    return Needs(added, *plain.inputs, values=values, factors=", ".join(words))


for _name in ("addmm", "addmv", "addr", "addbmm", "baddbmm"):

    @operator(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{1}}, {{2}}, {{factors}})",
        f"{{0}}.{_name}({{1}}, {{2}}, {{factors}})",
        dtypes=_PRODUCTS,
        rank={"addmv": (1, 1), "baddbmm": (3, 3)}.get(_name, (2, 2)),
        exact=True,
        inplace=[f"{{0}}.{_name}_({{1}}, {{2}}, {{factors}})"],
        out=[f"torch.{_name}({{0}}, {{1}}, {{2}}, out={{out}}, {{factors}})"],
        noun="added",
    )
    def add_product(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """A tensor that may broadcast plus a product, each times a number."""
        size = out.shape
        k = _inner(draw, out)
        if _name == "addmv":
            k = 1 if k == 0 else k  # torch 2.13 leaves the first operand unbroadcast where nothing is summed
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


@operator("torch.einsum", dtypes=(*FLOATS, "int64", "complex64"), exact=True, dense=False, noun="product", weight=2)
def einsum(draw: Draw, out: Spec) -> Needs:
    """Products summed over dimensions, as letters say it."""
    k = _inner(draw, out)
    if out.rank in _DOTTED and draw.chance(0.2):
        batch = {1: out.shape, 2: out.shape[:-1], 3: out.shape[:-2], 4: out.shape[:-2]}[out.rank]
        ends = out.shape[len(batch) :]
        left = (*batch, *ends[:1], k)
        right = {1: (*batch, k), 2: (*batch, k), 3: (*batch, k, *ends[1:]), 4: (k, *ends[1:])}[out.rank]
        needs = _product(draw, out, left, right, k)
        return _spelled(needs, f'torch.einsum("{_DOTTED[out.rank]}", {{0}}, {{1}})')
    pattern = draw.choice(_PATTERNS[out.rank])
    given, made = pattern.split("->")
    sizes = dict(zip(made, out.shape, strict=True))
    count = 1
    for letter in dict.fromkeys(given.replace(",", "")):
        if letter not in sizes:
            sizes[letter] = k if count == 1 else draw.size(5)
            count *= most(sizes[letter])
    specs = [_sane(out.of(*(sizes[letter] for letter in one))) for one in given.split(",")]
    if any(spec.numel > _ROOM for spec in specs):
        raise Unfit("too large")
    holes = ", ".join(f"{{{number}}}" for number in range(len(specs)))
    pattern = pattern.replace(",", ", ") if draw.chance(0.3) else pattern
    values = lambda *ranges: _summed(count, *ranges, is_complex=out.is_complex)  # noqa: E731
    return Needs(*specs, values=values, spellings=[f'torch.einsum("{pattern}", {holes})'])


def _spelled(needs: Needs, form: str) -> Needs:
    return Needs(*needs.inputs, values=needs.values, spellings=[form])


@operator("torch.einsum.one", dtypes=(*FLOATS, "int64"), rank=(0, 3), exact=True, view=True, noun="h")
def einsum_of_one(draw: Draw, out: Spec) -> Needs:
    """Dimensions of one tensor reordered, summed over, or taken along the diagonal."""
    patterns = (
        ("ij->", "ii->"),
        ("ij->i", "ij->j", "ii->i", "ijk->j"),
        ("ij->ji", "bij->bj", "iij->ij"),
        ("bij->bji", "bij->jib"),
    )
    pattern = draw.choice(patterns[out.rank])
    given, made = pattern.split("->")
    sizes = dict(zip(made, out.shape, strict=True))
    count = 1
    for letter in dict.fromkeys(given):
        if letter not in sizes:
            sizes[letter] = draw.size(9)
            count *= sizes[letter]
    asked = _sane(out.of(*(sizes[letter] for letter in given)))
    values = (lambda x: x) if count == 1 else (lambda x: x.times(count))
    return Needs(asked, values=values, spellings=[f'torch.einsum("{pattern}", {{0}})'])


@operator("torch.tensordot", dtypes=(*FLOATS, "int64"), exact=True, noun="product")
def tensordot(draw: Draw, out: Spec) -> Needs:
    """Over the last dimensions of one and the first of the other, or over dimensions that are named."""
    cut = draw.integer(0, out.rank)
    left, right = out.shape[:cut], out.shape[cut:]
    k = _inner(draw, out)
    form = draw.choice(("one", "two", "named"))
    if form == "two" and not isinstance(k, Dim) and max(len(left), len(right)) < 4:
        j = draw.size(4)
        needs = _product(draw, out, (*left, k, j), (k, j, *right), k * j)
        return _spelled(needs, draw.choice(("torch.tensordot({0}, {1})", "torch.tensordot({0}, {1}, dims=2)")))
    if form == "named" and max(len(left), len(right)) < 5:
        needs = _product(draw, out, (k, *left), (*right, k), k)
        return _spelled(needs, f"torch.tensordot({{0}}, {{1}}, dims=([0], [{draw.choice((-1, len(right)))}]))")
    return _spelled(_product(draw, out, (*left, k), (k, *right), k), "torch.tensordot({0}, {1}, dims=1)")


@operator("torch.kron", "torch.kron({0}, {1})", dtypes=(*FLOATS, "int64"), rank=(1, 3), exact=True)
def kron(draw: Draw, out: Spec) -> Needs:
    """Every product, as blocks; tensors that are not contiguous can raise."""
    first = [
        1 if isinstance(n, Dim) or n == 0 else draw.choice([d for d in range(1, n + 1) if n % d == 0])
        for n in out.shape
    ]
    second = [n if one == 1 else n // one for n, one in zip(out.shape, first, strict=True)]
    if draw.chance(0.5):
        first, second = second, first
    needs = _product(draw, out, first, second, 1)
    return Needs(*(spec.dense() for spec in needs.inputs), values=needs.values)


@operator(
    "torch.linalg.cross",
    "torch.linalg.cross({0}, {1}, dim={dim})",
    "torch.cross({0}, {1}, dim={dim})",
    "{0}.cross({1}, dim={dim})",
    dtypes=(*FLOATS, "int64"),
    rank=(1, 5),
    exact=True,
)
def cross(draw: Draw, out: Spec) -> Needs:
    """Vectors at right angles to two others."""
    axis = draw.choice([axis for axis, n in enumerate(out.shape) if n == 3])
    given = _sane(out.free())
    values = lambda x, y: (x * y).times(2) - (x * y)  # noqa: E731
    return Needs(given, given, values=values, dim=draw.spelled(axis, out.rank))


@operator("torch.linalg.vecdot", dtypes=(*FLOATS, "complex64"), rank=(0, 4), exact=True, noun="product")
def vecdot(draw: Draw, out: Spec) -> Needs:
    """Vectors in pairs along a dimension."""
    k, axis = _inner(draw, out), draw.integer(0, out.rank)
    size = (*out.shape[:axis], k, *out.shape[axis:])
    needs = _product(draw, out, size, size, k)
    dim = draw.spelled(axis, len(size))
    if axis == out.rank and draw.chance(0.5):
        return _spelled(needs, "torch.linalg.vecdot({0}, {1})")
    return _spelled(needs, f"torch.linalg.vecdot({{0}}, {{1}}, dim={dim})")


@operator("torch.linalg.multi_dot", dtypes=WIDE, rank=(0, 2), noun="product")
def multi_dot(draw: Draw, out: Spec) -> Needs:
    """Three or four matrices in a row; the first and the last may be vectors."""
    inner = [draw.size(9) for _ in range(draw.integer(2, 3))]
    ends = {0: ((), ()), 1: draw.choice(((out.shape, ()), ((), out.shape))), 2: (out.shape[:1], out.shape[1:])}
    if out.rank not in ends:
        raise Unfit("no such product")
    before, after = ends[out.rank]
    sizes = [(*before, inner[0]), *itertools.pairwise(inner), (inner[-1], *after)]
    specs = [out.of(*size).within(-8.0, 8.0) for size in sizes]
    holes = ", ".join(f"{{{number}}}" for number in range(len(specs)))
    forms = [f"torch.linalg.multi_dot([{holes}])"]
    if out.rank == 2:
        forms += [" @ ".join(f"{{{number}}}" for number in range(len(specs))), f"torch.chain_matmul({holes})"]
    values = lambda *ranges: _summed(math.prod(inner), *ranges)  # noqa: E731
    return Needs(*specs, values=values, spellings=forms)


def _square(out: Spec) -> int:
    """The size of square matrices. Raises Unfit where they are not square, or large."""
    if out.rank < 2 or out.shape[-1] != out.shape[-2] or not 1 <= most(out.shape[-1]) <= 16:
        raise Unfit("no small square matrix")
    return out.shape[-1]


@operator(
    "torch.linalg.matrix_power",
    "torch.linalg.matrix_power({0}, {n})",
    "torch.matrix_power({0}, {n})",
    "{0}.matrix_power({n})",
    dtypes=WIDE,
    rank=(2, 4),
)
def matrix_power(draw: Draw, out: Spec) -> Needs:
    """A square matrix times itself."""
    k, n = _square(out), draw.choice((2, 3, 0, 4))
    bound = float(max(1, most(k)) ** max(0, n - 1))
    return Needs(out.within(-1.0, 1.0), values=Range(-bound, bound), n=n)


@operator("torch.linalg.matrix_norm", dtypes=FLOATS, rank=(0, 3), noun="length")
def matrix_norm(draw: Draw, out: Spec) -> Needs:
    """The root of the sum of squares, or the largest sum of a row or a column."""
    order = draw.choice(("", "", 'ord="fro"', "ord=1", "ord=float('inf')"))
    if out.dtype not in WIDE and order.endswith(("1", ")")):
        order = ""
    n, m = draw.size(), draw.size()
    asked = out.of(*out.shape, n, m).within(-64.0, 64.0)
    form = f"torch.linalg.matrix_norm({{0}}, {order})"
    return Needs(asked, values=lambda x: Range(0, x.most * max((n * m) ** 0.5, n, m) * 1.01), spellings=[form])


@operator("torch.cdist", dtypes=WIDE, rank=(2, 4), noun="distance")
def cdist(draw: Draw, out: Spec) -> Needs:
    """Between all pairs of rows, without the detour over products that rounds more."""
    k = draw.size(9)
    batch, (m, n) = out.shape[:-2], out.shape[-2:]
    p = draw.choice(("", "", ", p=1.0", ", p=3.0"))
    form = f'torch.cdist({{0}}, {{1}}{p}, compute_mode="donot_use_mm_for_euclid_dist")'
    given = out.of(*batch, m, k).within(-16.0, 16.0), out.of(*batch, n, k).within(-16.0, 16.0)
    return Needs(*given, values=lambda x, y: Range(0, (x.most + y.most) * k), spellings=[form])


@operator("torch.linalg.vander", "torch.linalg.vander({0}, N={n})", dtypes=(*WIDE, "int64"), rank=(2, 4))
def vander(draw: Draw, out: Spec) -> Needs:
    """Powers of each element."""
    return _powers(out)


@operator(
    "torch.vander",
    "torch.vander({0}, {n})",
    "torch.vander({0}, N={n}, increasing=True)",
    dtypes=(*WIDE, "int64"),
    rank=(2, 2),
    grad=False,
)
def vander_of_vector(draw: Draw, out: Spec) -> Needs:
    """Powers of a vector's elements, falling or rising; its backward pass raises."""
    return _powers(out)


def _powers(out: Spec) -> Needs:
    n = out.shape[-1]
    if isinstance(n, Dim) or n < 2 or n > 17:
        raise Unfit("no such powers")
    given = (
        out.of(*out.shape[:-1]).within(-2, 2) if out.dtype == "int64" else out.of(*out.shape[:-1]).within(-1.25, 1.25)
    )
    if out.shape[-2] == 0:
        raise Unfit("empty")
    bound = 2.0 ** (n - 1) if out.dtype == "int64" else 1.25 ** (n - 1)
    return Needs(given, values=Range(-bound, bound), n=n)


@operator("torch.cov", dtypes=WIDE, rank=(0, 2), noun="covariance")
def cov(draw: Draw, out: Spec) -> Needs:
    """Of variables observed some times, corrected or not."""
    n = draw.integer(2, 12)
    if out.rank == 1 or (out.rank == 2 and out.shape[0] != out.shape[1]) or out.numel == 0 or out.numel > 1024:
        raise Unfit("no square matrix")
    if out.rank == 2 and most(out.shape[0]) == 1:
        raise Unfit("one variable gives no matrix")
    given = out.of(n).within(-16.0, 16.0) if out.rank == 0 else out.of(out.shape[0], n).within(-16.0, 16.0)
    forms = ("torch.cov({0})", "{0}.cov()", "torch.cov({0}, correction=0)")
    return Needs(given, values=lambda x: Range(-((x.high - x.low) ** 2), (x.high - x.low) ** 2), spellings=forms)


@operator("torch.corrcoef", dtypes=WIDE, rank=(2, 2), noun="correlation")
def corrcoef(draw: Draw, out: Spec) -> Needs:
    """Of variables whose observations differ."""
    k, n = _square(out), draw.integer(3, 12)
    if most(k) < 2:
        raise Unfit("one variable gives no matrix")
    given = dataclasses.replace(out.of(k, n), distinct=True)
    return Needs(given, values=Range(-1.01, 1.01), spellings=("torch.corrcoef({0})", "{0}.corrcoef()"))


def _definite(draw: Draw, out: Spec, hole: str, k: int) -> str:
    """A symmetric matrix without eigenvalues below 3, of any square one."""
    eye = f"torch.eye({k})" if out.dtype == "float32" else f"torch.eye({k}, dtype=torch.{out.dtype})"
    other = draw.choice((f"{hole}.mT", f"{hole}.transpose(-2, -1)"))
    return f"({hole} @ {other} + {draw.choice((3, 4))} * {eye})"


def _matrix(out: Spec, batch: Sequence[int], k: int) -> Spec:
    return out.of(*batch, k, k).within(-1.0, 1.0)


@operator("torch.linalg.inv", dtypes=WIDE, rank=(2, 4), dense=False, noun="inverse")
def inv(draw: Draw, out: Spec) -> Needs:
    """Of positive definite matrices."""
    k = _square(out)
    definite = _definite(draw, out, "{0}", k)
    forms = (f"torch.linalg.inv{definite}", f"torch.inverse{definite}", f"torch.linalg.inv_ex{definite}.inverse")
    return Needs(_matrix(out, out.shape[:-2], k), values=Range(-0.4, 0.4), spellings=forms)


@operator("torch.linalg.cholesky", dtypes=WIDE, rank=(2, 4), dense=False, noun="factor")
def cholesky(draw: Draw, out: Spec) -> Needs:
    """Of positive definite matrices."""
    k = _square(out)
    definite = _definite(draw, out, "{0}", k)
    forms = (f"torch.linalg.cholesky{definite}", f"torch.linalg.cholesky({definite}, upper=True)")
    bound = (4.0 + most(k)) ** 0.5 + 0.1
    return Needs(_matrix(out, out.shape[:-2], k), values=Range(-bound, bound), spellings=forms)


@operator("torch.linalg.solve", dtypes=WIDE, rank=(2, 4), dense=False, noun="solution")
def solve(draw: Draw, out: Spec) -> Needs:
    """Linear equations with a positive definite matrix."""
    k, definite = _equations(draw, out)
    forms = [f"torch.linalg.solve({definite}, {{1}})"]
    forms.append(f"torch.cholesky_solve({{1}}, torch.linalg.cholesky({definite}))")
    values = lambda a, b: Range(-b.most * most(k) ** 0.5, b.most * most(k) ** 0.5)  # noqa: E731
    return Needs(_matrix(out, out.shape[:-2], k), out.free().within(-64.0, 64.0), values=values, spellings=forms)


@operator("torch.linalg.solve_triangular", dtypes=WIDE, rank=(2, 4), dense=False, noun="solution")
def solve_triangular(draw: Draw, out: Spec) -> Needs:
    """Linear equations with a triangular matrix whose diagonal is large."""
    k, _ = _equations(draw, out)
    if most(k) > 9:
        raise Unfit("too large")
    upper = draw.chance(0.5)
    eye = f"torch.eye({k}, dtype=torch.{out.dtype})"
    matrix = f"{{0}}.{'triu' if upper else 'tril'}() + 4 * {eye}"
    values = lambda a, b: Range(-b.most * 10, b.most * 10)  # noqa: E731
    form = f"torch.linalg.solve_triangular({matrix}, {{1}}, upper={upper})"
    return Needs(_matrix(out, out.shape[:-2], k), out.free().within(-64.0, 64.0), values=values, spellings=[form])


def _equations(draw: Draw, out: Spec) -> tuple[int, str]:
    """How many equations there are, and the matrix. Raises Unfit for none, and for many."""
    k = out.shape[-2]
    if not 1 <= most(k) <= 16 or out.numel == 0:
        raise Unfit("no equations, or too many")
    return k, _definite(draw, out, "{0}", k)


for _name, _part in (("det", ""), ("slogdet", ".logabsdet"), ("logdet", "")):

    @operator(f"torch.linalg.{_name}" if _name != "logdet" else "torch.logdet", dtypes=WIDE, rank=(0, 3), noun="volume")
    def determinant(draw: Draw, out: Spec, _name: str = _name, _part: str = _part) -> Needs:
        """Of positive definite matrices, or its logarithm."""
        k = draw.integer(1, 4)
        definite = _definite(draw, out, "{0}", k)
        forms = [f"torch.{_name}{definite}{_part}"]
        if _name != "logdet":
            forms.append(f"torch.linalg.{_name}{definite}{_part}")
        values = Range(1, 8.0**k) if _name == "det" else Range(0, 2.1 * k)
        return Needs(_matrix(out, out.shape, k), values=values, spellings=forms)


for _name, _low in (("eigvalsh", 2.9), ("svdvals", 0.0)):

    @operator(f"torch.linalg.{_name}", dtypes=WIDE, rank=(1, 3), grad=False, noun="spectrum")
    def spectrum(draw: Draw, out: Spec, _name: str = _name, _low: float = _low) -> Needs:
        """Of symmetric matrices; where two values are equal, the gradient is anybody's."""
        k = out.shape[-1]
        if isinstance(k, Dim) or not 1 <= k <= 12 or out.numel == 0:
            raise Unfit("no small matrix")
        form = f"torch.linalg.{_name}{_definite(draw, out, '{0}', k)}"
        return Needs(_matrix(out, out.shape[:-1], k), values=Range(_low, k * k + 4.1), spellings=[form])


@operator(
    "torch.linalg.matrix_exp",
    "torch.linalg.matrix_exp({0})",
    "torch.matrix_exp({0})",
    dtypes=WIDE,
    rank=(2, 4),
    dense=False,
)
def matrix_exp(draw: Draw, out: Spec) -> Needs:
    """Of small square matrices; batches that are not contiguous raise."""
    k = _square(out)
    if most(k) > 6 or out.numel == 0:
        raise Unfit("too large")
    return Needs(out.within(-0.5, 0.5).dense(), values=Range(-21, 21))


@operator("torch.linalg.pinv", dtypes=WIDE, rank=(2, 3), dense=False, noun="inverse")
def pinv(draw: Draw, out: Spec) -> Needs:
    """Of positive definite matrices, where it is the inverse."""
    k = _square(out)
    if isinstance(k, Dim) or out.numel == 0:
        raise Unfit("empty")
    form = f"torch.linalg.pinv({_definite(draw, out, '{0}', k)}, hermitian={draw.chance(0.5)})"
    return Needs(_matrix(out, out.shape[:-2], k), values=Range(-0.5, 0.5), spellings=[form])
