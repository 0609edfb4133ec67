"""Sizes computed from shapes: numbers that a compiler with dynamic shapes keeps as symbols."""

import math

import libcst as cst
import torch

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.preconditions import floating, when
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int
from eqfuzz.rewrite.source.edit import Edit, edited, skip
from eqfuzz.rewrite.source.evaluation_order import held_back


def _is_count(x, n) -> bool:
    return x.numel == n.value


def _is_rows(x, n) -> bool:
    return x.ndim > 0 and x.shape[0] == n.value


def _is_columns(x, n) -> bool:
    return x.ndim > 0 and x.shape[-1] == n.value


COUNT = [when("n is the number of elements", _is_count, "x", "n")]


@rule(exact="bitwise", where=[rank("x", 2)])
def rows_by_size(x):
    """A size by the method."""
    return x.shape[0], x.size(0)


@rule(exact="bitwise", where=[at_least_rank("x", 1)])
def rows_by_len(x):
    """The first size as the length."""
    return x.shape[0], len(x)


@rule(exact="bitwise")
def any_size_by_method(x, k: Int):
    """Any size by the method."""
    return x.shape[k], x.size(k)


@rule(exact="bitwise")
def any_size_by_shape(x, k: Int):
    """Any size by the shape."""
    return x.size(k), x.shape[k]


@rule(exact="bitwise")
def any_size_summed(x, k: Int):
    """A size with one added and taken away."""
    return x.shape[k], x.shape[k] + 1 - 1


@rule(exact="bitwise")
def any_size_doubled(x, k: Int):
    """A size doubled and halved."""
    return x.shape[k], x.shape[k] * 2 // 2


@rule(exact="bitwise")
def any_size_as_number(x, k: Int):
    """A size made a Python number."""
    return x.shape[k], int(x.shape[k])


@rule(exact="bitwise", where=[rank("x", 2), non_empty("x")])
def rows_by_division(x):
    """The number of rows is that of elements over that of columns."""
    return x.shape[0], x.numel() // x.shape[1]


@rule(exact="bitwise")
def count_by_product(x):
    """The number of elements is the product of all sizes."""
    return x.numel(), math.prod(x.shape)


@rule(exact="bitwise", where=[rank("x", 2)])
def count_by_two_sizes(x):
    """The number of elements of a matrix."""
    return x.numel(), x.shape[0] * x.shape[1]


@rule(exact="bitwise", where=[rank("x", 2)], both_ways=True)
def two_sizes_by_function(x):
    """The product of both sizes of a matrix by the function that counts."""
    return x.shape[0] * x.shape[1], torch.numel(x)


@rule(exact="bitwise")
def shape_by_size(x):
    """A shape by the method."""
    return x.shape, x.size()


@rule(exact="bitwise")
def dimensions_by_len(x):
    """The number of dimensions is the length of the shape."""
    return x.ndim, len(x.shape)


@rule(exact="bitwise")
def dimensions_by_attribute(x):
    """The number of dimensions by the attribute."""
    return x.dim(), x.ndim


@rule(exact="bitwise")
def flat_size_computed(x):
    """A flat shape with its size computed."""
    return x.reshape(-1), x.reshape(x.numel())


@rule(exact="bitwise", where=[*COUNT, rank("x", 2)])
def flat_size_from_shape(x, n: Int):
    """A flat size that is a number as the product of both sizes."""
    return x.reshape(n), x.reshape(x.shape[0] * x.shape[1])


@rule(exact="bitwise", where=[floating("x"), *COUNT])
def count_from_tensor(x, n: Int):
    """A sum over a number that is the number of elements."""
    return x.sum() / n, x.sum() / x.numel()


@rule(exact="bitwise", where=[when("n is the first size", _is_rows, "x", "n")])
def first_rows_from_shape(x, n: Int):
    """A slice that ends at a number that is the first size."""
    return x[:n], x[: x.size(0)]


@rule(exact="bitwise", where=[when("n is the last size", _is_columns, "x", "n")])
def first_columns_from_shape(x, n: Int):
    """A slice of columns that ends at a number that is the last size."""
    return x[..., :n], x[..., : x.shape[-1]]


@rule(exact="bitwise", where=[when("n is the last size", _is_columns, "x", "n")])
def range_from_shape(x, n: Int):
    """A range over a number that is the last size."""
    return x + torch.arange(n), x + torch.arange(x.shape[-1])


SHAPE_CHANGES = frozenset(
    "resize_ resize_as_ set_ data t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_ as_strided_".split()
)

SHAPED = frozenset(
    """arange zeros ones full empty rand randn reshape view expand narrow unflatten repeat eye linspace new_zeros
    new_ones new_full split chunk tile broadcast_to one_hot randperm""".split()
)


@rule(
    exact="bitwise",
    where=[sizes(x="4 6"), floating("x")],
    example=[
        "def program(x):\n    return x.reshape(2, 12), x * torch.arange(6)\n",
        "def program(x):\n    return x.reshape(4, 6, 1).expand(4, 6, 2) + torch.ones((4, 1, 1))\n",
    ],
)
def literal_from_shape(call: cst.Call, ctx: RewriteContext):
    """A number in a call that makes or changes a shape, as the size of a tensor that the same statement reads."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")
    if name not in SHAPED:
        return
    if evaluated_elsewhere(ctx.statement.node, call):
        skip("the expression is evaluated later, or more than once")
    if binds_names(ctx.statement.node):
        skip("the statement also stores a variable")
    for number in literal_arguments(call):
        for source in sorted(sizes_at(ctx, number.evaluated_value)):
            start, end = ctx.syntax.span(number)
            begin = ctx.syntax.span(call)[0]
            yield edited(ctx.syntax.text_of(call), [Edit((start - begin, end - begin), source)])


def binds_names(node: cst.CSTNode) -> bool:
    """Whether there is a ``:=`` inside."""
    return isinstance(node, cst.NamedExpr) or any(binds_names(child) for child in node.children)


def literal_arguments(call: cst.Call):
    """The numbers from 2 among the arguments, also inside a tuple or list; keyword arguments only for sizes."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value not in ("size", "shape", "length", "sizes"):
            continue
        inside = [e.value for e in argument.value.elements] if isinstance(argument.value, (cst.Tuple, cst.List)) else []
        for node in (argument.value, *inside):
            if isinstance(node, cst.Integer) and node.evaluated_value >= 2:
                yield node


def evaluated_elsewhere(root: cst.CSTNode, target: cst.CSTNode) -> bool:
    """Whether ``target`` is in a function or comprehension inside ``root``, where names may mean something else."""
    if root is target:
        return False
    if isinstance(root, (cst.Lambda, cst.BaseComp, cst.FunctionDef, cst.ClassDef, cst.BaseCompoundStatement)):
        return True
    return all(evaluated_elsewhere(child, target) for child in root.children)


def sizes_at(ctx: RewriteContext, number: int) -> set[str]:
    """Spellings of ``number`` as a size of variables that the statement reads in any case."""
    changes = SHAPE_CHANGES & ctx.syntax.attributes
    if changes:
        skip("the program changes shapes in place")
    sizes: set[str] = set()
    statement = ctx.statement.node
    for node in names_in(statement):
        if node.value not in ctx.locals or held_back(node, statement) is not None:
            continue
        facts = ctx.facts(node)
        if not all(f.is_tensor for f in facts):
            continue
        for dim in range(min(f.ndim for f in facts)):
            if all(f.shape[dim] == number for f in facts):
                sizes |= {f"{node.value}.shape[{dim}]", f"{node.value}.size({dim})"}
    return sizes


def names_in(node: cst.CSTNode):
    """Names that are evaluated: no callees by attribute, no keywords."""
    if isinstance(node, cst.Name):
        yield node
    elif isinstance(node, (cst.Attribute, cst.Arg, cst.Assign)):
        yield from names_in(node.value)
    else:
        for child in node.children:
            yield from names_in(child)
