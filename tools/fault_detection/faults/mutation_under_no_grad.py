"""What is written to an argument under ``no_grad`` stays inside the graph if the argument requires a gradient.

Modelled on https://github.com/pytorch/pytorch/issues/90844: the copy back into an argument did not know whether the
program had written to it under ``no_grad``.
"""

import torch
from torch._functorch._aot_autograd import graph_capture_wrappers

KIND = "functionalisation"
REACHED_BY = "plain"


def plant():
    original = graph_capture_wrappers.apply_in_graph_mutations

    def apply_in_graph_mutations(input_info, *args, **kwargs):
        if input_info.mutations_under_no_grad_or_inference_mode and input_info.requires_grad:
            return
        original(input_info, *args, **kwargs)

    graph_capture_wrappers.apply_in_graph_mutations = apply_in_graph_mutations


def witness():
    def program(weight, gradient):
        with torch.no_grad():
            weight.sub_(gradient, alpha=0.5)
        return (weight * 2).sum()

    return program, [(torch.ones(3, requires_grad=True), torch.ones(3))]


plant()
