"""Messages without what differs between programs that fail alike."""

from __future__ import annotations

import re

CALL = re.compile(r"^call \d+(?: \((?P<label>.*?)\))?: ")
"""How a verdict's message begins that is about one call."""

# An apostrophe within a word (doesn't) opens and closes nothing.
_QUOTED = re.compile(r"(?<!\w)(['\"`]).*?\1(?!\w)")
_NUMBER = re.compile(r"\b0x[0-9a-fA-F…]+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# Nodes of a graph: which sqrt of a program fails makes it sqrt, sqrt_1 or sqrt_default_1.
_NODE = re.compile(r"(?<=[a-z])(?:(?:_default)+(?:_\d+)?|_\d+)\b")
_LONGEST = 200


def normalised(message: str) -> str:
    """``message`` without what differs between programs that fail alike: call, quoted names, numbers, which node."""
    text = CALL.sub("", " ".join(message.split()))
    return _QUOTED.sub(r"\1…\1", _NUMBER.sub("N", _NODE.sub("", text)))[:_LONGEST].rstrip()
