"""A notice on the terminal while PyTorch is imported, which takes seconds, and longer on a busy machine."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

NOTICE = "loading PyTorch ..."


@contextlib.contextmanager
def loading_notice() -> Iterator[None]:
    """Show it while the block runs, on stderr where that is a terminal; whatever is printed next is written over it."""
    if not sys.stderr.isatty():
        yield
        return
    print(f"{NOTICE}\r", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(f"{' ' * len(NOTICE)}\r", end="", file=sys.stderr, flush=True)
