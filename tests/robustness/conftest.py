"""What the robustness tests of campaigns share: an undisturbed simulated campaign."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robustness.campaigns import PRETENDED, Kept, Pretending, stored_state

CELLS = 260
"""More than any of the tests that compare with it."""


@pytest.fixture(scope="session")
def pretended_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it lies, in SQLite: what comes of a campaign does not depend on the database."""
    out = tmp_path_factory.mktemp("undisturbed")
    Pretending(out, cells=CELLS).ended()
    return out


@pytest.fixture
def undisturbed_like(pretended_folder: Path):
    """What it holds up to the last epoch of another; what comes of an epoch does not depend on the budget."""

    def like(other: Kept) -> Kept:
        assert other.epoch >= 3
        return stored_state(pretended_folder, PRETENDED, until=other.epoch)

    return like
