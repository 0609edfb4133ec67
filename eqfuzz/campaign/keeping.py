"""Variants kept as seed files: a corpus that later runs take as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

_SEED, _RULES = "# A variant of ", "# Rewritten by "


def keep_variant(folder: Path, seed: str, source: str, rules: Sequence[str]) -> Path:
    """Write ``source`` to ``folder``, with a head that tells the seed and the rules; the name tells seed and text."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{Path(seed).stem}-{hashlib.sha256(source.encode()).hexdigest()[:10]}.py"
    path.write_text(text_of_variant(seed, source, rules), encoding="utf-8")
    return path


def text_of_variant(seed: str, source: str, rules: Sequence[str]) -> str:
    """``source`` as a seed file, with a head that tells the seed and the rules."""
    return f"{_SEED}{seed}\n{_RULES}{', '.join(rules)}\n{source}"


def kept_rules(path: Path) -> list[str]:
    """The rules that made the kept variant at ``path``; none for any other seed."""
    first, second, *_ = [*path.read_text(encoding="utf-8").split("\n", 2), "", ""]
    if not (first.startswith(_SEED) and second.startswith(_RULES)):
        return []
    return second.removeprefix(_RULES).split(", ")
