"""Rules for graphs: each gives the same values in eager, on ordinary and special values of every dtype it takes."""

import itertools

import pytest
import torch

from eqfuzz.rewrite.graphs.graph_rule import shipped_graph_rules
from eqfuzz.rewrite.graphs.graph_step import graph_declarations
from eqfuzz.rewrite.rules.exactness import Exactness

RULES = shipped_graph_rules()
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool)
SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-40, 1.0, -2.5, 65504.0)
SHAPES = ((), (3,), (4, 6), (2, 3, 4, 5), (1, 1), (0, 4))


def values(dtype, shape, seed=0):
    """Every other element is a special one where the dtype has any."""
    generator = torch.Generator().manual_seed(seed)
    count = max(1, torch.Size(shape).numel())
    if dtype.is_complex:
        return torch.complex(*torch.randn(2, count, generator=generator))[: torch.Size(shape).numel()].reshape(shape)
    if not dtype.is_floating_point:
        return (
            torch.randint(-128 if dtype.is_signed else 0, 127, (count,), generator=generator)
            .to(dtype)[: torch.Size(shape).numel()]
            .reshape(shape)
        )
    drawn = torch.randn(count, generator=generator, dtype=torch.float64)
    drawn[::2] = torch.tensor(list(itertools.islice(itertools.cycle(SPECIAL), len(drawn[::2]))), dtype=torch.float64)
    return drawn.to(dtype)[: torch.Size(shape).numel()].reshape(shape)


def finite(dtype, shape, seed=0):
    return (
        torch.nan_to_num(values(dtype, shape, seed), 1.5, 2.5, -2.5).clamp(-3, 3)
        if dtype.is_floating_point
        else values(dtype, shape, seed)
    )


def operands(rule):
    """Arguments of the rule, several sets of them."""
    if rule.on is None:
        for dtype in (*FLOATS, *INTEGERS, torch.complex64):
            for shape in SHAPES:
                yield (values(dtype, shape),)
                if len(shape) > 1:
                    yield (values(dtype, shape[::-1]).permute(*range(len(shape) - 1, -1, -1)),)
        return
    for dtype in (*FLOATS, *INTEGERS):
        yield from _arguments(str(rule.on), dtype)


def _arguments(operator, dtype):
    name = operator.removeprefix("aten.").partition(".")[0]
    for shape in SHAPES:
        x, y = values(dtype, shape), values(dtype, shape, 1)
        match name:
            case "where":
                yield values(torch.bool, shape), x, y
            case "any" if shape:
                yield x, -1
                yield x, 0, True
            case "sum" | "amax" | "amin" if shape and 0 not in shape:
                x = finite(dtype, shape)
                if operator.endswith(("amax.default", "amin.default", "dim_IntList")):
                    yield x, [0]
                    yield x, [-1], True
                    yield (x, list(range(len(shape)))[-2:], True)
                else:
                    yield (x,)
            case "cat" if shape:
                yield [x, y, x], 0
                yield [x, y], -1
                yield ([x, y, y, x],)
            case "embedding" if len(shape) == 2 and shape[0]:
                yield x, torch.tensor([[0, 0], [0, 0]])
            case "neg" | "reciprocal" | "sqrt" | "exp":
                yield (x,)
            case "eq" if operator.endswith("Scalar"):
                yield x, 1
            case (
                "add"
                | "sub"
                | "mul"
                | "div"
                | "lt"
                | "gt"
                | "le"
                | "ge"
                | "eq"
                | "ne"
                | "bitwise_and"
                | "bitwise_or"
                | "logical_and"
            ):
                yield x, y
                yield x, x
    match name:
        case "mm":
            yield finite(dtype, (3, 4)), finite(dtype, (4, 5), 1)
        case "bmm":
            yield finite(dtype, (2, 3, 4)), finite(dtype, (2, 4, 5), 1)
        case "addmm":
            yield finite(dtype, (5,)), finite(dtype, (3, 4)), finite(dtype, (4, 5), 1)


def same_bits(one, other):
    """Equal in every bit, other than of NaN."""
    if one.is_floating_point():
        nan = one.isnan()
        return (
            torch.equal(nan, other.isnan())
            and torch.equal(torch.where(nan, 0, one).signbit(), torch.where(nan, 0, other).signbit())
            and torch.equal(torch.where(nan, 0, one), torch.where(nan, 0, other))
        )
    return torch.equal(one, other)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_computes_the_value_again(name):
    rule, applied = RULES[name], 0
    for arguments in operands(rule):
        try:
            before = arguments[0] if rule.on is None else rule.on(*arguments)
        except (RuntimeError, NotImplementedError):  # the operator does not take this dtype
            continue
        try:
            after = rule.function(*arguments)
        except (RuntimeError, IndexError, TypeError):  # where the rule does not fit, there is no rewrite
            continue
        if after is None:
            continue
        assert (after.shape, after.dtype) == (before.shape, before.dtype), arguments
        if rule.exact is Exactness.BITWISE:
            assert same_bits(before, after), (arguments, before, after)
        else:
            torch.testing.assert_close(after, before, equal_nan=True)
        applied += 1
    assert applied


def test_declarations_are_those_of_the_rules():
    declared = {one.name: one for one in graph_declarations()}
    assert list(declared) == sorted(RULES)
    for name, rule in RULES.items():
        one = declared[name]
        assert (one.exact, one.gradients, one.doc) == (rule.exact, rule.gradients, rule.doc)
        assert (f"{rule.on}" if rule.on is not None else "") == one.on
        assert rule.doc.endswith(".")
