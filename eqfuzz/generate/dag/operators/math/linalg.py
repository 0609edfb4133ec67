"""Linear algebra of well-conditioned matrices: norms, inverses, solutions, spectra."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Dim, Range, Spec, UnsatisfiableSpec, most


def _square(out: Spec) -> int:
    """The size of square matrices. Raises UnsatisfiableSpec where they are not square, or large."""
    if out.rank < 2 or out.shape[-1] != out.shape[-2] or not 1 <= most(out.shape[-1]) <= 16:
        raise UnsatisfiableSpec("no small square matrix")
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
    """A power of a square matrix."""
    k, n = _square(out), draw.choice((2, 3, 0, 4))
    bound = float(max(1, most(k)) ** max(0, n - 1))
    return Needs(out.within(-1.0, 1.0), values=Range(-bound, bound), n=n)


@operator("torch.linalg.matrix_norm", dtypes=FLOATS, rank=(0, 3), name_hint="length")
def matrix_norm(draw: Draw, out: Spec) -> Needs:
    """The Frobenius norm, or the largest sum of a row or a column."""
    order = draw.choice(("", "", 'ord="fro"', "ord=1", "ord=float('inf')"))
    if out.dtype not in WIDE and order.endswith(("1", ")")):
        order = ""
    n, m = draw.size(), draw.size()
    operand = out.of(*out.shape, n, m).within(-64.0, 64.0)
    form = f"torch.linalg.matrix_norm({{0}}, {order})"
    return Needs(operand, values=lambda x: Range(0, x.most * max((n * m) ** 0.5, n, m) * 1.01), forms=[form])


@operator("torch.cdist", dtypes=WIDE, rank=(2, 4), name_hint="distance")
def cdist(draw: Draw, out: Spec) -> Needs:
    """Distances of all pairs of rows, without the formula by products, which rounds more."""
    k = draw.size(9)
    batch, (m, n) = out.shape[:-2], out.shape[-2:]
    p = draw.choice(("", "", ", p=1.0", ", p=3.0"))
    form = f'torch.cdist({{0}}, {{1}}{p}, compute_mode="donot_use_mm_for_euclid_dist")'
    operands = out.of(*batch, m, k).within(-16.0, 16.0), out.of(*batch, n, k).within(-16.0, 16.0)
    return Needs(*operands, values=lambda x, y: Range(0, (x.most + y.most) * k), forms=[form])


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
    """Powers of the elements of a vector, descending or ascending; its backward pass raises."""
    return _powers(out)


def _powers(out: Spec) -> Needs:
    n = out.shape[-1]
    if isinstance(n, Dim) or n < 2 or n > 17:
        raise UnsatisfiableSpec("no such powers")
    operand = (
        out.of(*out.shape[:-1]).within(-2, 2) if out.dtype == "int64" else out.of(*out.shape[:-1]).within(-1.25, 1.25)
    )
    if out.shape[-2] == 0:
        raise UnsatisfiableSpec("empty")
    bound = 2.0 ** (n - 1) if out.dtype == "int64" else 1.25 ** (n - 1)
    return Needs(operand, values=Range(-bound, bound), n=n)


@operator("torch.cov", dtypes=WIDE, rank=(0, 2), name_hint="covariance")
def cov(draw: Draw, out: Spec) -> Needs:
    """Of variables, with or without Bessel's correction."""
    n = draw.integer(2, 12)
    if out.rank == 1 or (out.rank == 2 and out.shape[0] != out.shape[1]) or out.numel == 0 or out.numel > 1024:
        raise UnsatisfiableSpec("no square matrix")
    if out.rank == 2 and most(out.shape[0]) == 1:
        raise UnsatisfiableSpec("one variable gives no matrix")
    operand = out.of(n).within(-16.0, 16.0) if out.rank == 0 else out.of(out.shape[0], n).within(-16.0, 16.0)
    forms = ("torch.cov({0})", "{0}.cov()", "torch.cov({0}, correction=0)")
    return Needs(operand, values=lambda x: Range(-((x.high - x.low) ** 2), (x.high - x.low) ** 2), forms=forms)


@operator("torch.corrcoef", dtypes=WIDE, rank=(2, 2), name_hint="correlation")
def corrcoef(draw: Draw, out: Spec) -> Needs:
    """Of variables with distinct observations."""
    k, n = _square(out), draw.integer(3, 12)
    if most(k) < 2:
        raise UnsatisfiableSpec("one variable gives no matrix")
    operand = dataclasses.replace(out.of(k, n), distinct=True)
    return Needs(operand, values=Range(-1.01, 1.01), forms=("torch.corrcoef({0})", "{0}.corrcoef()"))


def _definite(draw: Draw, out: Spec, hole: str, k: int) -> str:
    """An expression of a symmetric matrix with eigenvalues of at least 3, from any square matrix."""
    eye = f"torch.eye({k})" if out.dtype == "float32" else f"torch.eye({k}, dtype=torch.{out.dtype})"
    other = draw.choice((f"{hole}.mT", f"{hole}.transpose(-2, -1)"))
    return f"({hole} @ {other} + {draw.choice((3, 4))} * {eye})"


def _matrix(out: Spec, batch: Sequence[int], k: int) -> Spec:
    return out.of(*batch, k, k).within(-1.0, 1.0)


@operator("torch.linalg.inv", dtypes=WIDE, rank=(2, 4), dense=False, name_hint="inverse")
def inv(draw: Draw, out: Spec) -> Needs:
    """Of positive definite matrices."""
    k = _square(out)
    definite = _definite(draw, out, "{0}", k)
    forms = (f"torch.linalg.inv{definite}", f"torch.inverse{definite}", f"torch.linalg.inv_ex{definite}.inverse")
    return Needs(_matrix(out, out.shape[:-2], k), values=Range(-0.4, 0.4), forms=forms)


@operator("torch.linalg.cholesky", dtypes=WIDE, rank=(2, 4), dense=False, name_hint="factor")
def cholesky(draw: Draw, out: Spec) -> Needs:
    """Of positive definite matrices."""
    k = _square(out)
    definite = _definite(draw, out, "{0}", k)
    forms = (f"torch.linalg.cholesky{definite}", f"torch.linalg.cholesky({definite}, upper=True)")
    bound = (4.0 + most(k)) ** 0.5 + 0.1
    return Needs(_matrix(out, out.shape[:-2], k), values=Range(-bound, bound), forms=forms)


@operator("torch.linalg.solve", dtypes=WIDE, rank=(2, 4), dense=False, name_hint="solution")
def solve(draw: Draw, out: Spec) -> Needs:
    """Linear equations with a positive definite matrix."""
    k, definite = _equations(draw, out)
    forms = [f"torch.linalg.solve({definite}, {{1}})"]
    forms.append(f"torch.cholesky_solve({{1}}, torch.linalg.cholesky({definite}))")
    values = lambda a, b: Range(-b.most * most(k) ** 0.5, b.most * most(k) ** 0.5)  # noqa: E731
    return Needs(_matrix(out, out.shape[:-2], k), out.free().within(-64.0, 64.0), values=values, forms=forms)


@operator("torch.linalg.solve_triangular", dtypes=WIDE, rank=(2, 4), dense=False, name_hint="solution")
def solve_triangular(draw: Draw, out: Spec) -> Needs:
    """Linear equations with a triangular matrix whose diagonal is large."""
    k, _ = _equations(draw, out)
    if most(k) > 9:
        raise UnsatisfiableSpec("too large")
    upper = draw.chance(0.5)
    eye = f"torch.eye({k}, dtype=torch.{out.dtype})"
    matrix = f"{{0}}.{'triu' if upper else 'tril'}() + 4 * {eye}"
    values = lambda a, b: Range(-b.most * 10, b.most * 10)  # noqa: E731
    form = f"torch.linalg.solve_triangular({matrix}, {{1}}, upper={upper})"
    return Needs(_matrix(out, out.shape[:-2], k), out.free().within(-64.0, 64.0), values=values, forms=[form])


def _equations(draw: Draw, out: Spec) -> tuple[int, str]:
    """The number of equations, 1 to 16, and an expression of the matrix. Raises UnsatisfiableSpec for others."""
    k = out.shape[-2]
    if not 1 <= most(k) <= 16 or out.numel == 0:
        raise UnsatisfiableSpec("no equations, or too many")
    return k, _definite(draw, out, "{0}", k)


for _name, _part in (("det", ""), ("slogdet", ".logabsdet"), ("logdet", "")):

    @operator(
        f"torch.linalg.{_name}" if _name != "logdet" else "torch.logdet", dtypes=WIDE, rank=(0, 3), name_hint="volume"
    )
    def determinant(draw: Draw, out: Spec, _name: str = _name, _part: str = _part) -> Needs:
        """Of positive definite matrices, or its logarithm."""
        k = draw.integer(1, 4)
        definite = _definite(draw, out, "{0}", k)
        forms = [f"torch.{_name}{definite}{_part}"]
        if _name != "logdet":
            forms.append(f"torch.linalg.{_name}{definite}{_part}")
        values = Range(1, 8.0**k) if _name == "det" else Range(0, 2.1 * k)
        return Needs(_matrix(out, out.shape, k), values=values, forms=forms)


for _name, _low in (("eigvalsh", 2.9), ("svdvals", 0.0)):

    @operator(f"torch.linalg.{_name}", dtypes=WIDE, rank=(1, 3), grad=False, name_hint="spectrum")
    def spectrum(draw: Draw, out: Spec, _name: str = _name, _low: float = _low) -> Needs:
        """Of symmetric matrices; not differentiated, since the gradient is undefined for equal values."""
        k = out.shape[-1]
        if isinstance(k, Dim) or not 1 <= k <= 12 or out.numel == 0:
            raise UnsatisfiableSpec("no small matrix")
        form = f"torch.linalg.{_name}{_definite(draw, out, '{0}', k)}"
        return Needs(_matrix(out, out.shape[:-1], k), values=Range(_low, k * k + 4.1), forms=[form])


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
        raise UnsatisfiableSpec("too large")
    return Needs(out.within(-0.5, 0.5).dense(), values=Range(-21, 21))


@operator("torch.linalg.pinv", dtypes=WIDE, rank=(2, 3), dense=False, name_hint="inverse")
def pinv(draw: Draw, out: Spec) -> Needs:
    """Of positive definite matrices, where it is the inverse."""
    k = _square(out)
    if isinstance(k, Dim) or out.numel == 0:
        raise UnsatisfiableSpec("empty")
    form = f"torch.linalg.pinv({_definite(draw, out, '{0}', k)}, hermitian={draw.chance(0.5)})"
    return Needs(_matrix(out, out.shape[:-2], k), values=Range(-0.5, 0.5), forms=[form])
