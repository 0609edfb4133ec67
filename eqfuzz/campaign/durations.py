"""Durations as people write them."""

from __future__ import annotations

import re

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")


def seconds(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``1h``, ``1h30m``. Raises ValueError with one line."""
    parts = _PART.findall(text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise ValueError(f"{text!r} is not a duration: write 90, 10m, 1h or 1h30m")
    total = sum(float(number) * UNITS[unit] for number, unit in parts)
    if total <= 0:
        raise ValueError(f"{text!r} leaves no time: give more than 0 seconds")
    return total
