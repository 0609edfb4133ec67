"""Two views of one tensor are taken for separate memory where one of them, having gaps, reaches into the other.

Modelled on https://github.com/pytorch/pytorch/issues/138908: a write and a read of overlapping memory were taken for
independent; how far a view reaches follows from its strides, not from the number of its elements.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch._aot_autograd import input_output_analysis

KIND = "aot-mutation"
REACHED_BY = "plain"


def plant():
    original = input_output_analysis.compute_overlapping_tensors

    def compute_overlapping_tensors(tensors, symbolic=True):
        near = set()
        for i, one in enumerate(tensors):
            for j, other in enumerate(tensors[:i]):
                if may_touch(one, other):
                    near |= {i, j}
        candidates = sorted(near)
        if len(candidates) <= 1:
            return set()
        overlapping = original([tensors[i] for i in candidates], symbolic=symbolic)
        return {candidates[i] for i in overlapping}

    def may_touch(one, other):
        if one.storage_offset() > other.storage_offset():
            one, other = other, one
        return one.storage_offset() + one.numel() > other.storage_offset()

    input_output_analysis.compute_overlapping_tensors = compute_overlapping_tensors


def witness():
    def program(column, row):
        column.mul_(2.0)
        column.add_(row.sum())
        return row * 1.5

    table = torch.arange(1.0, 13.0).reshape(4, 3)
    return program, [(table[:, 0], table[2])]


plant()
