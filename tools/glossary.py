"""Words that ``docs/contributing/glossary.md`` rules out, wherever they stand: ``python -m tools.glossary [PATH …]``.

Exit codes: 0 none, 1 some (one line each: file, line, word, what to write), 2 a path that does not exist.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "contributing" / "glossary.md"
CHECKED = ("eqfuzz", "rewrites", "tests", "tools", "benchmarks", "docs", "README.md", "ARCHITECTURE.md", "Makefile")
DATA = ("eqfuzz/generate/llm/prompts", "tests/data", "tests/robustness/attacks", "tools/fault_detection/real")
"""Programs that others wrote, or that must stand alone: no prose of ours."""


def read_words(heading: str, text: str | None = None) -> dict[str, str]:
    """The words of one table of the glossary, each with what stands for it. Raises ValueError without such a table."""
    _, found_heading, rest = (GLOSSARY.read_text() if text is None else text).partition(f"## {heading}\n")
    if not found_heading:
        raise ValueError(f"{GLOSSARY}: no heading {heading!r}")
    table = rest.partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    return {word.strip(): row[1] for row in rows[2:] for word in row[0].split(",")}


class WordChecker:
    """Finds words that the glossary rules out; ``problems`` gives ``(line, word, replacement)``, lines from 1."""

    def __init__(self) -> None:
        self._words = read_words("Words that are not used")
        self._names = read_words("Names that are not used")
        alternatives = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(self._words, key=len)[::-1])
        self._prose = re.compile(rf"(?<![A-Za-z])({alternatives})(?![A-Za-z])", re.IGNORECASE)

    def problems(self, path: Path) -> Iterator[tuple[int, str, str]]:
        text = path.read_text()
        if path.suffix != ".py":
            yield from self._in_prose(text, 1)
            return
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT, tokenize.NAME):
                yield from self._in_prose(token.string, token.start[0])
        yield from self._in_names(ast.parse(text))

    def _in_prose(self, text: str, first_line: int) -> Iterator[tuple[int, str, str]]:
        for match in self._prose.finditer(text):
            word = re.sub(r"\s+", " ", match[1].lower())
            yield first_line + text.count("\n", 0, match.start()), word, self._words[word]

    def _in_names(self, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
        # Fields of classes may be names of a public format; variables, parameters and functions never are.
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name, line = node.id, node.lineno
            elif isinstance(node, ast.arg):
                name, line = node.arg, node.lineno
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name, line = node.name, node.lineno
            else:
                continue
            bare = name.strip("_")
            if bare in self._names and bare not in self._words and not _is_field(node, tree):
                yield line, name, self._names[bare]


def _is_field(node: ast.AST, tree: ast.Module) -> bool:
    classes = (one for one in ast.walk(tree) if isinstance(one, ast.ClassDef))
    return any(isinstance(item, ast.AnnAssign) and item.target is node for one in classes for item in one.body)


def checked_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files below ``paths`` that are checked, sorted."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            name = file.relative_to(ROOT).as_posix()
            is_text = file.suffix in (".py", ".md", "") and file.is_file() and "__pycache__" not in name
            if is_text and file not in (GLOSSARY, Path(__file__)) and not name.startswith(DATA):
                yield file


def main(arguments: Sequence[str]) -> int:
    paths = [Path(one).resolve() for one in arguments] or [ROOT / one for one in CHECKED]
    for path in paths:
        if not path.exists():
            print(f"{path}: no such file or folder", file=sys.stderr)
            return 2
    checker = WordChecker()
    count = 0
    for file in checked_files(paths):
        for line, word, replacement in sorted(checker.problems(file)):
            print(f"{file.relative_to(ROOT)}:{line}: {word!r}: {replacement}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
