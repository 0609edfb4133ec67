"""Thread-safe parsing of Python source; the only module that calls ``ast.parse``."""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()
# In Python 3.11 concurrent calls share one count of the recursion depth; one of them ends in a SystemError
# (python/cpython#106905).


def parse(source: str) -> ast.Module:
    """Like ``ast.parse``. Raises SyntaxError, and ValueError for null bytes."""
    with _LOCK:
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The expression that ``source`` consists of. Raises SyntaxError, and ValueError for null bytes."""
    with _LOCK:
        return ast.parse(source, mode="eval").body
