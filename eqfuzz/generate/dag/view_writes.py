"""Structures that write to a tensor through views with gaps or of another element size, and then read all of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from eqfuzz.generate.dag.build import Builder
from eqfuzz.generate.dag.graph.graph import Assign, Expr, Value
from eqfuzz.generate.dag.structure import bounded, structure
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, PART, SIGNED, WIDE, Range, Spec, UnsatisfiableSpec, constant

_FAMILY = "view writes"
_FEWEST, _MOST = 1, 3
"""Writes to one tensor."""

_ZERO = Range(0, 0, exact=True)


@dataclasses.dataclass(frozen=True)
class WrittenPart:
    """Code of a view of ``{0}``, and its size; ``several``: one of several results, which no gradient may cross."""

    code: str
    size: tuple[int, ...]
    several: bool = False


def draw_part(draw: Draw, size: tuple[int, ...]) -> WrittenPart:
    """A view of part of a contiguous tensor of ``size``, no element of which it has twice. Raises UnsatisfiableSpec."""
    rank = len(size)
    kinds = ["step", "step", "range", "select", "strided", "flat", "unbind", "split", "unfold"]
    kinds += ["diagonal", "transposed", "corner"] if rank > 1 else []
    kind = draw.choice(kinds)
    axis = draw.integer(0, rank - 1)
    n = size[axis]
    before = ":, " * axis
    if kind == "step":
        step, start = draw.choice((2, 2, 3)), draw.integer(0, min(1, n - 1))
        return WrittenPart(f"{{0}}[{before}{start or ''}::{step}]", _with(size, axis, -(-(n - start) // step)))
    if kind == "range":
        start = draw.integer(0, n - 1)
        length = draw.integer(1, n - start)
        code = draw.choice((f"{{0}}[{before}{start}:{start + length}]", f"{{0}}.narrow({axis}, {start}, {length})"))
        return WrittenPart(code, _with(size, axis, length))
    if kind == "select":
        place = draw.integer(-1, n - 1)
        code = draw.choice((f"{{0}}[{before}{place}]", f"{{0}}.select({axis}, {place})"))
        return WrittenPart(code, size[:axis] + size[axis + 1 :])
    if kind == "strided":
        start, step = draw.integer(0, 1), draw.choice((2, 3))
        numel = _count(size)
        length = -(-(numel - start) // step)
        if length < 1:
            raise UnsatisfiableSpec("too few elements")
        return WrittenPart(f"{{0}}.as_strided(({length},), ({step},), {start})", (length,))
    if kind == "flat":
        step = draw.choice((2, 3, 5))
        return WrittenPart(f"{{0}}.view(-1)[::{step}]", (-(-_count(size) // step),))
    if kind == "unbind":
        code = f"{{0}}.unbind({axis})[{draw.integer(0, n - 1)}]"
        return WrittenPart(code, size[:axis] + size[axis + 1 :], several=True)
    if kind == "split":
        length = draw.integer(1, n)
        return WrittenPart(f"{{0}}.split({length}, {axis})[0]", _with(size, axis, length), several=True)
    if kind == "unfold":
        width = draw.integer(1, min(n, 3))
        step = width + draw.integer(0, 1)
        count = (n - width) // step + 1
        return WrittenPart(f"{{0}}.unfold({axis}, {width}, {step})", (*_with(size, axis, count), width))
    rows, columns = size[:2]
    if kind == "diagonal":
        offset = draw.integer(-1 if rows > 1 else 0, 1 if columns > 1 else 0)
        length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
        code = f"{{0}}.diagonal({offset})" if offset else draw.choice(("{0}.diagonal()", "torch.diagonal({0})"))
        return WrittenPart(code, (*size[2:], length))
    if kind == "transposed":
        if rank == 2 and draw.chance(0.5):
            return WrittenPart("{0}.mT[..., ::2]", (columns, -(-rows // 2)))
        return WrittenPart("{0}.transpose(0, 1)[::2]", (-(-columns // 2), rows, *size[2:]))
    if columns == 1:
        return WrittenPart("{0}[:1]", (1, *size[1:]))
    return WrittenPart("{0}[:1, 1::2]", (1, columns // 2, *size[2:]))


def _with(size: Sequence[int], axis: int, n: int) -> tuple[int, ...]:
    return (*size[:axis], n, *size[axis + 1 :])


def _count(size: Sequence[int]) -> int:
    count = 1
    for n in size:
        count *= n
    return count


@dataclasses.dataclass(frozen=True)
class _Write:
    """A statement with ``{v}`` for the view and ``{1}`` for a tensor, and the range of what it writes.

    ``flows``: autograd may be recorded.
    """

    text: str
    range: Range
    flows: bool = True


def _of_numbers(draw: Draw, x: Range, is_float: bool) -> _Write:
    """A write that needs no tensor. The range is that of elements that were in ``x``."""
    number = draw.choice((0, 1, 2, -1, 3, *((0.5, -1.5) if is_float else ())))
    moved, scaled = x + constant(number), x * Range(-1, 2, exact=True)
    return draw.choice(
        (
            _Write(f"{{v}}.fill_({number})", constant(number)),
            _Write("{v}.zero_()", _ZERO),
            _Write(f"{{v}}.add_({number})", moved),
            _Write(f"{{v}} += {number}", moved),
            _Write(f"{{v}}.sub_({number})", x - constant(number)),
            _Write("{v}.mul_(2)", scaled.over(x + x)),
            _Write("{v} *= -1", -x),
            _Write("{v}.neg_()", -x),
            _Write("{v}.clamp_(-1, 2)", Range(-1, 2, x.exact, bits=x.bits), flows=False),
            _Write("{v}.abs_()", x.over(-x), flows=False),
            _Write("{v}.copy_({v}.flip(0))", x),
            _Write("{v}.copy_({v} * 2)", x + x),
            _Write("torch.neg({v}, out={v})", -x, flows=False),
            _Write("torch.mul({v}, 2, out={v})", x + x, flows=False),
            *([_Write("{v}.masked_fill_({v} > 1, 0)", x.over(_ZERO))] if x.exact else []),
        )
    )


def _of_tensors(draw: Draw, x: Range, y: Range) -> _Write:
    """A write of a tensor ``{1}`` with elements in ``y``."""
    return draw.choice(
        (
            _Write("{v}.copy_({1})", y),
            _Write("{v}.copy_({1})", y),
            _Write("{v}.add_({1})", x + y),
            _Write("{v} += {1}", x + y),
            _Write("{v}.sub_({1})", x - y),
            _Write("{v}.add_({1}, alpha=2)", x + y + y),
            _Write("torch.add({v}, {1}, out={v})", x + y, flows=False),
        )
    )


def _copied(builder: Builder, source: Value, spec: Spec, *, differentiates: bool = True) -> Value:
    """A contiguous copy of ``source``, which is written to."""
    if source.grad and not differentiates:
        source = builder.detached(source)
    expr = Expr("{0}.clone(memory_format=torch.contiguous_format)", (source,), operator="torch.clone")
    return builder.emit(expr, spec, source.range, name_hint="whole", contiguous=True, needs_variable=True)


def _alias(builder: Builder, whole: Value) -> Value:
    """Another view of all of ``whole``, made before it is written to."""
    text = builder.draw.choice(("{0}.view_as({0})", "{0}[...]", "{0}.view({0}.shape)"))
    view = Value(whole.spec, whole.range, whole.storage, "alias", contiguous=True, needs_variable=True)
    builder.add(Assign((view,), Expr(text, (whole,), operator="torch.Tensor.view.same")))
    return view


def _require_elements(spec: Spec) -> None:
    if not spec.is_static or spec.numel == 0:
        raise UnsatisfiableSpec("parts of a size that changes, or of nothing")


@structure("write through a view", dtypes=FLOATS + SIGNED, rank=(1, 4), family=_FAMILY, exact=True)
def write_through_a_view(builder: Builder, spec: Spec, depth: int) -> Value:
    """Writes through views with gaps, after which the whole tensor is read, or another view of it."""
    _require_elements(spec)
    draw = builder.draw
    parts = [draw_part(draw, spec.shape) for _ in range(draw.integer(_FEWEST, _MOST))]
    operands = [spec.of(*part.size).within(-8, 8) if draw.chance(0.5) else None for part in parts]
    if any(part.several for part in parts) and builder.may_train:
        raise UnsatisfiableSpec("autograd forbids writes to one of several views")
    wanted = [bounded(spec), *(operand for operand in operands if operand is not None)]
    source, *written = builder.together(wanted, depth - 1)
    whole = _copied(builder, source, Spec(spec.size, spec.dtype, exact=spec.exact))
    result = _alias(builder, whole) if draw.chance(0.5) else whole
    for part, operand in zip(parts, operands, strict=True):
        tensor = written.pop(0) if operand is not None else None
        write_part(builder, whole, part, tensor)
    return result


def write_part(builder: Builder, whole: Value, part: WrittenPart, tensor: Value | None) -> None:
    """Append a write through ``part`` of ``whole``, of ``tensor`` or of numbers."""
    trains = builder.may_train
    for _ in range(20):
        if tensor is not None:
            write = _of_tensors(builder.draw, whole.range, tensor.range)
        else:
            write = _of_numbers(builder.draw, whole.range, whole.spec.is_float)
        subscript = part.code.endswith("]") and not part.several
        if (trains and not write.flows) or (not subscript and "= " in write.text and "out=" not in write.text):
            continue
        if write.range.most > (64 if whole.spec.dtype == "int8" else 256):
            continue
        if not part.size and ".flip(0)" in write.text:
            continue
        inputs = (whole,) if tensor is None else (whole, tensor)
        text = write.text.replace("{v}", part.code)
        builder.mutate(whole, Expr(text, inputs, operator="write through a view"), whole.range.over(write.range))
        return


_INTEGER_OF = {"float32": "int32", "float64": "int64", "float16": "int16", "bfloat16": "int16"}
_HALVES = {"int64": ("int32", 2), "int32": ("int16", 2), "int16": ("int8", 2)}


@structure(
    "write as another dtype", dtypes=(*FLOATS, "int64", "int32", "int16"), rank=(1, 4), family=_FAMILY, exact=True
)
def write_as_another_dtype(builder: Builder, spec: Spec, depth: int) -> Value:
    """Writes to the bits of a tensor through a view of another dtype, after which it is read in its own."""
    _require_elements(spec)
    draw = builder.draw
    if spec.is_float:
        source = builder.produce(bounded(spec), depth - 1)
        whole = _copied(builder, source, Spec(spec.size, spec.dtype, exact=spec.exact), differentiates=False)
        whole_bits = _INTEGER_OF[spec.dtype]
        bits = int(whole_bits.removeprefix("int"))
        most, sign = 2 ** (bits - 1) - 1, -(2 ** (bits - 1))
        x = whole.range
        both = x.over(-x)
        texts = [
            (f"{{0}}.view(torch.{whole_bits}).bitwise_and_({most})", both),
            (f"{{0}}.view(torch.{whole_bits})[..., ::2].bitwise_xor_({sign})", both),
            (f"{{0}}.view(torch.{whole_bits}).bitwise_or_({sign})", both),
            (f"{{0}}.view(torch.{whole_bits})[..., 1:].zero_()", x.over(_ZERO)),
            (f"{{0}}.view(torch.{whole_bits})[..., :1].fill_(0)", x.over(_ZERO)),
        ]
        step = bits // 8
        texts.append((f"{{0}}.view(torch.uint8)[..., {step - 1}::{step}].bitwise_and_(127)", both))
        if spec.dtype in WIDE and x.exact:
            half = f"torch.{_HALVES[whole_bits][0]}"
            texts.append((f"{{0}}.view({half})[..., ::2].zero_()", x.over(_ZERO)))
            texts.append((f"{{0}}.view({half})[..., 1::2].bitwise_and_(0x7FFF)", both))
            if spec.dtype == "float64":
                texts.pop()
    else:
        source = builder.produce(spec.within(0, 8), depth - 1)
        whole = _copied(builder, source, Spec(spec.size, spec.dtype, exact=spec.exact), differentiates=False)
        half, step = _HALVES[spec.dtype]
        small = int(spec.dtype.removeprefix("int")) // 8
        texts = [
            (f"{{0}}.view(torch.{half})[..., ::{step}].add_(3)", Range(0, 24, exact=True)),
            (f"{{0}}.view(torch.{half})[..., 1::{step}].zero_()", Range(0, 24, exact=True)),
            (f"{{0}}.view(torch.uint8)[..., ::{small}].fill_(100)", Range(0, 100, exact=True)),
            (f"{{0}}.view(torch.int8)[..., ::{small}].bitwise_xor_(5)", Range(0, 127, exact=True)),
            (f"{{0}}.view(torch.{half})[..., ::{step}].mul_(2)", Range(0, 200, exact=True)),
        ]
    result = _alias(builder, whole) if draw.chance(0.4) else whole
    text, range_ = draw.choice(texts)
    expr = Expr(text, (whole,), operator="write as another dtype")
    builder.mutate(whole, expr, whole.range.over(range_))
    return result


@structure("write to complex parts", dtypes=tuple(PART), rank=(1, 3), family=_FAMILY, exact=True)
def write_to_complex_parts(builder: Builder, spec: Spec, depth: int) -> Value:
    """Writes to real and imaginary parts through views, after which the complex tensor is read."""
    _require_elements(spec)
    if builder.may_train:
        raise UnsatisfiableSpec("no gradient of writes to parts")
    draw = builder.draw
    part = spec.as_(PART[spec.dtype]).within(-8, 8)
    source, other = builder.together([spec.within(-8, 8), part], depth - 1)
    whole = _copied(builder, source, Spec(spec.size, spec.dtype, exact=spec.exact))
    result = _alias(builder, whole) if draw.chance(0.4) else whole
    dtype = PART[spec.dtype]
    x, y = whole.range, other.range
    for _ in range(draw.integer(1, 2)):
        text, range_ = draw.choice(
            (
                ("torch.view_as_real({0})[..., 0].mul_(2)", x + x),
                ("torch.view_as_real({0})[..., 1] = {1}", y),
                ("{0}.real.copy_({1})", y),
                ("{0}.imag.zero_()", _ZERO),
                ("{0}.real.add_({1})", x + y),
                ("{0}.imag.neg_()", -x),
                (f"{{0}}.view(torch.{dtype})[..., ::2].add_(1)", x + constant(1)),
                (f"{{0}}.view(torch.{dtype})[..., 1::2] = {{1}}", y),
                ("torch.view_as_real({0}).select(-1, 0).sub_({1})", x - y),
                ("{0}[..., ::2].real.fill_(2)", constant(2)),
            )
        )
        builder.mutate(whole, Expr(text, (whole, other), operator="write to complex parts"), x.over(range_))
        x = whole.range
    return result
