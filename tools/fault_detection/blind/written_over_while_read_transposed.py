"""A kernel writes its result over an intermediate one that it reads transposed.

Modelled on https://github.com/pytorch/pytorch/issues/94693: a kernel of Inductor wrote over a buffer that it had yet to
read from.
"""

import torch
from torch._inductor import dependencies
from torch._inductor.scheduler import SchedulerNode

KIND = "scheduler-inplace"
REACHED_BY = "plain"


def plant():
    original = SchedulerNode.can_inplace

    def can_inplace(self, read_dep):
        if original(self, read_dep):
            return True
        if self.is_template() or any(out.get_aliases() for out in self.get_outputs()):
            return False
        writes = list(self.read_writes.writes)
        if len(writes) != 1 or not all(isinstance(dep, dependencies.MemoryDep) for dep in (read_dep, *writes)):
            return False
        return not read_dep.is_indirect() and extent(read_dep) == extent(writes[0])

    def extent(dep):
        return dep.get_numel(), dep.get_offset()

    SchedulerNode.can_inplace = can_inplace


def witness():
    def program(x, y, z):
        return z + (x @ y).t()

    x = torch.arange(400.0).reshape(20, 20) / 100
    return program, [(x, x.flip(0), x * 2)]


plant()
