"""``cat`` of several times the same tensor repeats each slice rather than the whole tensor.

Modelled on https://github.com/pytorch/pytorch/pull/119857: an operator was replaced by a shorter decomposition, which
must keep the order of the elements; here a broadcast dimension is put behind the dimension instead of before it.
"""

import torch
from torch._inductor.decomposition import decompositions
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.fx.experimental.symbolic_shapes import guard_or_false

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    aten = torch.ops.aten

    def cat(tensors, dim=0):
        def non_empty_tensor(x):
            if len(x.shape) == 1 and guard_or_false(x.shape[0] == 0):
                return False
            return not (dim < len(x.shape) and guard_or_false(x.shape[dim] == 0))

        filtered = list(filter(non_empty_tensor, tensors))
        if len(filtered) == 1:
            kind = ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
            dtype = elementwise_dtypes(*tensors, type_promotion_kind=kind)[1]
            only = filtered[0]
            return only.clone() if dtype == only.dtype else only.to(dtype=dtype)
        if 1 < len(filtered) < len(tensors):
            return aten.cat.default(filtered, dim)
        if len(filtered) > 1 and all(t is filtered[0] for t in filtered):
            inp = filtered[0]
            shape = list(inp.shape)
            dim = dim + len(shape) if dim < 0 else dim
            shape.insert(dim + 1, len(filtered))
            return inp.unsqueeze(dim + 1).expand(*shape).flatten(dim, dim + 1).clone()
        return NotImplemented

    decompositions[aten.cat.default] = cat


def witness():
    def program(angles):
        both = torch.cat([angles, angles], dim=-1)
        return both.cos(), both.sin()

    return program, [(torch.arange(12.0).reshape(3, 4) / 5,)]


plant()
