"""One of the two interpreters: runs seeds and scripts there, and keeps what came of them in the journal."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import eqfuzz
from eqfuzz.commands.journal import Journal
from eqfuzz.commands.regressions.worker import WorkerJob
from eqfuzz.errors import UsageError, one_line
from eqfuzz.program.release import Release
from eqfuzz.run.processes.process_tree import die_with_parent
from eqfuzz.triage.confirm.replay import ERROR, ReplayOutcome, run_script
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.folder import is_untrusted, read_finding

WORKER = "eqfuzz.commands.regressions.worker"
_NEEDED = ("coverage", "filelock", "libcst", "numpy", "packaging", "pydantic", "torch")
"""Packages without which a worker does not start. Importing them to see takes seconds."""

_PRINT_MISSING = """
import importlib.util, sys
print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])
"""

SECONDS_TO_END = 20.0
"""Wall seconds that a worker has to stop its children."""


class WorkerFailed(Exception):
    """A run in the other interpreter broke down; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class SeedResult:
    """What came of a seed with one torch."""

    outcome: str
    """``agree``, ``differs``, ``invalid: …``, or the kinds of its other verdicts."""
    findings: tuple[str, ...] = ()
    """Ids of those that are in a folder."""
    lines: dict[str, int] = dataclasses.field(default_factory=dict)
    """Bitmaps of executed lines by path below ``torch``; empty where it was not traced."""

    def to_json(self) -> dict[str, Any]:
        lines = {path: f"{bits:x}" for path, bits in self.lines.items()}
        return {"outcome": self.outcome, "findings": list(self.findings), "lines": lines}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SeedResult:
        """Raises KeyError, TypeError or ValueError for what is none."""
        lines = {path: int(bits, 16) for path, bits in data["lines"].items()}
        return cls(data["outcome"], tuple(data["findings"]), lines)


class TorchSide:
    """``name`` is ``base`` or ``head``; ``job`` is what every run there has, without paths.

    Results belong to the release; where the ``other`` side has the same one, to the interpreter.
    """

    def __init__(
        self, name: str, python: str, release: Release, job: WorkerJob, journal: Journal, other: Release
    ) -> None:
        self.name = name
        self.python = python
        self.release = release
        is_alike = release == other
        self._build = {**release.to_versions(), **({"python": python} if is_alike else {})}
        label = re.sub(r"[^\w.]+", "-", f"{release} {release.git[:8]} {name if is_alike else ''}".strip())
        self._job = job.model_copy(update={"out": job.out / label, "traced": name == "base"})
        self._journal = journal
        self._process: subprocess.Popen[str] | None = None

    @property
    def out(self) -> Path:
        return self._job.out

    def require_eqfuzz(self) -> None:
        """Raises UsageError where the interpreter lacks what eqfuzz needs."""
        check = [self.python, "-c", _PRINT_MISSING, *_NEEDED]
        ended = subprocess.run(check, env=self._environment(), capture_output=True, text=True, errors="replace")
        missing = ended.stdout.split() if ended.returncode == 0 else ["what eqfuzz needs"]
        if missing:
            raise UsageError(
                f"--python: {self.python}: cannot run seeds without {', '.join(missing)}: install eqfuzz there, "
                "or name stand-alone scripts only"
            )

    def result(self, seed: Path) -> SeedResult | None:
        """What the journal has; None for nothing, and where a folder that it names is gone."""
        key = self._seed_key(seed)
        if key not in self._journal:
            return None
        result = SeedResult.from_json(self._journal.get(key, dict))
        folders = [self.out / "findings" / id for id in result.findings]
        return result if all(folder.is_dir() for folder in folders) else None

    def finding(self, id: str) -> tuple[Path, Finding] | None:
        """A finding of a result with its folder; None where it cannot be read."""
        folder = self.out / "findings" / id
        try:
            return folder, read_finding(folder)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def run_seeds(self, seeds: Sequence[Path], time: float | None, done: Callable[[Path], None]) -> list[str]:
        """Run what the journal does not have, ``done`` after each; returns internal errors.

        Raises WorkerFailed where the run breaks down.
        """
        wanted = [seed for seed in seeds if self.result(seed) is None]
        if not wanted:
            return []
        keys = {str(seed): self._seed_key(seed) for seed in wanted}
        by_seed: dict[int, _SeedEvents] = {}
        errors: list[str] = []
        for event in self._events(self._job.model_copy(update={"paths": wanted, "time": time})):
            match event:
                case {"event": "summary"}:
                    errors = event["errors"]
                case {"event": "done", "index": index, "seed": seed}:
                    self._journal.add(keys[seed], by_seed.pop(index, _SeedEvents()).result().to_json())
                    done(Path(seed))
                case {"index": index}:
                    by_seed.setdefault(index, _SeedEvents()).note(event)
                case _:
                    pass
        return errors

    def run_script(self, script: Path, closing: threading.Event) -> ReplayOutcome:
        """Run a stand-alone script, unless the journal has its outcome. Raises RunnerFailed once ``closing`` is set."""
        text = script.read_bytes()
        key = json.dumps(["script", script.name, _digest(text), self._build])
        is_sandboxed = self._job.untrusted or is_untrusted(script.parent)
        sandbox_paths = [script.parent.resolve()] if is_sandboxed else None

        if key in self._journal:
            return ReplayOutcome(**self._journal.get(key, dict))
        outcome = run_script(script, self.python, sandbox_paths=sandbox_paths, closing=closing)
        if outcome.status != ERROR:  # which may be the machine's, as when it is too busy
            self._journal.add(key, dataclasses.asdict(outcome))
        return outcome

    def _seed_key(self, seed: Path) -> str:
        job = self._job.model_dump(mode="json", exclude={"out", "paths", "jobs", "time", "traced"})
        return json.dumps(["seed", str(seed), _digest(seed.read_bytes()), self._build, job])

    def _environment(self) -> dict[str, str]:
        """With this eqfuzz before another one that the interpreter may have.

        The package's own folder may hold this interpreter's torch beside it, hence the link.
        """
        link = self._job.out.parent.resolve() / ".package" / "eqfuzz"
        link.parent.mkdir(parents=True, exist_ok=True)
        package = Path(eqfuzz.__file__).resolve().parent
        if not link.exists() or link.resolve() != package:
            link.unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):  # another call has made it
                link.symlink_to(package)
        return {**os.environ, "PYTHONPATH": str(link.parent)}

    def _events(self, job: WorkerJob) -> Iterator[dict[str, Any]]:
        """The events of a run, as they come. Raises WorkerFailed."""
        process = subprocess.Popen(
            [self.python, "-m", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment(),
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid()),
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        errors: list[str] = []
        reader = threading.Thread(target=lambda stream: errors.extend(stream), args=(process.stderr,), daemon=True)
        reader.start()
        try:
            process.stdin.write(job.model_dump_json())
            process.stdin.close()
            for line in process.stdout:
                if line.startswith("{"):
                    yield json.loads(line)
            process.wait()
        finally:
            _end(process)
            reader.join()
        if process.returncode:
            last = next((line for line in reversed(errors) if line.strip()), f"exit status {process.returncode}")
            raise WorkerFailed(f"{self.name} ({self.python}): {one_line(last)}")


@dataclasses.dataclass
class _SeedEvents:
    """What a worker said about a seed."""

    invalid: str = ""
    kinds: list[str] = dataclasses.field(default_factory=list)
    findings: list[str] = dataclasses.field(default_factory=list)
    lines: dict[str, int] = dataclasses.field(default_factory=dict)

    def note(self, event: dict[str, Any]) -> None:
        match event:
            case {"event": "invalid", "reason": reason}:
                self.invalid = reason
            case {"event": "cell", "config": config, "verdict": {"kind": kind}} if config:
                self.kinds.append(kind)
            case {"event": "finding", "id": id, "kept": True}:
                self.findings.append(id)
            case {"event": "lines", "files": files}:
                for path, bits in files.items():
                    self.lines[path] = self.lines.get(path, 0) | int(bits, 16)
            case _:
                pass

    def result(self) -> SeedResult:
        others = sorted({kind for kind in self.kinds if kind != "agree"})
        outcome = f"invalid: {self.invalid}" if self.invalid else "differs" if self.findings else ", ".join(others)
        return SeedResult(outcome or ("agree" if self.kinds else "nothing compiled"), tuple(self.findings), self.lines)


def _end(process: subprocess.Popen[str]) -> None:
    """Let a worker stop its children as on Ctrl-C, and end it."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]
