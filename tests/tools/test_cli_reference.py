"""The page of the command line is what the verbs declare."""

from tools.cli_reference import PAGE, render


def test_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m tools.cli_reference"


def test_every_option_is_described():
    rows = [line for line in render().splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    assert not [row for row in rows if row.endswith("|  |")]
