"""No guard on the upper bound of a symbolic size: the branch for small sizes is taken for larger ones too.

Modelled on https://github.com/pytorch/pytorch/issues/113875: a condition on a symbolic shape became a guard that
did not fail for the shape that it should reject.
"""

import dataclasses
import re

import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv

KIND = "dynamic-shape"
REACHED_BY = "plain"

BOUNDS = r"^(\d+ <= \S+) and \S+ <= \d+$"


def plant():
    original = ShapeEnv.produce_guards_verbose

    def produce_guards_verbose(self, *args, **kwargs):
        return [
            dataclasses.replace(helper, exprs=[re.sub(BOUNDS, r"\1", text) for text in helper.exprs])
            for helper in original(self, *args, **kwargs)
        ]

    ShapeEnv.produce_guards_verbose = produce_guards_verbose


def witness():
    def program(x):
        return x * 2 if x.shape[0] < 10 else x * 3

    return program, [(torch.arange(float(n)),) for n in (6, 8, 12)]


plant()
