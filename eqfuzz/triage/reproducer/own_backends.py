"""Backends of eqfuzz, as text of a script that needs only torch."""

from __future__ import annotations

import textwrap
from pathlib import Path

import eqfuzz.torch_internals.embedded


def own_backends_text() -> str:
    """Statements that register the backends. Their names are in a function, and so not the program's."""
    body = textwrap.indent(f"{module_text('exporting_backends').strip()}\n\nregister_exporting_backends()", "    ")
    return f'''def register_backends():
    """Make torch.compile know the backends ``export`` and ``aot_inductor``."""
{body}


register_backends()'''


def module_text(name: str) -> str:
    """A module of ``eqfuzz.torch_internals.embedded`` without its docstring."""
    path = Path(eqfuzz.torch_internals.embedded.__file__).with_name(f"{name}.py")
    return path.read_text(encoding="utf-8").partition('"""\n\n')[2]
