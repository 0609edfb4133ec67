"""Calls of NumPy between ``.numpy()`` and ``torch.from_numpy``, which torch.compile traces as tensor operations."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import SIGNED, WIDE, Range, Spec, nonempty
from eqfuzz.generate.dag.values.value_bounds import longest

PLAIN = (*WIDE, "int64", "int32")
numpy_call = partial(operator, family="numpy", grad=False, saves=False)


def arrays(*calls: str) -> list[str]:
    """Forms of ``calls`` with the inputs converted to arrays, and the result to a tensor."""
    forms = []
    for call in calls:
        for number in range(4):
            call = call.replace(f"{{{number}}}", f"{{{number}}}.numpy()")
        forms += [f"torch.from_numpy({call})", f"torch.as_tensor({call})"]
    return forms


def numbers(*calls: str) -> list[str]:
    """Forms of ``calls`` whose result is a number."""
    return [text for text in arrays(*calls) if text.startswith("torch.as_tensor")]


@numpy_call(
    "numpy.linspace",
    "{0} + torch.from_numpy(np.linspace({low}, {high}, {n}, dtype=np.{dtype}))",
    "torch.from_numpy({0}.numpy() * np.linspace({low}, {high}, {n}).astype(np.{dtype}))",
    dtypes=WIDE,
    rank=(1, 3),
)
def linspace(draw: Draw, out: Spec) -> Needs:
    """Arithmetic with an array of evenly spaced numbers."""
    low, high = draw.choice(((0, 1), (-2, 2), (1, 5)))
    values = lambda x: (x + Range(-5, 5)).over(x * Range(-5, 5))  # noqa: E731
    return Needs(out.free(), values=values, low=low, high=high, n=out.shape[-1], dtype=out.dtype)


@numpy_call(
    "numpy.arange",
    "{0} * torch.from_numpy(np.arange({n}).astype(np.{dtype}))",
    "torch.from_numpy({0}.numpy() - np.arange({n}, dtype=np.{dtype}))",
    "torch.from_numpy(np.ones({n}, dtype=np.{dtype}) + np.arange({n}, dtype=np.{dtype}) * {0}.numpy())",
    dtypes=(*WIDE, "int64"),
    rank=(1, 3),
    exact=True,
)
def arange(draw: Draw, out: Spec) -> Needs:
    """Arithmetic with an array of consecutive integers."""
    most = longest(out.shape[-1])
    upto = Range(0, most, exact=True)
    values = lambda x: (x - upto).over(x * upto, x * upto + Range(1, 1, exact=True), x)  # noqa: E731
    return Needs(out.free(), values=values, n=out.shape[-1], dtype=out.dtype)


@numpy_call(
    "numpy.astype",
    *arrays("{0}.astype(np.{dtype})", "np.asarray({0}, dtype=np.{dtype})"),
    dtypes=PLAIN,
    exact=True,
    rank=(1, 5),
)
def astype(draw: Draw, out: Spec) -> Needs:
    """To another dtype, of exact values."""
    source = draw.choice([d for d in (*WIDE, *SIGNED) if d != out.dtype])
    operand = out.as_(source).exactly().within(-100, 100)
    return Needs(operand, values=lambda x: Range(x.low - 1, x.high + 1, exact=True), dtype=out.dtype)


@numpy_call(
    "numpy.zeros",
    "torch.from_numpy(np.zeros_like({0}.numpy())) + {0}",
    "torch.from_numpy(np.full({size}, 2, dtype=np.{dtype}) * {0}.numpy())",
    "torch.from_numpy(np.ones({size}, dtype=np.{dtype})) * {0}",
    dtypes=PLAIN,
    rank=(1, 4),
    exact=True,
)
def zeros(draw: Draw, out: Spec) -> Needs:
    """Arithmetic with constant arrays."""
    return Needs(out.free(), values=lambda x: x.over(x + x), size=out.shape, dtype=out.dtype)


@numpy_call(
    "numpy.meshgrid",
    "torch.from_numpy(np.meshgrid({0}.numpy(), {1}.numpy(), indexing='ij')[0] - {1}.numpy())",
    "torch.from_numpy(np.add(*np.meshgrid({0}.numpy(), {1}.numpy(), indexing='ij')))",
    dtypes=PLAIN,
    rank=(2, 2),
    exact=True,
)
def meshgrid(draw: Draw, out: Spec) -> Needs:
    """Two vectors as the coordinates of a grid."""
    m, n = nonempty(out).shape
    return Needs(out.of(m), out.of(n), values=lambda x, y: (x + y).over(x - y))


@numpy_call(
    "numpy.sum.item",
    "{0} * float(np.sum({1}.numpy()))",
    "{0} + float({1}.numpy().max())",
    "{0} - np.min({1}.numpy()).item()",
    dtypes=WIDE,
    rank=(0, 4),
    exact=True,
)
def number_from_numpy(draw: Draw, out: Spec) -> Needs:
    """A Python number that NumPy computed: Dynamo breaks the graph, or keeps a symbol."""
    n = draw.size(9)
    values = lambda x, y: (x * y.times(n)).over(x + y, x - y)  # noqa: E731
    return Needs(out.free(), out.of(n).within(-9, 9), values=values)
