"""The positions of the maxima of a pooling are counted as if height and width of the input were exchanged.

Modelled on https://github.com/pytorch/pytorch/pull/36820: the gradient of a maximum pooling was wrong where height and
width differ, because they were handed over in the other order. Here they are exchanged where Inductor turns offsets in
the window into positions in the input; for square inputs that makes no difference.
"""

import inspect

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    function = lowering._pool_offsets_to_indices
    right = "inductor_prims._flatten_index(idhw, input_size[-n_dim:]), torch.int64"
    wrong = "inductor_prims._flatten_index(idhw, input_size[-n_dim:][::-1]), torch.int64"
    source = inspect.getsource(function)
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    scope = {}
    exec(source.replace(right, wrong), vars(lowering), scope)
    function.__code__ = scope[function.__name__].__code__


def witness():
    def program(x):
        return torch.nn.functional.max_pool2d(x, 2, return_indices=True)

    return program, [(torch.arange(24.0).sin().reshape(1, 1, 4, 6),)]


plant()
