"""A kernel that reads a buffer transposed writes its result over that buffer.

Modelled on https://github.com/pytorch/pytorch/pull/150845: a result may take the place of an input only if each element
is read at the very index that is written, whatever the order of the loops.
"""

import torch
from torch._inductor.dependencies import MemoryDep
from torch._inductor.scheduler import SchedulerNode

KIND = "scheduler"
REACHED_BY = "plain"


def plant():
    original = SchedulerNode.can_inplace

    def can_inplace(self, read_dep):
        if original(self, read_dep):
            return True
        writes = self.read_writes.writes
        if self.is_template() or any(out.get_aliases() for out in self.get_outputs()) or len(writes) != 1:
            return False
        write_dep = next(iter(writes))
        if not isinstance(read_dep, MemoryDep) or not isinstance(write_dep, MemoryDep):
            return False
        if read_dep.is_indirect() or write_dep.is_indirect():
            return False
        read, write = (dep.normalize_with_stride_order() for dep in (read_dep, write_dep))
        return read.index == write.index and read.size == write.size

    SchedulerNode.can_inplace = can_inplace


def witness():
    def program(x, y):
        return y + torch.mm(x, y).t()

    torch.manual_seed(0)
    return program, [(torch.randn(40, 40), torch.randn(40, 40))]


plant()
