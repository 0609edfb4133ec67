"""Torch's control flow operators are replaced under every name, and put back."""

import importlib

import torch
from torch._higher_order_ops import cond, while_loop

from eqfuzz.torch_internals.control_flow import control_flow_by


def names() -> list[object]:
    import torch._higher_order_ops as package

    modules = [importlib.import_module(f"torch._higher_order_ops.{name}") for name in ("cond", "while_loop")]
    return [torch.cond, package.cond, modules[0].cond, package.while_loop, modules[1].while_loop]


def test_every_name_is_replaced():
    before = names()
    assert before == [torch.cond, cond, cond, while_loop, while_loop]

    def branch(*_): ...
    def loop(*_): ...

    with control_flow_by(branch, loop):
        assert names() == [branch, branch, branch, loop, loop]
    assert names() == before
