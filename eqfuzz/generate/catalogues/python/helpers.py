"""Functions that programs with Python's expressions call. Imports no torch."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from eqfuzz.generate.catalogues.python.statements import classes, control_flow, functions, values

_FUNCTIONS = {
    function: arguments
    for module in (control_flow, functions, classes, values)
    for function, arguments in module.ARGUMENTS.items()
}

STATEMENTS: Mapping[str, tuple[str, ...]] = {function.__name__: texts for function, texts in _FUNCTIONS.items()}
"""Texts of arguments by the name of the function that is called with them."""

HELPERS: Mapping[str, str] = {
    "outcome": """\
def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__""",
    "after": """\
def after(value, change):
    return change(value), value""",
    **{function.__name__: inspect.getsource(function).rstrip() for function in _FUNCTIONS},
}
"""Sources by name."""
