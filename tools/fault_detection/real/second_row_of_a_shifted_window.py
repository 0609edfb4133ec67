"""A table is counted up, and a row of a window into it is returned."""

# /// defect
# cause = "AOTAutograd makes an output view of an aliased input from the common base instead"
# url = "https://github.com/pytorch/pytorch/issues/198095"
# torch = ">=2.13"
# kinds = ["exception-mismatch", "compiler-crash", "wrong-result", "wrong-metadata"]
# regex = 'ViewMeta'
# ///

import torch


def program(table, window, step):
    table.add_(step)
    return window[0], window.sum(1)


def inputs(rng):
    table = rng.integers(0, 20, 5, 6, dtype=torch.float32)
    yield table, table[1:], 100
