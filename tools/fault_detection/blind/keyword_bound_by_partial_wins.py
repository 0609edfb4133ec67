"""A keyword that was bound by ``functools.partial`` cannot be overridden in the call.

Modelled on https://github.com/pytorch/pytorch/pull/114018: Dynamo did not treat a keyword of a call as Python does; of
two values for one keyword of a partial function, that of the call must win over the bound one.
"""

import functools

import torch
from torch._dynamo.variables.functions import FunctoolsPartialVariable

KIND = "dynamo-variable"
REACHED_BY = "plain"


def plant():
    def call_function(self, tx, args, kwargs):
        merged_args = self.args + args
        merged_kwargs = dict(kwargs)
        merged_kwargs.update(self.keywords)
        return self.func.call_function(tx, merged_args, merged_kwargs)

    FunctoolsPartialVariable.call_function = call_function


def witness():
    def affine(x, scale=1.0, shift=0.0):
        return x * scale + shift

    layer = functools.partial(affine, scale=2.0, shift=1.0)

    def program(x):
        return layer(x) + layer(x, shift=10.0)

    return program, [(torch.arange(4.0),)]


plant()
