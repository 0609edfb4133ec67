"""What is measured of one release of torch, a step at a time: each result is plain JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tools.torch_matrix.environment import ROOT, Environment

PARTS = 4
"""The shipped seeds are run in so many parts, so that a run that was cut off loses at most one."""

CALL = ("--variants", "2", "--steps", "0", "--no-check", "audit", "--no-check", "draws")
"""Two variants of each seed, called on its own inputs; what only explains a finding is left out."""

Result = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Runs the steps of a row in ``environment``; everything is written below ``out``."""

    environment: Environment
    out: Path
    jobs: int

    def steps(self) -> dict[str, Callable[[], Result]]:
        """The steps by name, in their order."""
        parts = {f"seeds {part + 1}": (lambda part=part: self._seeds(part)) for part in range(PARTS)}
        return {"doctor": self._doctor, "self-check": self._self_check, **parts, "contract": self._contract}

    def _doctor(self) -> Result:
        ran = self._eqfuzz("doctor")
        lines = ran.stdout.splitlines()
        needed = next((line.partition(": ")[2] for line in lines if line.startswith("needed and missing")), "")
        return {"passed": ran.returncode == 0, "detail": needed or _last_line(ran.stderr)}

    def _self_check(self) -> Result:
        ran = self._eqfuzz("self-check", "--out", str(self.out / "self-check"), "--format", "json")
        failed = [step for step in _events(ran.stdout) if step.get("event") == "step" and not step["passed"]]
        detail = "; ".join(f"{step['step']}: {step['detail']}" for step in failed)
        return {"passed": ran.returncode == 0, "detail": detail or _last_line(ran.stderr)}

    def _contract(self) -> Result:
        tests = "tests/unit/torch_internals"
        ran = self._run("-m", "pytest", "-q", "-n", "0", tests)
        errors = [line.partition(" - ")[2] for line in ran.stdout.splitlines() if line.startswith("FAILED")]
        return {"passed": ran.returncode == 0, "detail": "; ".join(errors) or _last_line(ran.stderr)}

    def _seeds(self, part: int) -> Result:
        files = sorted((ROOT / "seeds").rglob("*.py"))[part::PARTS]
        options = ["--jobs", str(self.jobs), "--out", str(self.out / f"seeds-{part}"), "--format", "json"]
        names = [str(file.relative_to(ROOT)) for file in files]
        ran = self._eqfuzz("mutate", *names, *CALL, *options)
        return summarise(_events(ran.stdout), _last_line(ran.stderr))

    def _eqfuzz(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("-m", "eqfuzz", *arguments)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.environment.python, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def summarise(events: list[Result], trouble: str) -> Result:
    """What a run over seeds comes to, from its JSON lines; ``trouble`` is what it said where it has no summary."""
    summary = next((event for event in events if event["event"] == "summary"), None)
    if summary is None or summary["interrupted"]:
        raise RuntimeError(f"a run over the shipped seeds did not end: {trouble}")
    cells = [event for event in events if event["event"] == "cell" and event["config"]]
    unsupported = Counter(
        plain(cell["verdict"]["message"]) for cell in cells if cell["verdict"]["kind"] == "unsupported"
    )
    findings = [event for event in events if event["event"] == "finding"]
    return {
        "seeds": summary["seeds"],
        "invalid": dict(Counter(plain(event["reason"]) for event in events if event["event"] == "invalid")),
        "cells": len(cells),
        "verdicts": dict(Counter(cell["verdict"]["kind"] for cell in cells)),
        "unsupported": dict(unsupported),
        "known": sorted({f"{event['issue']} {Path(event['seed']).name}" for event in findings if event["issue"]}),
        "new": sorted({f"{event['seed']}: {event['fingerprint']}" for event in findings if not event["issue"]}),
        "gone": summary["gone"],
        "cpu_seconds": summary["cpu_seconds"],
        "errors": summary["errors"],
    }


def together(parts: list[Mapping[str, Any]]) -> Result:
    """The parts of a row as one: numbers added, counts merged, lists joined."""
    whole: Result = {}
    for part in parts:
        for key, value in part.items():
            if isinstance(value, Mapping):
                whole[key] = dict(Counter(whole.get(key, {})) + Counter(value))
            elif isinstance(value, list):
                whole[key] = sorted({*whole.get(key, []), *value})
            else:
                whole[key] = whole.get(key, 0) + value
    return whole


def plain(message: str) -> str:
    """A message without the numbers that set equal ones apart, at most 100 characters of it."""
    return re.sub(r"\d+(\.\d+)?", "N", " ".join(message.split()))[:100]


def _events(text: str) -> list[Result]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return " ".join(lines[-1].split()) if lines else ""
