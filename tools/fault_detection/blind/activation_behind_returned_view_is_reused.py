"""The backward writes over a saved activation although a view of it was returned to the caller.

Modelled on https://github.com/pytorch/pytorch/pull/141308: which saved tensors are given to the backward to be
overwritten was decided by the metadata of the graph; no returned tensor may share its memory with such a buffer.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch._aot_autograd import graph_compile
from torch._subclasses.fake_tensor import is_fake_tensor
from torch._subclasses.meta_utils import is_sparse_any
from torch.multiprocessing.reductions import StorageWeakRef

KIND = "aot-partitioner"
REACHED_BY = "plain"


def plant():
    def collect_fw_donated_buffer_idxs(fw_ins, user_fw_outs, bw_outs, saved_tensors):
        kept_storages = set()
        for tensor in [*fw_ins, *bw_outs]:
            if tensor is not None and is_fake_tensor(tensor) and not is_sparse_any(tensor):
                kept_storages.add(StorageWeakRef(tensor.untyped_storage()))
        returned = {id(tensor) for tensor in user_fw_outs if tensor is not None}

        donated = []
        for i, tensor in enumerate(saved_tensors):
            if tensor is None or not is_fake_tensor(tensor) or is_sparse_any(tensor):
                continue
            if id(tensor) in returned:
                continue
            if StorageWeakRef(tensor.untyped_storage()) not in kept_storages:
                donated.append(i)
        return donated

    graph_compile.collect_fw_donated_buffer_idxs = collect_fw_donated_buffer_idxs


def witness():
    gradient_of = torch.compiler.disable(torch.autograd.grad)

    def program(x, weight):
        hidden = x @ weight
        flat = hidden.flatten()
        loss = torch.sin(hidden).sum()
        gradient = gradient_of(loss, weight)
        return flat.detach(), gradient

    torch.manual_seed(0)
    return program, [(torch.randn(6, 5), torch.randn(5, 4).requires_grad_())]


plant()
