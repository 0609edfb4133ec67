"""An assignment to a slice with a step writes to the multiples of the step, wherever the slice starts.

Modelled on https://github.com/pytorch/pytorch/pull/174748: the code for a scatter operation left out one of its
arguments; the positions of a slice with a step count from its start.
"""

import functools

import sympy
import torch
from torch._inductor import ir, lowering
from torch._inductor.virtualized import ops
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    overload = torch.ops.aten.slice_scatter.default
    original = lowering.lowerings[overload]

    def slice_scatter(x, src, dim=0, start=None, end=None, step=1):
        if not all(value is None or isinstance(value, int) for value in (start, end, step)):
            return original(x, src, dim, start, end, step)
        src = lowering.to_dtype(src, x.get_dtype())
        x_loader = x.make_loader()
        dim = lowering._validate_dim(x, dim, 0)
        dim_size = x.get_size()[dim]
        start, end = ir.SliceView.normalize_start_end(x, dim, start, end)

        src_size = list(x.get_size())
        src_size[dim] = FloorDiv(end - start + (step - 1), step)
        src = lowering.expand(src, src_size)
        src_loader = src.make_loader()

        def inner_fn(idx):
            if start == 0 and end == dim_size and step == 1:
                return src_loader(idx)
            idx_dim = ops.index_expr(idx[dim], torch.int64)
            src_idx = list(idx)
            src_idx[dim] = FloorDiv(idx[dim] - start, step)
            mask = []
            if start != 0:
                mask.append(ops.ge(idx_dim, ops.index_expr(sympy.expand(start), torch.int64)))
            if end != dim_size:
                mask.append(ops.lt(idx_dim, ops.index_expr(sympy.expand(end), torch.int64)))
            if step != 1:
                phase = ops.index_expr(ModularIndexing(idx[dim], 1, step), torch.int64)
                mask.append(ops.eq(phase, ops.constant(0, torch.int64)))
            mask = functools.reduce(ops.and_, mask)
            zero = 0 if lowering.is_integer_type(x) else 0.0
            src_value = ops.masked(mask, lambda: src_loader(src_idx), zero)
            return ops.where(mask, src_value, x_loader(idx))

        return ir.Pointwise.create(
            device=x.get_device(), dtype=x.get_dtype(), inner_fn=inner_fn, ranges=list(x.get_size())
        )

    lowering.lowerings[overload] = slice_scatter


def witness():
    def program(x, odd):
        y = x * 1.5
        y[:, 1::2] = odd
        return y + 1

    return program, [(torch.arange(18.0).reshape(3, 6), torch.full((3, 3), -7.0))]


plant()
