"""The text of the functions that seeds have where torch has none."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

from eqfuzz.program.parsing import parse

_FUNCTIONS = Path(__file__).with_name("seed_functions.py")


def function_texts(names: Collection[str]) -> tuple[str, ...]:
    """The definitions of the named functions of ``seed_functions``, in their order there."""
    source = _FUNCTIONS.read_text(encoding="utf-8")
    definitions = [node for node in parse(source).body if isinstance(node, ast.FunctionDef)]
    return tuple(ast.get_source_segment(source, node) or "" for node in definitions if node.name in names)
