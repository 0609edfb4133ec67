"""The commands that README, tutorial and how-to guides print do what the pages say, in a copy of the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eqfuzz.commands.journal import Journal
from tools.documented_commands import PAGES, ROOT, blocks_of, journaled

JOURNAL = "EQFUZZ_DOCUMENTED_COMMANDS"
"""Names a file with the results of pages, which a later run takes over."""

SKIPPED = [
    pytest.param(command.text, command.reason, id=f"{block.place}-{command.text}")
    for page in PAGES
    for block in blocks_of(page)
    for command in block.skipped
]
LONG = [page for page in PAGES if any(block.is_long for block in blocks_of(page))]
SHORT = [page for page in PAGES if any(block.commands and not block.is_long for block in blocks_of(page))]


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", SHORT, ids=ids)
def test_short_commands_of_page_work(page: Path):
    results = journaled(page, None, runs_long=False)
    assert [result for result in results if result["problem"]] == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", LONG, ids=ids)
def test_all_commands_of_page_work(page: Path, tmp_path: Path):
    journal = Journal(Path(os.environ.get(JOURNAL, tmp_path / "documented-commands.jsonl")))
    results = journaled(page, journal, runs_long=True)
    assert results
    assert [result for result in results if result["problem"]] == []


@pytest.mark.parametrize(("command", "reason"), SKIPPED)
def test_skipped_commands(command: str, reason: str):
    pytest.skip(f"{command}: {reason}")
