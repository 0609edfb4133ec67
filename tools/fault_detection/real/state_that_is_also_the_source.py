"""A running state is decayed and a source added; later both are parts of one buffer."""

# /// defect
# cause = "AOTAutograd does not guard that an input it mutates shares no memory with another"
# url = "https://github.com/pytorch/pytorch/issues/139789"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'in-place'
# ///

import torch


def program(state, source):
    state.mul_(3)
    return state + source, source.sum()


def inputs(rng):
    yield rng.integers(1, 9, 4, dtype=torch.float32), rng.integers(1, 9, 4, dtype=torch.float32)
    buffer = rng.integers(1, 9, 8, dtype=torch.float32)
    yield buffer[:4], buffer[2:6]
