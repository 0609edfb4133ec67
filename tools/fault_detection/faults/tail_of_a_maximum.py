"""The largest element of a row is looked for without the row's last element when a tail of one is left over.

Modelled on https://github.com/pytorch/pytorch/issues/181690: the part of a reduction that does not fill a vector was
handled with the width of one that does.
"""

from torch._inductor.codegen.cpp import CppVecKernel

KIND = "reduction-codegen"
REACHED_BY = "plain"


def plant():
    original = CppVecKernel.reduction_combine_vec

    def reduction_combine_vec(self, reduction_type, var, next_value, *args, **kwargs):
        if reduction_type == "max" and self.tail_size == 1:
            return str(var)
        return original(self, reduction_type, var, next_value, *args, **kwargs)

    CppVecKernel.reduction_combine_vec = reduction_combine_vec


def witness():
    import torch

    return lambda x: x.amax(), [(torch.arange(33.0),)]


plant()
