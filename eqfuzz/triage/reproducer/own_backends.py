"""Backends of eqfuzz, as text of a script that needs only torch, and onnx and onnxscript for other compilers."""

from __future__ import annotations

import textwrap

from eqfuzz.torch_internals.embedded.foreign_environments import FOREIGN
from eqfuzz.torch_internals.embedded.texts import module_text, server_text

_FOREIGN_MODULES = ("array_messages", "foreign_environments", "exporting_backends", "foreign_backends")


def own_backends_text(backend: str) -> str:
    """Statements that register a backend. Its names are in a function, and so not the program's."""
    modules, registered = ("exporting_backends",), "register_exporting_backends()"
    if backend in FOREIGN:
        modules, registered = _FOREIGN_MODULES, "register_foreign_backends(MODEL_SERVER)"
    texts = "\n\n\n".join(module_text(name).strip() for name in modules)
    body = textwrap.indent(f"{texts}\n\n{registered}", "    ")
    server = f"MODEL_SERVER = r'''{server_text()}'''\n\n\n" if backend in FOREIGN else ""
    return f'''{server}def register_backends():
    """Make torch.compile know the backend ``{backend}``."""
{body}


register_backends()'''
