"""The site of the documentation is built without a warning, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("sphinx", "furo", "myst_parser")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in NEEDED),
        reason=f"the docs site is not checked: {', '.join(NEEDED)} are missing (pip install 'eqfuzz[docs]')",
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-c",
        "docs",
        "-d",
        out / "trees",
        ".",
        out / "html",
    ]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0, done.stdout
    return out / "html"


def test_site_has_every_page(site: Path):
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    documents = [page.relative_to(ROOT).with_suffix(".html") for page in pages if page.parent.name != "issues"]
    assert [page for page in documents if not (site / page).is_file()] == []


def test_links_lead_to_files_and_anchors(site: Path):
    broken = []
    for page in site.rglob("*.html"):
        if "_static" in page.parts:
            continue
        for target in re.findall(r'href="([^"]+)"', page.read_text(encoding="utf-8")):
            name, _, anchor = unquote(target).partition("#")
            if ":" in name or name.startswith("?"):
                continue
            file = page.parent / name.partition("?")[0] if name else page
            if not file.is_file() or (anchor and f'id="{anchor}"' not in file.read_text(encoding="utf-8")):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []


def test_defects_show_their_fields_and_files(site: Path):
    (page,) = site.glob("docs/findings/010-*.html")
    text = page.read_text(encoding="utf-8")
    assert "Inductor, C++ code" in text
    assert 'href="https://github.com/pytorch/pytorch/issues/191499"' in text
    downloads = re.findall(r'href="\.\./\.\./(_downloads/[^"]+)"', text)
    assert {Path(name).suffix for name in downloads} == {".py", ".md"}


def test_index_leads_to_first_page(site: Path):
    (target,) = re.findall(r"url=([\w./]+)", (site / "index.html").read_text(encoding="utf-8"))
    assert "A fuzzer for" in (site / target).read_text(encoding="utf-8")
