"""Extraction of the program from an answer: out of fences, prose, several blocks, thoughts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from eqfuzz.program.formats import recognise
from eqfuzz.program.parsing import parse
from eqfuzz.program.program import InvalidSeed

MOST_BYTES = 64 * 2**10
"""Longer programs are rejected: the cost of parsing them is unbounded."""

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*$", re.MULTILINE)
_BLOCK_OF_PROVENANCE = re.compile(r"\A\s*(?:#!.*\n)?# /// eqfuzz\n(?:#.*\n)*?# ///(?:\n|\Z)")
_BEGINS_CODE = re.compile(r"(?:import |from \w|class \w|def \w|async def |@\w|#|\"\"\"|'''|\w+ *(?:: *\w+)? *= *\S)")
_LOOKS_LIKE_CODE = re.compile(rf"[ \t]+\S|[)\]}}]|{_BEGINS_CODE.pattern}")
_OTHER_LANGUAGES = {"bash", "sh", "shell", "console", "text", "txt", "json", "yaml", "toml", "cpp", "c++", "output"}
_TRIMMED = 80
"""Maximal lines of prose below the code."""

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Errors of parsing text that is not Python, or nested too deeply."""


def code_in(answer: str) -> str:
    """The program in ``answer``: the first candidate that is a seed, else the best one; empty where there is no code.

    A block at the top that claims where a seed came from is removed: a model must not write it.
    """
    text = _THOUGHTS.sub("", answer.replace("\r\n", "\n")).strip("\n")
    program = ""
    blocks = list(_blocks(text))
    if blocks:
        program = _best(_candidates(blocks))
    elif text.strip():
        program = _without_prose(text)
    cut = _BLOCK_OF_PROVENANCE.sub("", program)
    return f"{cut.rstrip()}\n" if cut.strip() else ""


def normalised(code: str) -> str:
    """``code`` without comments, docstrings and layout, to detect duplicates.

    Raises the errors in UNREADABLE.
    """
    tree = parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1:
                del node.body[0]
    return ast.unparse(tree)


def _blocks(text: str) -> Iterator[str]:
    """The contents of fenced blocks; the last one may be unclosed."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1]) and not fence[2]:
            if opened[2].lower() not in _OTHER_LANGUAGES:
                yield _dedented(text[opened.end() + 1 : fence.start()])
            opened = None
    if opened is not None and opened[2].lower() not in _OTHER_LANGUAGES:
        yield _dedented(text[opened.end() + 1 :])


def _dedented(block: str) -> str:
    """``block`` without common indentation, as in list items."""
    lines = block.split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def _candidates(blocks: list[str]) -> list[str]:
    """Candidate programs by preference: the blocks from the last, the most improved one, then all joined."""
    blocks = [block for block in blocks if block.strip()]
    joined = ["\n\n".join(blocks)] if len(blocks) > 1 else []
    return [*reversed(blocks), *joined]


def _best(candidates: list[str]) -> str:
    """The first that is a seed, else the longest that is Python, else the longest."""
    for candidate in candidates:
        if _is_seed(candidate):
            return candidate
    python = [candidate for candidate in candidates if _is_python(candidate)]
    return max(python or candidates, key=len, default="")


def _without_prose(text: str) -> str:
    """The lines of ``text`` from the first that looks like code to the last with which they parse."""
    if _is_python(text):
        return text
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if _BEGINS_CODE.match(line)]
    if not starts:
        return ""
    body = lines[starts[0] :]
    for cut in range(min(_TRIMMED, len(body))):
        candidate = "\n".join(body[: len(body) - cut])
        if _is_python(candidate):
            return candidate
        if _LOOKS_LIKE_CODE.match(body[-1 - cut]):
            break  # a mistake in the code, not prose below it
    return "\n".join(body)


def _is_python(text: str) -> bool:
    if len(text.encode()) > MOST_BYTES:
        return False
    try:
        tree = parse(text)
    except UNREADABLE:
        return False
    return any(not isinstance(s, ast.Expr) for s in tree.body)  # a single word of prose parses as an expression


def _is_seed(text: str) -> bool:
    if len(text.encode()) > MOST_BYTES:
        return False
    try:
        recognise(_BLOCK_OF_PROVENANCE.sub("", text), "answer")
    except (InvalidSeed, *UNREADABLE):
        return False
    return True
