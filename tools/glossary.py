"""List the words that ``docs/contributing/glossary.md`` rules out: ``python -m tools.glossary [PATH …]``.

Without a path, everything in ``CHECKED``. One line per problem: file, line, word, replacement.

Exit codes: 0 no problem, 1 problems, 2 a path that does not exist.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "contributing" / "glossary.md"
CHECKED = ("eqfuzz", "rewrites", "tests", "tools", "benchmarks", "docs", "README.md", "ARCHITECTURE.md", "Makefile")
DATA = (
    "eqfuzz/generate/llm/prompts",
    "tests/data",
    "tests/held_out",
    "tests/robustness/attacks",
    "tools/fault_detection/real",
)
"""Programs by other authors and stand-alone programs, which have no prose of this project."""


def read_words(heading: str, glossary: str) -> dict[str, str]:
    """The words of one table of the glossary, each with its replacement. Raises ValueError without such a table."""
    _, separator, rest = glossary.partition(f"## {heading}\n")
    if not separator:
        raise ValueError(f"the glossary has no heading {heading!r}")
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {word.strip(): row[1] for row in rows[2:] for word in row[0].split(",")}


class WordChecker:
    """Finds words that the text of a glossary rules out; problems are ``(line, word, replacement)``, lines from 1."""

    def __init__(self, glossary: str) -> None:
        self._words = read_words("Words that are not used", glossary)
        self._names = read_words("Names that are not used", glossary)
        alternatives = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(self._words, key=len)[::-1])
        self._prose = re.compile(rf"(?<![A-Za-z])({alternatives})(?![A-Za-z])", re.IGNORECASE)
        self._bare_name = re.compile(rf"\b_*(?:{'|'.join(map(re.escape, self._names))})_*\b")

    def problems(self, path: Path) -> Iterator[tuple[int, str, str]]:
        """The problems of one file, prose before names. Raises SyntaxError for a Python file that does not parse."""
        text = path.read_text(encoding="utf-8")
        yield from self._in_prose(text)
        if path.suffix == ".py" and self._bare_name.search(text):
            yield from self._in_names(ast.parse(text))

    def _in_prose(self, text: str) -> Iterator[tuple[int, str, str]]:
        for match in self._prose.finditer(text):
            word = re.sub(r"\s+", " ", match[1].lower())
            yield 1 + text.count("\n", 0, match.start()), word, self._words[word]

    def _in_names(self, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
        # Fields of classes may be names of a public format; variables, parameters and functions never are.
        nodes = list(ast.walk(tree))
        bodies = [node.body for node in nodes if isinstance(node, ast.ClassDef)]
        fields = {item.target for body in bodies for item in body if isinstance(item, ast.AnnAssign)}
        for node in nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store()) if node not in fields:
                    pass
                case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    pass
                case _:
                    continue
            bare = name.strip("_")
            if bare in self._names and bare not in self._words:
                yield node.lineno, name, self._names[bare]


def checked_files(paths: Sequence[Path], root: Path = ROOT) -> Iterator[Path]:
    """The Python and Markdown files below ``paths``, sorted, without ``DATA`` of ``root`` and the glossary itself."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(root).as_posix()
            is_text = file.suffix in (".py", ".md", "") and file.is_file() and "__pycache__" not in name
            if is_text and file not in (GLOSSARY, Path(__file__)) and not name.startswith(DATA):
                yield file


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    paths = [Path(argument).resolve() for argument in arguments] or [root / name for name in CHECKED]
    for path in paths:
        if not path.exists():
            print(f"{path}: no such file or folder", file=sys.stderr)
            return 2
    checker = WordChecker(GLOSSARY.read_text(encoding="utf-8"))
    count = 0
    for file in checked_files(paths, root):
        for line, word, replacement in sorted(checker.problems(file)):
            print(f"{file.relative_to(root)}:{line}: {word!r}: {replacement}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
