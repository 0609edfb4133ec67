"""Steps of optimisers and training loops."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, UnsatisfiableSpec


def _filled(out: Spec) -> Spec:
    if out.is_static and out.numel == 0:
        raise UnsatisfiableSpec("nothing to train")
    return out.free().within(-4.0, 4.0)


@operator(
    "training: gradient descent",
    "{0} - {rate} * torch.func.grad(lambda p: ((p * {1}) ** 2).mean())({0})",
    "{0} - {rate} * torch.func.grad_and_value(lambda p: (p * {1}).square().mean())({0})[0]",
    dtypes=WIDE,
    name_hint="updated",
)
def gradient_descent(draw: Draw, out: Spec) -> Needs:
    """A step against the gradient of a loss inside the program."""
    values = Range(-20, 20)
    return Needs(_filled(out), _filled(out), values=values, rate=draw.choice((0.1, 0.05)))


@operator(
    "training: momentum",
    "{0} - {rate} * ({beta} * {1} + {2})",
    "torch.sub({0}, {1}.mul({beta}).add({2}), alpha={rate})",
    dtypes=WIDE,
    name_hint="updated",
)
def momentum(draw: Draw, out: Spec) -> Needs:
    """A step along a running mean of gradients."""
    operand = _filled(out)
    return Needs(operand, operand, operand, values=Range(-12, 12), rate=draw.choice((0.1, 0.01)), beta=0.9)


@operator(
    "training: adam",
    "{0} - {rate} * ({1} / (1 - 0.9)) / (({2} / (1 - 0.999)).sqrt() + 1e-3)",
    "{0}.addcdiv({1} / 0.1, ({2} / 0.001).sqrt().add(1e-3), value=-{rate})",
    dtypes=WIDE,
    name_hint="updated",
)
def adam(draw: Draw, out: Spec) -> Needs:
    """A step with the corrected first and second moments."""
    second = out.free().within(0.05, 4.0)
    return Needs(_filled(out), _filled(out), second, values=Range(-12, 12), rate=draw.choice((0.01, 0.001)))


@operator(
    "training: clipped norm",
    "{0} * (1.0 / ({0}.norm() + 1e-3)).clamp(max=1.0)",
    "{0} * torch.clamp(1.0 / (torch.linalg.vector_norm({0}) + 1e-3), max=1.0)",
    dtypes=WIDE,
    name_hint="clipped",
)
def clipped_norm(draw: Draw, out: Spec) -> Needs:
    """A gradient clipped to norm 1."""
    return Needs(out.free().positive(), values=Range(-64, 64))


@operator(
    "training: weight decay and mean",
    "{0} * (1 - {decay}) + {1}.mean(0) * {decay}",
    "torch.lerp({0}, {1}.mean(dim=0), {decay})",
    dtypes=WIDE,
    name_hint="average",
)
def averaged(draw: Draw, out: Spec) -> Needs:
    """A running average of a batch."""
    batch = out.of(draw.choice((2, 3, 5)), *out.shape).within(-4.0, 4.0)
    return Needs(_filled(out), batch, values=Range(-8, 8), decay=draw.choice((0.1, 0.01)))


for _name, _text in (
    ("add", "torch._foreach_add([{0}, {1}], [{1}, {0}], alpha=0.5)[0]"),
    ("mul", "torch._foreach_mul([{0}, {1}], 0.9)[0] + {1}"),
    ("lerp", "torch._foreach_lerp([{0}, {1}], [{1}, {0}], 0.1)[1]"),
    ("addcmul", "torch._foreach_addcmul([{0}], [{1}], [{1}], value=0.1)[0]"),
    ("sqrt", "torch._foreach_sqrt([{0}.abs() + 0.1, {1}.abs() + 0.1])[0]"),
    ("maximum", "torch._foreach_maximum([{0}, {1}], 0.5)[0] - {1}"),
):

    @operator(f"torch._foreach_{_name}", _text, dtypes=WIDE, name_hint="updated")
    def foreach(draw: Draw, out: Spec) -> Needs:
        """Operators on lists of tensors, as optimisers use them."""
        return Needs(out.free().within(-4.0, 4.0), out.free().within(-4.0, 4.0), values=Range(-8, 8))


@operator(
    "torch.func.vmap",
    "torch.vmap(lambda row: row * {1} + row.sum())({0})",
    "torch.vmap(torch.mul, in_dims=(0, None))({0}, {1})",
    dtypes=WIDE,
    rank=(2, 4),
    name_hint="mapped",
)
def mapped(draw: Draw, out: Spec) -> Needs:
    """A function mapped over the first dimension."""
    row = out.of(*out.shape[1:])
    if not out.is_static or row.numel > 256 or out.numel == 0:
        raise UnsatisfiableSpec("none, or too many to add up")
    return Needs(out.free().within(-4.0, 4.0), row.within(-4.0, 4.0), values=Range(-1100, 1100))


@operator(
    "torch.func.jacrev",
    "torch.func.jacrev(lambda v: v.sin() * v.sum())({0})",
    "torch.func.jacfwd(lambda v: v * v.cos())({0})",
    "torch.func.hessian(lambda v: (v**3).sum())({0})",
    dtypes=WIDE,
    rank=(2, 2),
    name_hint="jacobian",
)
def jacobian(draw: Draw, out: Spec) -> Needs:
    """The derivatives of a vector with respect to a vector."""
    rows, columns = out.shape
    if rows != columns or rows > 9 or not out.is_static:
        raise UnsatisfiableSpec("not square and small")
    return Needs(out.of(rows).within(-4.0, 4.0), values=Range(-60, 60))
