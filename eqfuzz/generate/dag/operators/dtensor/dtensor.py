"""Operators on DTensors, for the template of that name: its preamble defines the mesh and the functions used here.

Each is an expression from plain tensors to a plain tensor. The process group is a fake one of which this is rank 0: a
gather returns copies of the local shard, and a sum over ranks the local tensor, so that results are deterministic.
"""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import SIGNED, WIDE, Dim, Range, Spec, UnsatisfiableSpec, nonempty

dtensor = partial(operator, family="dtensor")
EXACT = (*WIDE, "int64")
_KINDS = ("replicated({x})", "sharded({x}, {dim})", "twice_sharded({x})")


def _placed(form: str, rank: int = 1) -> list[str]:
    """``form`` with its tensors placed in each way; ``d0`` to ``d2`` stand for the tensors."""
    forms = []
    for kind in _KINDS[: 3 if rank > 1 else 2]:
        text = form
        for number in range(3):
            text = text.replace(f"d{number}", kind.replace("{x}", f"{{{number}}}"))
        forms.append(text)
    return forms


def static(out: Spec) -> Spec:
    if not out.is_static:
        raise UnsatisfiableSpec("sizes that change")
    return nonempty(out)


def even(out: Spec) -> tuple[int, Spec]:
    """The first dimension of even size, and ``out`` with half of that size. Raises UnsatisfiableSpec without one."""
    shape = nonempty(out).shape
    dim = next((i for i, n in enumerate(shape) if not isinstance(n, Dim) and n % 2 == 0), None)
    if dim is None:
        raise UnsatisfiableSpec("no even size")
    return dim, out.of(*shape[:dim], shape[dim] // 2, *shape[dim + 1 :])


for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*")):

    @dtensor(
        f"dtensor: {_name}",
        *_placed(f"(d0 {_symbol} d1).to_local()", 2),
        *_placed(f"torch.{_name}(d0, d1).to_local()", 2),
        dtypes=EXACT,
        rank=(2, 4),
        exact=True,
    )
    def arithmetic(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of two tensors with the same placements."""
        values = lambda x, y: x * y if _symbol == "*" else x + y if _symbol == "+" else x - y  # noqa: E731
        return Needs(nonempty(out), out.free(), values=values, dim=draw.axis(out))


for _name in ("tanh", "sigmoid", "sin", "exp", "relu", "neg", "abs"):

    @dtensor(f"dtensor: {_name}", *_placed(f"torch.{_name}(d0).to_local()", 2), dtypes=WIDE, rank=(2, 4))
    def unary(draw: Draw, out: Spec) -> Needs:
        """A function of each element."""
        operand = nonempty(out).within(-6, 6)
        return Needs(operand, values=Range(-6.1, 405), dim=draw.axis(out))


@dtensor(
    "dtensor: broadcast",
    "(sharded({0}, 0) * replicated({1})).to_local()",
    "(replicated({1}) + sharded({0}, 0)).to_local()",
    "torch.maximum(sharded({0}, 0), replicated({1})).to_local()",
    dtypes=EXACT,
    rank=(2, 3),
    exact=True,
)
def broadcast(draw: Draw, out: Spec) -> Needs:
    """A sharded tensor and a replicated one of fewer dimensions."""
    return Needs(nonempty(out), out.of(*out.shape[1:]), values=lambda x, y: (x * y).over(x + y, x, y))


@dtensor(
    "dtensor: chain",
    *_placed("F.gelu(d0 * 2 + d1).to_local()", 2),
    *_placed("(d0.tanh() - d1.sigmoid() * d0).to_local()", 2),
    *_placed("(d0.to(torch.float64) + d1).to({0}.dtype).to_local()", 2),
    *_placed("d0.clone().mul_(2).add_(d1).to_local()", 2),
    dtypes=WIDE,
    rank=(2, 4),
)
def chain(draw: Draw, out: Spec) -> Needs:
    """Several steps in a row, sometimes one of them in place."""
    return Needs(nonempty(out), out.free(), values=lambda x, y: (x + x + y).over(x, x + x), dim=draw.axis(out))


@dtensor(
    "dtensor: where",
    "torch.where(sharded({0}, 0), sharded({1}, 0), sharded({2}, 0)).to_local()",
    "torch.where(replicated({0}), replicated({1}), replicated({2})).to_local()",
    "sharded({1}, 0).masked_fill(sharded({0}, 0), 0).to_local() + {2}",
    dtypes=EXACT,
    rank=(1, 4),
    exact=True,
)
def where(draw: Draw, out: Spec) -> Needs:
    """The elements of one tensor where the mask is true, of the other elsewhere."""
    mask = Spec(nonempty(out).size, "bool")
    return Needs(mask, out.free(), out.free(), values=lambda m, x, y: x.over(y, x + y))


@dtensor(
    "dtensor: constants",
    "{0} + dist.tensor.ones({size}, device_mesh=mesh, placements=[Replicate(), Replicate()]).to_local()",
    "(replicated({0}) * torch.ones_like(replicated({0}))).to_local()",
    "(sharded({0}, 0) + torch.full_like(sharded({0}, 0), 2)).to_local()",
    dtypes=("float32",),
    rank=(1, 3),
    exact=True,
)
def constants(draw: Draw, out: Spec) -> Needs:
    """Arithmetic with constant DTensors."""
    two = Range(2, 2, exact=True)
    return Needs(static(out), values=lambda x: x.over(x + two), size=out.shape)


@dtensor(
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
    """Integer operators."""
    values = lambda x: x.over(Range(-3, 3, exact=True), Range(-x.most - 1, x.most, exact=True))  # noqa: E731
    return Needs(nonempty(out).within(-1e4, 1e4), values=values)
