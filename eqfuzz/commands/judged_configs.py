"""Verdicts on sampled configurations by seed, kept in the run's folder for later runs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from eqfuzz.atomic_file import write_atomically
from eqfuzz.errors import one_line
from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind

FILE = "config-state.json"


@dataclasses.dataclass(frozen=True)
class JudgedConfig:
    """Verdict on one configuration of one seed."""

    seed: str
    """Name of the seed."""
    digest: str
    """``Program.digest`` of the seed."""
    config: str
    """Name of the configuration."""
    values: dict[str, dict[str, Any]]
    """Values of options by module."""
    under: dict[str, Any]
    """What else decides the verdict: torch, preload, random seed and others."""
    kind: str
    """Kind of the verdict."""
    message: str
    """That of the verdict, one line."""
    finding: str = ""
    """Id of its finding; empty for none."""

    @property
    def is_finding(self) -> bool:
        return VerdictKind(self.kind) in FINDINGS

    @property
    def key(self) -> str:
        """Equal for the same configuration of the same program under the same circumstances."""
        return json.dumps([self.digest, self.values, self.under], sort_keys=True)


class BadState(Exception):
    """The state file cannot be read; ``str()`` is one line."""


class ConfigState:
    """The state in ``folder``; every addition is on disk, whole, before it returns. Raises BadState."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self._judged: dict[str, JudgedConfig] = {}
        if not self.file.exists():
            return
        try:
            for record in json.loads(self.file.read_text(encoding="utf-8"))["judged"]:
                judged = JudgedConfig(**record)
                self._judged[judged.key] = judged
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadState(f"{self.file}: cannot be read: {one_line(str(error))}; remove it") from None

    def add(self, judged: JudgedConfig) -> None:
        """Add a verdict, or replace the one with the same key."""
        self._judged[judged.key] = judged
        self._write()

    def lookup(self, key: str) -> JudgedConfig | None:
        return self._judged.get(key)

    def _write(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        whole = {"judged": [dataclasses.asdict(judged) for judged in self._judged.values()]}
        write_atomically(self.file, json.dumps(whole, indent=1) + "\n")
