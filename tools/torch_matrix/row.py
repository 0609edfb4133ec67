"""Measurement of one release of torch, in steps whose results are JSON."""

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
"""Parts in which the shipped seeds run; an interruption loses at most one of them."""

MUTATE_OPTIONS = ("--variants", "2", "--steps", "0", "--no-check", "audit", "--no-check", "draws")
"""Two variants of each seed, on its own inputs, without the checks that only explain a finding."""

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
        process = self._eqfuzz("doctor")
        lines = process.stdout.splitlines()
        needed = next((line.partition(": ")[2] for line in lines if line.startswith("needed and missing")), "")
        return {"passed": process.returncode == 0, "detail": needed or _last_line(process.stderr)}

    def _self_check(self) -> Result:
        process = self._eqfuzz("self-check", "--out", str(self.out / "self-check"), "--format", "json")
        failed = [step for step in _events(process.stdout) if step.get("event") == "step" and not step["passed"]]
        detail = "; ".join(f"{step['step']}: {step['detail']}" for step in failed)
        return {"passed": process.returncode == 0, "detail": detail or _last_line(process.stderr)}

    def _contract(self) -> Result:
        tests = "tests/unit/torch_internals"
        process = self._run("-m", "pytest", "-q", "-n", "0", tests)
        errors = [line.partition(" - ")[2] for line in process.stdout.splitlines() if line.startswith("FAILED")]
        return {"passed": process.returncode == 0, "detail": "; ".join(errors) or _last_line(process.stderr)}

    def _seeds(self, part: int) -> Result:
        files = sorted((ROOT / "seeds").rglob("*.py"))[part::PARTS]
        options = ["--jobs", str(self.jobs), "--out", str(self.out / f"seeds-{part}"), "--format", "json"]
        names = [str(file.relative_to(ROOT)) for file in files]
        process = self._eqfuzz("mutate", *names, *MUTATE_OPTIONS, *options)
        return summarise(_events(process.stdout), _last_line(process.stderr))

    def _eqfuzz(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("-m", "eqfuzz", *arguments)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.environment.python, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def summarise(events: list[Result], error: str) -> Result:
    """Counts of a run over seeds, from its JSON lines; ``error`` is its last line on stderr. Raises RuntimeError."""
    summary = next((event for event in events if event["event"] == "summary"), None)
    if summary is None or summary["interrupted"]:
        raise RuntimeError(f"a run over the shipped seeds did not end: {error}")
    cells = [event for event in events if event["event"] == "cell" and event["config"]]
    unsupported = Counter(
        without_numbers(cell["verdict"]["message"]) for cell in cells if cell["verdict"]["kind"] == "unsupported"
    )
    findings = [event for event in events if event["event"] == "finding"]
    return {
        "seeds": summary["seeds"],
        "invalid": dict(Counter(without_numbers(event["reason"]) for event in events if event["event"] == "invalid")),
        "cells": len(cells),
        "verdicts": dict(Counter(cell["verdict"]["kind"] for cell in cells)),
        "unsupported": dict(unsupported),
        "known": sorted({f"{event['issue']} {Path(event['seed']).name}" for event in findings if event["issue"]}),
        "new": sorted({f"{event['seed']}: {event['fingerprint']}" for event in findings if not event["issue"]}),
        "gone": summary["gone"],
        "cpu_seconds": summary["cpu_seconds"],
        "errors": summary["errors"],
    }


def combine(parts: list[Mapping[str, Any]]) -> Result:
    """All parts of a row as one: numbers added, counts merged, lists joined."""
    total: Result = {}
    for part in parts:
        for key, value in part.items():
            if isinstance(value, Mapping):
                total[key] = dict(Counter(total.get(key, {})) + Counter(value))
            elif isinstance(value, list):
                total[key] = sorted({*total.get(key, []), *value})
            else:
                total[key] = total.get(key, 0) + value
    return total


def without_numbers(message: str) -> str:
    """A message with its numbers replaced by N, at most 100 characters."""
    return re.sub(r"\d+(\.\d+)?", "N", " ".join(message.split()))[:100]


def _events(text: str) -> list[Result]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return " ".join(lines[-1].split()) if lines else ""
