"""Messages normalised so that programs with the same failure have equal ones."""

from __future__ import annotations

import re

CALL = re.compile(r"^call \d+(?: \((?P<label>.*?)\))?: ")
"""The prefix of a verdict's message that names a call."""

# An apostrophe within a word (doesn't) is no quotation mark.
_QUOTED = re.compile(r"(?<!\w)(['\"`]).*?\1(?!\w)")
_NUMBER = re.compile(r"\b0x[0-9a-fA-F…]+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# Nodes of a graph: the operators sqrt of a program are called sqrt, sqrt_1 or sqrt_default_1.
_NODE = re.compile(r"(?<=[a-z])(?:(?:_default)+(?:_\d+)?|_\d+)\b")
_LONGEST = 200


def normalised(message: str) -> str:
    """``message`` without the call, quoted names, numbers and the suffixes of node names."""
    text = CALL.sub("", " ".join(message.split()))
    return _QUOTED.sub(r"\1…\1", _NUMBER.sub("N", _NODE.sub("", text)))[:_LONGEST].rstrip()
