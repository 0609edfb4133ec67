"""Reference pages are made from declarations, the same each time."""

import re

import pytest

from tools.reference_pages import FOLDER, PAGES, python_page, rules_page


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name: str):
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run python -m tools.reference_pages"


def test_rules_have_descriptions():
    rows = re.findall(r"^\| `[^|]+\|([^|]*)\|", rules_page(), re.MULTILINE)
    assert len(rows) > 1000
    assert [row for row in rows if not row.strip()] == []


def test_python_page_has_every_argument():
    page = python_page()
    arguments = set(re.findall(r"^    \*{0,2}(\w+)(?::|,)", page, re.MULTILINE))
    assert {"model", "inputs", "time", "options"} <= arguments
    assert {name for name in arguments if f"| `{name}` |" not in page} == set()
