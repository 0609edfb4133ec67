"""What an inlined function stores through ``nonlocal`` is lost if the variable held a Python constant before.

Modelled on https://github.com/pytorch/pytorch/issues/138112: two functions shared a nonlocal variable, and what one
of them stored was not seen by the other, which read the number that the variable had at first.
"""

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ConstantVariable

KIND = "dynamo-variable"
REACHED_BY = "plain"


def plant():
    original = SideEffects.store_cell

    def store_cell(self, cellvar, value):
        frame = self.output_graph_weakref().current_tx
        own = any(frame.symbolic_locals.get(name) is cellvar for name in frame.f_code.co_cellvars)
        if not own and self.has_pending_mutation_of_attr(cellvar, "cell_contents"):
            held = self.load_attr(cellvar, "cell_contents", check=False)
            if isinstance(held, ConstantVariable) and held.value is not None:
                return
        original(self, cellvar, value)

    SideEffects.store_cell = store_cell


def witness():
    def program(x):
        calls = 0

        def double(t):
            nonlocal calls
            calls += 1
            return t * 2

        y = double(double(x))
        return y + calls

    return program, [(torch.ones(3),)]


plant()
