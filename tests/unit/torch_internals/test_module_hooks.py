"""The contract with torch's private names for hooks: they exist, and hold what is registered."""

import pytest
import torch

from eqfuzz.torch_internals.module_hooks import runs_only_forward


@pytest.mark.parametrize(
    "register",
    [
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
    ],
)
def test_module_with_a_hook_runs_more_than_its_forward(register: str):
    module = torch.nn.Linear(2, 2)
    assert runs_only_forward(module)
    handle = getattr(module, register)(lambda *arguments: None)
    assert not runs_only_forward(module)
    handle.remove()
    assert runs_only_forward(module)


def test_module_with_another_forward_is_recognised():
    module = torch.nn.Linear(2, 2)
    module.forward = lambda x: x
    assert not runs_only_forward(module)


@pytest.mark.parametrize("kind", ["forward", "forward_pre", "full_backward", "full_backward_pre"])
def test_global_hook_makes_every_module_run_more_than_its_forward(kind: str):
    register = getattr(torch.nn.modules.module, f"register_module_{kind}_hook")
    handle = register(lambda *arguments: None)
    assert not runs_only_forward(torch.nn.Linear(2, 2))
    handle.remove()
    assert runs_only_forward(torch.nn.Linear(2, 2))
