"""Every link, path and module that the documentation names exists."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

import eqfuzz

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
SOURCES = sorted(file for name in ("eqfuzz", "rewrites", "tools", "benchmarks") for file in (ROOT / name).rglob("*.py"))
BASES = [ROOT, ROOT / "eqfuzz", ROOT / "docs", ROOT / "seeds", ROOT / "seeds" / "handwritten"]
"""Folders that paths are named from."""

HISTORY = ROOT / "CHANGELOG.md"
"""Names files as they were."""


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page.read_text(encoding="utf-8")), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_to_files_and_headings(page):
    text = without_blocks(page.read_text(encoding="utf-8"))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if ":" in name:
            continue
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_index_of_measurements_has_every_page():
    folder = ROOT / "docs" / "measurements"
    index = (folder / "index.md").read_text(encoding="utf-8")
    pages = [str(page.relative_to(folder)) for page in sorted(folder.rglob("*.md"))]
    assert [page for page in pages if page != "index.md" and f"]({page})" not in index] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != HISTORY], ids=ids)
def test_pages_name_files_and_modules_that_exist(page):
    assert missing_names(without_blocks(page.read_text(encoding="utf-8")), "`", page.parent) == []


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_examples_import_what_exists(page):
    lines = re.findall(r"^from (eqfuzz[\w.]*) import ([\w, ]+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    names = [f"{module}.{name.strip()}" for module, imported in lines for name in imported.split(",")]
    assert [name for name in names if not _is_defined(name)] == []


def test_sources_name_files_and_modules_that_exist():
    names = {ids(file): missing_names(file.read_text(encoding="utf-8"), "``", file.parent) for file in SOURCES}
    assert {file: missing for file, missing in names.items() if missing} == {}


def test_docstrings_name_exceptions_that_exist():
    lines = [(ids(file), line) for file in SOURCES for line in file.read_text(encoding="utf-8").splitlines()]
    used = {*dir(subprocess)} | {
        word for _, line in lines if "Raises " not in line for word in re.findall(r"\w+", line)
    }
    named = re.compile(r"Raises (\W*[A-Z_]\w+(?:(?:,| and|, and| or) \W*[A-Z_]\w+)*)")
    missing = [
        f"{file}: {name}"
        for file, line in lines
        for names in named.findall(line)
        for name in re.findall(r"[A-Z_]\w+", names)
        if name not in used
    ]
    assert missing == []


@pytest.mark.parametrize("number", range(1, 1 + len(DECISIONS)))
def test_decisions_are_numbered_and_follow_the_template(number):
    (page,) = [page for page in DECISIONS if page.name.startswith(f"{number:04}-")]
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {number}. ")
    assert re.findall(r"^- (Status|Date): \S", text, re.MULTILINE) == ["Status", "Date"]
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[:3] == ["Context", "Decision", "Consequences"]
    assert headings[3:] in ([], ["Alternatives"])


def test_readme_is_short_and_counts_the_defects_found():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split()) <= 600
    scripts = list((ROOT / "docs" / "findings").glob("*.py"))
    assert scripts
    assert f"[{len(scripts)} defects in PyTorch" in text


def test_tests_that_hold_the_features_of_other_systems_exist():
    text = (ROOT / "docs" / "reference" / "other-systems.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| [A-C]\d+ ", line)]
    assert [row.split()[1] for row in rows] == [
        f"{a}{n}" for a, most in (("A", 17), ("B", 5), ("C", 7)) for n in range(1, most + 1)
    ]
    for row in rows:
        held = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row)
        assert held, row
        for file, name in held:
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8") if name else (ROOT / file).is_file(), (
                name
            )


def missing_names(text: str, quote: str, folder: Path) -> list[str]:
    """Paths and dotted names of this project between ``quote`` that lead nowhere from ``folder`` or ``BASES``."""
    quoted = set(re.findall(rf"(?<!`){quote}([^`\s]+){quote}(?!`)", text))
    plain = set(re.findall(r"(?<![\w/.`-])(?<!\]\()[\w-]+(?:/[\w-]+)+\.md\b", text))
    names = sorted(quoted | plain)
    return [name for name in names if not (_is_there(name, folder) if "/" in name else _is_defined(name))]


def _is_there(name: str, folder: Path) -> bool:
    """Whether a path exists, or does not begin with a folder that is in one of ``BASES``."""
    if not re.fullmatch(r"[\w./-]+", name) or name.startswith("eqfuzz-out/"):  # what runs write
        return True
    first, *rest = name.split("/")
    bases = [base for base in BASES if rest and (base / first).is_dir()]
    is_file = re.search(r"\.(py|md|toml|json|jsonl)$", name) or name.endswith("/")
    return not bases or not is_file or any((base / name).exists() for base in [*bases, folder])


def _is_defined(name: str) -> bool:
    """Whether a dotted name of eqfuzz or tools is a module, or occurs in the module that it names."""
    if not re.fullmatch(r"(eqfuzz|tools|benchmarks)(\.\w+)+", name):
        return True
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:count])
        if path.is_dir() and count == len(parts):
            return True
        if path.with_suffix(".py").exists():
            text = path.with_suffix(".py").read_text(encoding="utf-8")
            return all(re.search(rf"\b{part}\b", text) for part in parts[count:])
    return name == "eqfuzz.toml" or (len(parts) == 2 and name.removeprefix("eqfuzz.") in eqfuzz.__all__)
