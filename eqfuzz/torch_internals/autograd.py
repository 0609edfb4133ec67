"""The autograd engine."""

from __future__ import annotations

import torch


def start_autograd_engine() -> None:
    """Have autograd count the devices now, while nothing has told torch of one that is not there.

    The engine counts them at the first backward of a process, starts a thread for each, and from then on refuses to run
    in what is forked off. Fake tensors let CUDA builds without a device report several, so whatever compiles before
    the first backward would make backward impossible in every child.
    """
    torch.ones((), requires_grad=True).backward()
