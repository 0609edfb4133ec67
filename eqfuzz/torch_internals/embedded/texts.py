"""The modules beside this one as text, for scripts that need only torch and for other interpreters."""

from __future__ import annotations

from pathlib import Path


def module_text(name: str) -> str:
    """A module without its docstring, and without what it imports from the modules beside it."""
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("from eqfuzz."))


def server_text() -> str:
    """The program that runs models of other compilers."""
    return module_text("array_messages") + "\n\n" + module_text("model_server")
