"""A field is relaxed towards a source in a loop that counts its steps."""

# /// defect
# cause = "AOTAutograd takes a closure that is also an operand of while_loop for an alias that a branch returns"
# url = "https://github.com/pytorch/pytorch/issues/191582"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# ///

import torch


def program(steps, field):
    source = field

    def enough(step, value):
        return step < 3

    def relax(step, value):
        return step + 1, 0.5 * value + source.sin()

    _, relaxed = torch.while_loop(enough, relax, (steps, field))
    return relaxed, relaxed.sum()


def inputs(rng):
    yield torch.tensor(0), rng.normal(3, 4)
