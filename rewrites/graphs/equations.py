"""Calls of ATen's operators that are computed by others."""

import torch

from eqfuzz.rewrite.graphs.graph_rule import graph_rule

aten = torch.ops.aten


@graph_rule(on=aten.add.Tensor, exact="bitwise")
def commuted_sum(a, b):
    """The operands of a sum exchanged."""
    return b + a if isinstance(b, torch.Tensor) else None


@graph_rule(on=aten.mul.Tensor, exact="bitwise")
def commuted_product(a, b):
    """The operands of a product exchanged."""
    return b * a if isinstance(b, torch.Tensor) else None


@graph_rule(on=aten.add.Tensor, exact="bitwise")
def sum_as_difference(a, b):
    """The negated operand subtracted."""
    return a - (-b) if isinstance(b, torch.Tensor) and torch.bool not in (a.dtype, b.dtype) else None


@graph_rule(on=aten.sub.Tensor, exact="bitwise")
def difference_as_sum(a, b):
    """The negated operand added."""
    return a + (-b) if isinstance(b, torch.Tensor) else None


@graph_rule(on=aten.sub.Tensor, exact="bitwise")
def difference_turned(a, b):
    """Minus the opposite difference, from which zero is kept positive."""
    return -(b - a) if isinstance(b, torch.Tensor) and not a.is_floating_point() and not b.is_floating_point() else None


@graph_rule(on=aten.mul.Tensor, exact="bitwise")
def product_of_negated(a, b):
    """The product of both operands negated."""
    if not isinstance(b, torch.Tensor) or torch.bool in (a.dtype, b.dtype) or a.is_complex() or b.is_complex():
        return None
    return (-a) * (-b)


@graph_rule(on=aten.div.Tensor, exact="bitwise")
def quotient_of_negated(a, b):
    """The quotient of both operands negated."""
    if not isinstance(b, torch.Tensor) or not a.is_floating_point() or not b.is_floating_point():
        return None
    return (-a) / (-b)


@graph_rule(on=aten.add.Tensor, exact="bitwise")
def reassociated_integers(a, b):
    """A one moved from one integer to the other."""
    if not isinstance(b, torch.Tensor) or a.dtype != b.dtype or a.dtype.is_floating_point or a.is_complex():
        return None
    return (a + 1) + (b - 1) if a.dtype is not torch.bool else None


@graph_rule(on=aten.mul.Tensor, exact="bitwise")
def distributed_integers(a, b):
    """A product of integers, distributed over one and the rest."""
    if not isinstance(b, torch.Tensor) or a.dtype != b.dtype or a.dtype.is_floating_point or a.is_complex():
        return None
    return a * (b - 1) + a if a.dtype is not torch.bool else None


@graph_rule(on=aten.mul.Tensor, exact="bitwise")
def square_as_power(a, b):
    """A value times itself as its power of two."""
    return a**2 if a is b and a.is_floating_point() else None


@graph_rule(on=aten.neg.default, exact="bitwise")
def negation_as_product(a):
    """A product with minus one."""
    return a * -1 if not a.is_complex() else None


@graph_rule(on=aten.where.self, exact="bitwise")
def turned_choice(condition, a, b):
    """A choice by the opposite condition."""
    return torch.where(~condition, b, a) if condition.dtype is torch.bool else None


@graph_rule(on=aten.lt.Tensor, exact="bitwise")
def less_turned(a, b):
    """The opposite comparison of the exchanged operands."""
    return b > a


@graph_rule(on=aten.gt.Tensor, exact="bitwise")
def greater_turned(a, b):
    """The opposite comparison of the exchanged operands."""
    return b < a


@graph_rule(on=aten.le.Tensor, exact="bitwise")
def at_most_turned(a, b):
    """The opposite comparison of the exchanged operands."""
    return b >= a


@graph_rule(on=aten.ge.Tensor, exact="bitwise")
def at_least_turned(a, b):
    """The opposite comparison of the exchanged operands."""
    return b <= a


@graph_rule(on=aten.eq.Tensor, exact="bitwise")
def equal_as_not_unequal(a, b):
    """What is not unequal."""
    return ~(a != b)


@graph_rule(on=aten.ne.Tensor, exact="bitwise")
def unequal_as_not_equal(a, b):
    """What is not equal."""
    return ~(a == b)


@graph_rule(on=aten.eq.Scalar, exact="bitwise")
def equal_to_number_as_not_unequal(a, b):
    """What is not unequal to a number."""
    return ~(a != b)


@graph_rule(on=aten.bitwise_and.Tensor, exact="bitwise")
def and_by_or(a, b):
    """De Morgan's law for the common bits."""
    return ~((~a) | (~b))


@graph_rule(on=aten.bitwise_or.Tensor, exact="bitwise")
def or_by_and(a, b):
    """De Morgan's law for the bits of either."""
    return ~((~a) & (~b))


@graph_rule(on=aten.logical_and.default, exact="bitwise")
def logical_and_by_or(a, b):
    """De Morgan's law for two conditions."""
    return torch.logical_not(torch.logical_or(torch.logical_not(a), torch.logical_not(b)))


@graph_rule(on=aten.any.dim, exact="bitwise")
def any_as_not_all(a, dim, keepdim=False):
    """There is one where not all are false."""
    return ~torch.all(torch.logical_not(a), dim, keepdim) if a.dtype is torch.bool else None


@graph_rule(on=aten.mm.default, exact="real")
def transposed_product(a, b):
    """A matrix product as the transpose of the transposed product."""
    return torch.mm(b.t(), a.t()).t().contiguous()


@graph_rule(on=aten.mm.default, exact="real")
def matrix_product_of_a_batch(a, b):
    """A matrix product in a batch of one."""
    return torch.bmm(a.unsqueeze(0), b.unsqueeze(0)).squeeze(0)


@graph_rule(on=aten.mm.default, exact="real")
def matrix_product_by_sums(a, b):
    """A matrix product as a sum of products."""
    small = a.shape[0] * a.shape[1] * b.shape[1] <= 4096 and a.dtype in (torch.float32, torch.float64)
    return (a.unsqueeze(-1) * b.unsqueeze(0)).sum(1) if small else None


@graph_rule(on=aten.bmm.default, exact="real")
def transposed_products(a, b):
    """Matrix products as the transposes of the transposed products."""
    return torch.bmm(b.mT, a.mT).mT.contiguous()


@graph_rule(on=aten.addmm.default, exact="real")
def product_and_sum(c, a, b):
    """A matrix product, and the sum after it."""
    return c + torch.mm(a, b) if c.dtype in (torch.float32, torch.float64) else None


@graph_rule(on=aten.sum.dim_IntList, exact="real")
def sum_backwards(x, dims, keepdim=False):
    """A sum in reverse order."""
    return x.flip(list(dims)).sum(dims, keepdim) if dims else None


@graph_rule(on=aten.sum.dim_IntList, exact="real")
def sum_over_leading(x, dims, keepdim=False):
    """A sum over a dimension that is moved to the front in memory."""
    if len(dims) != 1 or keepdim or x.dim() < 2:
        return None
    return x.movedim(dims[0], 0).contiguous().sum(0)


@graph_rule(on=aten.sum.dim_IntList, exact="real")
def sum_dimension_by_dimension(x, dims, keepdim=False):
    """A sum over two dimensions, one after the other."""
    full = x.dtype in (torch.float32, torch.float64, torch.int64)
    return x.sum(dims[0], True).sum(dims[1], True) if len(dims) == 2 and keepdim and full else None


@graph_rule(on=aten.sum.default, exact="real")
def sum_of_flat(x):
    """The sum of all elements in one dimension."""
    return x.reshape(-1).sum(0)


@graph_rule(on=aten.amax.default, exact="real")
def largest_backwards(x, dims, keepdim=False):
    """The largest element, looked for in reverse order."""
    return x.flip(list(dims)).amax(dims, keepdim) if dims else None


@graph_rule(on=aten.amin.default, exact="real")
def smallest_backwards(x, dims, keepdim=False):
    """The smallest element, looked for in reverse order."""
    return x.flip(list(dims)).amin(dims, keepdim) if dims else None


@graph_rule(on=aten.cat.default, exact="bitwise")
def joined_one_by_one(tensors, dim=0):
    """A join of the first with the join of the others."""
    return torch.cat([tensors[0], torch.cat(list(tensors[1:]), dim)], dim) if len(tensors) > 2 else None


@graph_rule(on=aten.cat.default, exact="bitwise")
def joined_transposed(tensors, dim=0):
    """A join along the first dimension of what is transposed."""
    if not all(t.dim() > 1 for t in tensors):
        return None
    return torch.cat([t.transpose(0, dim) for t in tensors]).transpose(0, dim).contiguous()


@graph_rule(on=aten.embedding.default, exact="bitwise")
def embedding_as_index(weight, numbers):
    """Rows of a table by indexing."""
    return weight[numbers]


@graph_rule(on=aten.reciprocal.default, exact="bitwise")
def reciprocal_as_quotient(x):
    """One, divided by the value."""
    return 1 / x if x.dtype in (torch.float32, torch.float64) else None


@graph_rule(on=aten.sqrt.default, exact="bitwise")
def roots_in_pieces(x):
    """The roots of the first row and of the others, joined."""
    if x.dim() == 0 or x.shape[0] < 2:
        return None
    return torch.cat((x[:1].sqrt(), x[1:].sqrt()))


@graph_rule(on=aten.exp.default, exact="ulp")
def exponentials_in_pieces(x):
    """The exponentials of the first row and of the others, joined."""
    if x.dim() == 0 or x.shape[0] < 2:
        return None
    return torch.cat((x[:1].exp(), x[1:].exp()))
