"""Format counts, durations, rates, values and versions for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eqfuzz.program.release import Release

_BLOCKS = "▁▂▃▄▅▆▇█"
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if code != 10}
_NO_CHARACTERS = dict.fromkeys((*range(55296, 57344), 65534, 65535), "�")


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 seed``, ``1,204 seeds``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """``4.2 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def rate(cells: int, seconds: float) -> str:
    """Compiled cells per minute of wall time; ``-`` before any time has passed."""
    return f"{60 * cells / seconds:,.0f} cells/min" if seconds > 0 else "- cells/min"


def sparkline(values: Sequence[float], width: int = 24) -> str:
    """``values`` as bars of eight heights from 0, at most ``width`` of them: the last value of each stretch."""
    if not values or max(values) <= 0:
        return ""
    step = max(1, -(-len(values) // width))
    sampled = [values[min(i + step, len(values)) - 1] for i in range(0, len(values), step)]
    return "".join(_BLOCKS[min(int(v / max(sampled) * len(_BLOCKS)), len(_BLOCKS) - 1)] for v in sampled)


def value(scalar: Any) -> str:
    """A Python scalar with all its digits; a string as it is."""
    return printable(scalar if isinstance(scalar, str) else repr(scalar))


def named_versions(versions: Mapping[str, str]) -> str:
    """``eqfuzz 0.1.0, torch 2.15.0 cu132, python 3.12.3``."""
    release = Release.from_versions(versions)
    texts = {**versions, "torch": release.in_full()}
    return ", ".join(
        f"{name} {texts[name]}" for name in versions if name == "torch" or name not in release.to_versions()
    )


def printable(text: str) -> str:
    """``text`` with control characters but the line break as ``\ufffd``: what seeds print must not steer a terminal."""
    return text.translate(_CONTROLS)


def encodable(text: str) -> str:
    """``printable`` text without what UTF-8 and XML cannot hold, such as the surrogates of undecodable file names."""
    return printable(text).translate(_NO_CHARACTERS)
