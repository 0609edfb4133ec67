"""Running eqfuzz as a user does, and reading what it prints."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Run:
    """One finished command: exit code, parsed JSON events, and stderr."""

    code: int
    events: list[dict[str, Any]]
    errors: str

    @property
    def summary(self) -> dict[str, Any]:
        assert self.events, self.errors
        assert self.events[-1]["event"] == "summary", self.events[-1]
        return self.events[-1]

    def of(self, event: str, seed: str = "") -> list[dict[str, Any]]:
        """Events of one kind, of seeds whose path ends with ``seed``."""
        return [e for e in self.events if e["event"] == event and str(e.get("seed", "")).endswith(seed)]

    def kinds(self, seed: str = "") -> set[str]:
        """Kinds of verdict of compiled cells."""
        return {e["verdict"]["kind"] for e in self.of("cell", seed) if e["config"]}


def eqfuzz(*arguments: object, timeout: float = 280) -> subprocess.CompletedProcess[str]:
    """The command as it is installed."""
    command = [sys.executable, "-m", "eqfuzz", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)


def mutate(*arguments: object, out: Path, timeout: float = 280) -> Run:
    """``eqfuzz mutate … --format json``; what costs a compilation each, only where it is asked for.

    Every finding counts as new, and none is placed, unless ``--no-check`` says something else.
    """
    if "--steps" not in arguments:
        arguments = (*arguments, "--steps", 0)
    if "--no-check" not in arguments:
        arguments = (*arguments, "--no-check", "draws,place")
    if "--threaded" not in arguments:
        arguments = (*arguments, "--threaded", 0)
    if "--known-issues" not in arguments:
        arguments = (*arguments, "--no-known-issues")
    done = eqfuzz("mutate", *arguments, "--format", "json", "--out", out, timeout=timeout)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return Run(done.returncode, events, done.stderr)


def write(folder: Path, name: str, source: str) -> Path:
    """A seed file with ``source``."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path
