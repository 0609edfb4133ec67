"""The text of a notebook or an interactive session, from which classes are gathered like from a module."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from eqfuzz.program.parsing import parse


def session_text() -> str:
    """The cells that were run in this session and are Python, in order; empty outside IPython.

    Of cells with equal text the last one counts.
    """
    shell = _shell()
    if shell is None:
        return ""
    cells: dict[str, None] = {}
    for cell in _cells(shell):
        cells.pop(cell, None)
        cells[cell] = None
    return "\n\n".join(cells)


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    return hasattr(_shell(), "kernel")


def _shell() -> Any:
    """IPython's shell of this process; None without one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _cells(shell: Any) -> Iterable[str]:
    for raw in shell.user_ns.get("In", ()):
        text = shell.transform_cell(raw).rstrip()  # magics and shell commands as the calls that they are
        try:
            parse(text)
        except (SyntaxError, ValueError):
            continue
        yield text
