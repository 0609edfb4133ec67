"""Issues of PyTorch's tracker, from a file, and the likely duplicates of a finding among them.

Issues are compared by the names in them: the pass or lowering, operators, the exception, innermost functions of torch.
Such names are the same everywhere, so they are compared as a whole; an edit distance, as rapidfuzz has, would rate
``amin`` and ``argmin`` alike. A name counts the more the fewer issues have it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pydantic

MOST = 5
"""How many likely duplicates are named."""

LEAST_SCORE = 0.3
LIKELY = 0.6
"""Score from which an issue is a likely duplicate."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COMMON = frozenset(
    "a an and are as at be by call compile compiled compiles for from gives if in is it not of on or return returns "
    "self the this to torch true false none when with without x y aten default tensor import def".split()
)


class TrackedIssue(pydantic.BaseModel):
    """An issue as ``gh issue list --json number,title,body,labels,url`` writes it."""

    model_config = pydantic.ConfigDict(extra="ignore", frozen=True)

    number: int
    title: str
    body: str | None = ""
    labels: tuple[str | dict, ...] = ()
    url: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The names in it, in lower case."""
        labels = [label if isinstance(label, str) else str(label.get("name", "")) for label in self.labels]
        return frozenset(names_in(" ".join([self.title, self.body or "", *labels])))


@dataclasses.dataclass(frozen=True)
class LikelyDuplicate:
    """An issue with its ``score`` from 0 to 1, and the ``shared`` names, the rarest first."""

    issue: TrackedIssue
    score: float
    shared: tuple[str, ...]

    @property
    def address(self) -> str:
        return self.issue.url or f"https://github.com/pytorch/pytorch/issues/{self.issue.number}"


def read_tracker(file: Path) -> list[TrackedIssue]:
    """The issues of a file of JSON lines, or of one JSON array. Raises ValueError with file and line."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if text.lstrip().startswith("["):
        items = _parsed(text, str(file))
        return [_issue(item, f"{file}: issue {number}") for number, item in enumerate(items, 1)]
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return [_issue(_parsed(line, f"{file}:{number}"), f"{file}:{number}") for number, line in lines]


def likely_duplicates(
    issues: Sequence[TrackedIssue], weights: Mapping[str, float], most: int = MOST
) -> list[LikelyDuplicate]:
    """The issues that share the most with ``weights``, the importance of each text that is searched for.

    The score is the share of the weights whose names an issue has, each times how rare the name is.
    """
    wanted: dict[str, float] = {}
    for text, weight in weights.items():
        for name in names_in(text):
            wanted[name] = max(weight, wanted.get(name, 0.0))
    held = [issue.names for issue in issues]
    counts = Counter(name for names in held for name in names & wanted.keys())
    rarity = {name: math.log(1 + (10 + len(issues)) / (1 + counts[name])) for name in wanted}
    total = sum(weight * rarity[name] for name, weight in wanted.items())
    ranked: list[LikelyDuplicate] = []
    for issue, names in zip(issues, held, strict=True):
        shared = sorted(names & wanted.keys(), key=lambda name: (-wanted[name] * rarity[name], name))
        score = sum(wanted[name] * rarity[name] for name in shared) / total if total > 0 else 0.0
        if score >= LEAST_SCORE:
            ranked.append(LikelyDuplicate(issue, score, tuple(shared)))
    return sorted(ranked, key=lambda one: (-one.score, -one.issue.number))[:most]


def names_in(text: str) -> set[str]:
    """Names in lower case; of a private name such as ``_low_memory_max_pool`` also what follows its underscore."""
    names = {name.lower() for name in _NAME.findall(text)}
    return {name.strip("_") for name in names if len(name.strip("_")) > 1} - _COMMON


def _parsed(text: str, place: str) -> list | dict:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{place}: not valid JSON: {error}") from None


def _issue(item: object, place: str) -> TrackedIssue:
    try:
        return TrackedIssue.model_validate(item)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {f'{where}: ' if where else ''}{first['msg']}") from None
