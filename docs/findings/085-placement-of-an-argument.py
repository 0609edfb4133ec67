"""`Shard(dim)` with an argument that changes.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
mesh = init_device_mesh("cpu", (2,))


def f(x, dim):
    return DTensor.from_local(x, mesh, [Shard(dim)], run_check=False).to_local()


compiled = torch.compile(f)
for dim in (1, 2):
    print("eager:   ", f(torch.ones(4, 4, 4), dim).shape)
    try:
        print("compiled:", compiled(torch.ones(4, 4, 4), dim).shape)
    except Exception as error:
        print("compiled:", type(error).__name__, str(error).partition("\n")[0])
        raise SystemExit(1) from None
