"""The maximum of floats that are all negative is the smallest positive number.

Modelled on https://github.com/pytorch/pytorch/issues/143568: a reduction to the maximum in the C++ backend was wrong
for the type of its elements; in C++, ``numeric_limits::min()`` is the lowest value of integer types only.
"""

import torch
from torch._inductor.codegen import cpp
from torch._inductor.codegen.cpp_utils import DTYPE_TO_CPP
from torch._inductor.utils import is_welford_reduction
from torch._prims_common import is_float_dtype

KIND = "codegen"
REACHED_BY = "plain"


def plant():
    def reduction_init(reduction_type, dtype):
        if dtype in cpp.DTYPE_LOWP_FP:
            dtype = torch.float32
        if reduction_type in ("xor_sum", "sum", "any"):
            return 0
        if reduction_type == "prod":
            return 1
        if reduction_type in ("max", "argmax", "min", "argmin"):
            cdtype = DTYPE_TO_CPP[dtype]
            if dtype == torch.bool and reduction_type in ("argmin", "argmax"):
                cdtype = DTYPE_TO_CPP[torch.float]
            if reduction_type in ("max", "argmax"):
                init_var = f"std::numeric_limits<{cdtype}>::min()"
            elif is_float_dtype(dtype):
                init_var = f"std::numeric_limits<{cdtype}>::infinity()"
            else:
                init_var = f"std::numeric_limits<{cdtype}>::max()"
            if reduction_type in ("max", "min"):
                return init_var
            return f"IndexValue<{cdtype}>{{0, {init_var}}}"
        if is_welford_reduction(reduction_type):
            return f"Welford<{DTYPE_TO_CPP[dtype]}>()"
        raise AssertionError(reduction_type)

    cpp.reduction_init = reduction_init


def witness():
    def program(x):
        return torch.amax(-x.exp(), dim=1)

    torch.manual_seed(0)
    return program, [(torch.randn(4, 40),)]


plant()
