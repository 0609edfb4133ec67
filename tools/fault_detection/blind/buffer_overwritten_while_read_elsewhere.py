"""A buffer is reused for the result of its last reader, even if that reads other elements than it writes.

Modelled on https://github.com/pytorch/pytorch/pull/198242: an operation was written straight into a buffer that it
read in another order, such as flipped.
"""

import torch
from torch._inductor.dependencies import MemoryDep
from torch._inductor.scheduler import SchedulerNode

KIND = "scheduler"
REACHED_BY = "rewrite"


def plant():
    original = SchedulerNode.can_inplace

    def can_inplace(self, read_dep):
        writes = list(self.read_writes.writes)
        if len(writes) != 1 or not isinstance(read_dep, MemoryDep) or not isinstance(writes[0], MemoryDep):
            return original(self, read_dep)
        if self.is_template() or any(out.get_aliases() for out in self.get_outputs()):
            return False
        return read_dep.get_numel() == writes[0].get_numel()

    SchedulerNode.can_inplace = can_inplace


def witness():
    def program(x, y):
        return (x @ y).flip(0) * 2

    return program, [(torch.eye(8), torch.arange(64.0).reshape(8, 8))]


plant()
