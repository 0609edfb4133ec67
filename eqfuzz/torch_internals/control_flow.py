"""Torch's control flow operators."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock


@contextlib.contextmanager
def control_flow_by(cond: Callable[..., Any], while_loop: Callable[..., Any]) -> Iterator[None]:
    """Context in which these are called for ``cond`` and ``while_loop``, under every name that programs use."""
    # The package has functions under the names of its modules, so that only an import gets at the modules.
    names: dict[str, dict[str, Any]] = {
        "torch": {"cond": cond},
        "torch._higher_order_ops": {"cond": cond, "while_loop": while_loop},
        "torch._higher_order_ops.cond": {"cond": cond},
        "torch._higher_order_ops.while_loop": {"while_loop": while_loop},
    }
    with contextlib.ExitStack() as stack:
        for module, functions in names.items():
            stack.enter_context(mock.patch.multiple(importlib.import_module(module), **functions))
        yield
