"""Leftovers of killed campaigns are removed, files in use are not."""

from __future__ import annotations

import os
import time
from pathlib import Path

from eqfuzz.campaign.engine.disk_space import remove_leftovers


def test_only_old_leftovers_are_removed(tmp_path: Path) -> None:
    old = [tmp_path / "tmp" / "case-a", tmp_path / "findings" / ".0123456789-x"]
    new = [tmp_path / "tmp" / "case-b", tmp_path / "findings" / ".9876543210-x"]
    others = [tmp_path / "tmp" / "linker", tmp_path / "findings" / "0123456789", tmp_path / "cache" / "case-c"]
    for folder in (*old, *new, *others):
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    for folder in (*old, *others):
        os.utime(folder, (0, time.time() - 2 * 86400))
    remove_leftovers(tmp_path)
    assert [folder.exists() for folder in old] == [False, False]
    assert all(folder.exists() for folder in (*new, *others))
