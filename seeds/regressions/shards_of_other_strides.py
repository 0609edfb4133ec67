"""A replicated tensor made of windows of several widths (docs/findings/084)."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate
from torch.testing._internal.distributed.fake_pg import FakeStore

if not dist.is_initialized():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))


def program(x):
    whole = DTensor.from_local(x, mesh, [Replicate(), Replicate()], run_check=False)
    return torch.relu(whole).to_local()


def inputs(rng):
    yield rng.normal(8, 6)
    yield rng.normal(8, 7)[:, :6]
