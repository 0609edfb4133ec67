"""A sharded tensor of symbolic sizes with a dimension of 1 is flattened in training.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
mesh = init_device_mesh("cpu", (2,))


def f(x):
    return DTensor.from_local(x, mesh, [Shard(0)], run_check=False).flatten(1, 2).to_local()


x = torch.ones(4, 1, 15, requires_grad=True)
print("eager:   ", f(x).shape)
try:
    print("compiled:", torch.compile(f, dynamic=True)(x).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
