"""Rows of images on several devices, flattened (docs/findings/102)."""

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.testing._internal.distributed.fake_pg import FakeStore

if not dist.is_initialized():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))


def program(x):
    return DTensor.from_local(x, mesh, [Shard(0), Replicate()], run_check=False).flatten(1, 2).to_local()


def inputs(rng):
    yield rng.normal(4, 1, 15, requires_grad=True)
    yield rng.normal(6, 1, 17, requires_grad=True)
