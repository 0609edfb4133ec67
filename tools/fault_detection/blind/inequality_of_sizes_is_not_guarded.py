"""Code compiled for dynamic sizes is reused although a size has become equal to what it was found to differ from.

Modelled on https://github.com/pytorch/pytorch/issues/113875: the guard for ``x.size() != ...`` did not fail when the
sizes became equal, so that the branch for other sizes ran.
"""

import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv

KIND = "guards"
REACHED_BY = "plain"


def plant():
    original = ShapeEnv.produce_guards_verbose

    def produce_guards_verbose(self, *arguments, **options):
        helpers = original(self, *arguments, **options)
        for helper in helpers:
            helper.exprs[:] = [expression for expression in helper.exprs if "!=" not in expression]
        return helpers

    ShapeEnv.produce_guards_verbose = produce_guards_verbose


def witness():
    def program(x):
        if x.shape[0] == 7:
            return x * 10
        return x + 1

    return program, [(torch.arange(float(size)),) for size in (4, 5, 7)]


plant()
