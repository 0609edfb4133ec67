"""Columns and channels of an image on several devices (docs/findings/085)."""

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

if not dist.is_initialized():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))


def program(x, dim):
    return DTensor.from_local(x, mesh, [Shard(dim), Replicate()], run_check=False).to_local() * 2


def inputs(rng):
    yield rng.normal(4, 4, 4), 1
    yield rng.normal(4, 4, 4), 2
