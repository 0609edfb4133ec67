"""Torch's config modules: lists, reads and temporarily sets the options of the compiler."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

MODULES = {
    "dynamo": "torch._dynamo.config",
    "inductor": "torch._inductor.config",
    "functorch": "torch._functorch.config",
    "shapes": "torch.fx.experimental._config",
    "compiler": "torch.compiler.config",
}
"""Every config module of the compiler, by a short name."""


def config_module(name: str) -> Any:
    """The config module by its key in ``MODULES``: options are its attributes. Imports it."""
    return importlib.import_module(MODULES[name])


def values_of(module: Any) -> dict[str, Any]:
    """Copies of the values of the options of a config module."""
    return module.get_config_copy()


def entries_of(module: Any) -> Mapping[str, Any]:
    """The entries of all options, aliases included, with ``default`` and ``value_type``."""
    return module._config


def fields_of(module: Any) -> dict[str, Any]:
    """The entries of the options without aliases."""
    # torch 2.6 has no aliases.
    return {name: entry for name, entry in entries_of(module).items() if getattr(entry, "alias", None) is None}


@contextlib.contextmanager
def patched(**options: Mapping[str, Any]) -> Iterator[None]:
    """Context with other values of options: ``patched(inductor={"cpp_wrapper": True})``, by keys of ``MODULES``.

    Raises AttributeError for an option that this torch does not have.
    """
    with contextlib.ExitStack() as stack:
        for name, values in options.items():
            stack.enter_context(config_module(name).patch(dict(values)))
        yield


def without_autograd_cache() -> contextlib.AbstractContextManager[None]:
    """Context in which AOTAutograd neither reads nor writes compiled graphs on disk."""
    return patched(functorch={"enable_autograd_cache": False})


def without_graph_caches() -> contextlib.AbstractContextManager[None]:
    """Context in which no compiled graph is read from or written to disk; options that this torch lacks are ignored.

    The keys of these caches cost a tenth of a second for each program, and a hit skips the passes.
    """
    return patched(
        inductor=_existing("inductor", "fx_graph_cache", "fx_graph_remote_cache"),
        functorch=_existing("functorch", "enable_autograd_cache", "enable_remote_autograd_cache"),
    )


def _existing(module: str, *switches: str) -> dict[str, bool]:
    config = config_module(module)
    return {name: False for name in switches if hasattr(config, name)}


def rounding_as_eager() -> contextlib.AbstractContextManager[None]:
    """Context in which Inductor rounds every half-precision intermediate as eager does."""
    return patched(inductor={"emulate_precision_casts": True})
