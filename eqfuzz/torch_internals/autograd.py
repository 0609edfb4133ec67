"""The autograd engine."""

from __future__ import annotations

import torch


def start_autograd_engine() -> None:
    """Make autograd count the devices now, before fake tensors report devices that do not exist.

    The engine counts them at the first backward of a process, starts a thread for each, and from then on refuses to run
    in what is forked off. Fake tensors let CUDA builds without a device report several, so whatever compiles before
    the first backward would make backward impossible in every child.
    """
    torch.ones((), requires_grad=True).backward()
