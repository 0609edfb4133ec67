"""The site of the documentation: ``make docs`` builds it from the Markdown pages that GitHub shows.

The source folder is the root of the repository, so that relative links lead to the same files in both.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from eqfuzz import __version__  # noqa: E402

project = "eqfuzz"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/**.md"]
# Reports for PyTorch's tracker are files that pages link to. Other folders are not searched: environments are large.
exclude_patterns = ["docs/findings/issues", *(path.name for path in ROOT.iterdir() if path.is_dir() and path != DOCS)]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"eqfuzz {release}"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False

_FINDING = re.compile(r"docs/findings/\d+-")
_ENTRY = re.compile(r"^(?:- |\| \d+ \| )\[(.+?)\]\(([\w./-]+)\.md\)", re.MULTILINE)
"""The link with which an entry of a list, or a numbered row of a table, begins."""
_LINK = re.compile(r"\[(?P<text>[^]\n]+)\]\((?P<target>[\w./-]+)\)")
_HEADER = re.compile(r"---\n(.*?)\n---\n\s*(# [^\n]+\n)", re.DOTALL)


def contents_of(page: str) -> list[str]:
    """The pages below an index, those that its lists and tables name, under the names that they have there."""
    return [target if "`" in name else f"{name} <{target}>" for name, target in _ENTRY.findall(page)]


def with_contents(page: str) -> str:
    """An index page with its entries as contents of the side bar."""
    return "\n".join([page, "```{toctree}", ":hidden:", "", *contents_of(page), "```", ""])


def with_header(page: str, stem: str) -> str:
    """The page of a defect with its front matter as a table, and a link to its report for PyTorch."""
    header = _HEADER.match(page)
    if header is None:
        return page
    fields = [line.partition(": ") for line in header[1].splitlines()]
    table = ["| | |", "|---|---|", *(f"| {name} | {_linked(value)} |" for name, _, value in fields)]
    report = f"Report for PyTorch: {{download}}`{stem}.md <issues/{stem}.md>`"
    return "\n".join([header[2], *table, page[header.end() :], report, ""])


def without_folders(page: str, folder: Path) -> str:
    """A page in ``folder`` with links to folders as plain text: GitHub lists a folder, the site does not."""

    def replace(link: re.Match[str]) -> str:
        return link["text"] if (folder / link["target"]).is_dir() else link[0]

    return _LINK.sub(replace, page)


def _linked(value: str) -> str:
    """A field of the front matter, addresses and seeds as links."""
    value = re.sub(r"https://\S+", r"<\g<0>>", value)
    return re.sub(r"seeds/\S+\.py", r"[\g<0>](../../\g<0>)", value)


def read_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Add to a page what the site has and GitHub shows by itself."""
    source[0] = without_folders(source[0], (ROOT / name).parent)
    if _FINDING.match(name):
        source[0] = with_header(source[0], Path(name).name)
    elif name.endswith("/index"):
        source[0] = with_contents(source[0])


def write_start(app: Sphinx, error: Exception | None) -> None:
    """Lead from the folder of the site to its first page."""
    if error is None and app.builder.format == "html":
        target = f"{root_doc}.html"
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={target}"><a href="{target}">eqfuzz</a>\n'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read_source)
    app.connect("build-finished", write_start)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
