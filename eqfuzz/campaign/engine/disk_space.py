"""Disk space: a compiler that cannot write its files is no finding."""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
import time
from pathlib import Path

from eqfuzz.campaign.executors.item_runner import ItemResult

LEAST_FREE = 64 * 2**20
"""Free bytes below which no item is started, and an item that was just done is run again."""

DISK_FULL = "disk full"
RECHECK_SECONDS = 5.0
"""Wall seconds between two checks of a full disk."""

STALE_SECONDS = 86400.0
"""Age in wall seconds from which a working folder belongs to no process."""

_FULL = re.compile(r"No space left on device|Disk quota exceeded|ENOSPC|EDQUOT")


class DiskFullError(Exception):
    """The disk is full."""

    @staticmethod
    def is_cause_of(error: OSError) -> bool:
        return error.errno in (errno.ENOSPC, errno.EDQUOT)


def has_space(folder: Path) -> bool:
    """Whether the files of one item fit below ``folder``."""
    return shutil.disk_usage(folder).free >= LEAST_FREE


def mentions_full_disk(result: ItemResult) -> bool:
    """Whether a finding or an error was caused by a full disk, by its message."""
    texts = [event.finding.verdict.message for event in result.findings]
    texts += [result.outcome.reason, result.outcome.details]
    return any(_FULL.search(text) for text in texts)


def remove_leftovers(folder: Path) -> None:
    """Remove old working folders and half-written findings of killed calls below a campaign's folder."""
    for path in (*folder.glob("tmp/case-*"), *folder.glob("*/tmp/case-*"), *folder.glob("findings/.*-*")):
        with contextlib.suppress(OSError):  # another process removes it too
            if path.stat().st_mtime < time.time() - STALE_SECONDS:
                shutil.rmtree(path)
