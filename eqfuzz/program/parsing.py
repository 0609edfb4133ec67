"""Python source into a syntax tree, from several threads."""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()


def parse(source: str) -> ast.Module:
    """``ast.parse``, one at a time: in Python 3.11 threads disturb each other there.

    They share one count of the recursion depth, and one of them ends in a SystemError (python/cpython#106905).
    Raises what ``ast.parse`` raises.
    """
    with _LOCK:
        return ast.parse(source)
