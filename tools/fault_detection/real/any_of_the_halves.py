"""Whether anything is left of half-precision scores is asked with a sum in bool."""

# /// defect
# cause = "The vectorised sum of half numbers in bool calls a C++ function that does not exist"
# url = "https://github.com/pytorch/pytorch/issues/197106"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# regex = 'C\+\+ compile error: .*sum_masked_reduce'
# ///

import torch


def program(scores, level):
    passed = torch.relu(scores - level)
    return torch.sum(passed, dtype=torch.bool), passed


def inputs(rng):
    yield rng.normal(3, 40, dtype=torch.float16), 0.5
