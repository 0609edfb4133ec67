"""Why seeds are invalid, in lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.events.run import InvalidReason
from eqfuzz.report.formatting import count, printable

REASONS_SHOWN = 5


def reason_lines(reasons: Sequence[InvalidReason]) -> list[str]:
    """A line for each of the first reasons, ``6 × raises in eager: … (seeds/a.py:3, …)``, and one for all others."""
    lines = []
    for reason in reasons[:REASONS_SHOWN]:
        others = ", …" if reason.count > 1 else ""
        lines.append(printable(f"{reason.count:,} × {reason.reason} ({reason.place}{others})"))
    rest = reasons[REASONS_SHOWN:]
    if rest:
        lines.append(f"and {count(len(rest), 'more reason')} ({count(sum(one.count for one in rest), 'seed')})")
    return lines
