"""A distributed tensor made of a local one with other strides than at the first call.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
mesh = init_device_mesh("cpu", (2,))


def f(x):
    return torch.relu(DTensor.from_local(x, mesh, [Replicate()], run_check=False)).to_local()


compiled = torch.compile(f)
for x in (torch.ones(8, 6), torch.ones(8, 7)[:, :6]):
    print("eager:   ", f(x).shape)
    try:
        print("compiled:", compiled(x).shape)
    except Exception as error:
        print("compiled:", type(error).__name__, str(error).partition("\n")[0])
        raise SystemExit(1) from None
