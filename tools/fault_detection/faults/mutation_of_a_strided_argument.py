"""What is written to a matrix that is laid out by columns, or with gaps, is not copied back into it.

Modelled on https://github.com/pytorch/pytorch/issues/106456: writing to an argument that was a column of a matrix was
refused, because the copy back was thought to need a contiguous one.
"""

import torch
from torch._functorch._aot_autograd import graph_capture_wrappers

KIND = "functionalisation"
REACHED_BY = "plain"


def plant():
    original = graph_capture_wrappers.apply_in_graph_mutations

    def apply_in_graph_mutations(input_info, inpt_old, *args, **kwargs):
        if input_info.mutates_data and inpt_old.dim() == 2 and not inpt_old.is_contiguous():
            return
        original(input_info, inpt_old, *args, **kwargs)

    graph_capture_wrappers.apply_in_graph_mutations = apply_in_graph_mutations


def witness():
    def program(x):
        x.mul_(2)
        return x + 1

    return program, [(torch.arange(6.0).reshape(2, 3),), (torch.arange(6.0).reshape(2, 3).t(),)]


plant()
