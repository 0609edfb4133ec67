"""A zero-dimensional tensor of a wider type widens the result, as if it had dimensions.

Modelled on https://github.com/pytorch/pytorch/issues/185605: in eager, a zero-dimensional tensor takes part in the type
promotion only if its kind of number is higher, and lowering must compute the same type.
"""

import torch
from torch._inductor import lowering
from torch._prims_common import elementwise_dtypes

KIND = "dtype-promotion"
REACHED_BY = "plain"


def plant():
    def get_promoted_dtype(*args, type_promotion_kind, return_compute_dtype=False):
        def representative(value):
            if not hasattr(value, "get_size"):
                return value
            return torch.zeros([1] * max(1, len(value.get_size())), dtype=value.get_dtype())

        dtypes = elementwise_dtypes(*map(representative, args), type_promotion_kind=type_promotion_kind)
        return dtypes[0 if return_compute_dtype else 1]

    lowering.get_promoted_dtype = get_promoted_dtype


def witness():
    def program(x, scale):
        return x * scale

    return program, [(torch.arange(6, dtype=torch.int32), torch.tensor(3))]


plant()
