"""Room on the disk: a compiler that cannot write its files is no finding."""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
import time
from pathlib import Path

from eqfuzz.campaign.executors.item_runner import ItemResult

LEAST_FREE = 64 * 2**20
"""Bytes: less, and nothing is begun, and what was just done is done again."""

DISK_FULL = "disk full"
ROOM_SECONDS = 5.0
"""Wall seconds after which is looked again whether there is room."""

LEFT_SECONDS = 86400.0
"""Wall seconds after which nobody works any more on what lies about."""

_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|ENOSPC|EDQUOT")


class DiskFullError(Exception):
    """The disk is full."""

    @staticmethod
    def is_meant_by(error: OSError) -> bool:
        return error.errno in (errno.ENOSPC, errno.EDQUOT)


def enough_room(folder: Path) -> bool:
    """Whether what one case writes fits below ``folder``."""
    return shutil.disk_usage(folder).free >= LEAST_FREE


def tells_of_no_room(performed: ItemResult) -> bool:
    """Whether a finding, or a breakdown, was made by a full disk."""
    told = [event.finding.verdict.message for event in performed.findings]
    told += [performed.outcome["reason"], str(performed.outcome.get("details", ""))]
    return any(_NO_ROOM.search(text) for text in told)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed calls of a campaign left below its folder: cases' working folders, findings half written."""
    for path in (*folder.glob("tmp/case-*"), *folder.glob("*/tmp/case-*"), *folder.glob("findings/.*-*")):
        with contextlib.suppress(OSError):  # somebody else removes it too
            if path.stat().st_mtime < time.time() - LEFT_SECONDS:
                shutil.rmtree(path)
