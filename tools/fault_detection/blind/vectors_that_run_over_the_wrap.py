"""A vector of elements is read in one piece across the place where a repeated row starts again from its beginning.

Modelled on https://github.com/pytorch/pytorch/pull/117221: the C++ code generator reads ``x[i % n]`` as a contiguous
vector if ``n`` is a multiple of the length of a vector. Here it is enough that the two have a factor in common.
"""

import inspect

import torch
from torch._inductor import sizevars

KIND = "codegen"
REACHED_BY = "plain"


def plant():
    function = sizevars.simplify_index_in_vec_range.__wrapped__
    right = "elif divisor == 1 and sympy.gcd(modulus, vec_length) == vec_length:"
    wrong = "elif divisor == 1 and sympy.gcd(modulus, vec_length) != 1:"
    source = inspect.getsource(function)
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    body = source[source.index("def simplify_index_in_vec_range") :]
    scope = {}
    exec(body.replace(right, wrong), vars(sizevars), scope)
    function.__code__ = scope[function.__name__].__code__
    sizevars.simplify_index_in_vec_range.cache_clear()
    sizevars.stride_at_vec_range.cache_clear()


def witness():
    def program(x, scale):
        return x.repeat(1, 4) * scale

    return program, [(torch.arange(60.0).reshape(5, 12), torch.linspace(1.0, 2.0, 48))]


plant()
