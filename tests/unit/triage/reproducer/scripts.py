"""Programs judged and their scripts run here, in this process, beside a compiler that only says that it compiles.

Programs ask ``torch.compiler.is_compiling()`` and do something else then; no compiler is ever loaded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import runpy
import textwrap
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.describe import describe
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script import write_reproducer
from eqfuzz.triage.reproducer.source_description import SourceDescription
from tests.unit.triage.findings import finding_of

CONFIG = Config(name="inductor")


class _CompiledModule(torch.nn.Module):
    """As ``OptimizedModule``: the module is in ``_orig_mod``, and what it has is had by this one."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._orig_mod = module

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name) if name == "_orig_mod" else getattr(self._orig_mod, name)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with mock.patch("torch.compiler.is_compiling", lambda: True):
            return self._orig_mod(*args, **kwargs)


def compile_nothing(target: Any, **_: Any) -> Any:
    """What stands for ``torch.compile``."""
    if isinstance(target, torch.nn.Module):
        return _CompiledModule(target)

    def compiled(*args: Any, **kwargs: Any) -> Any:
        with mock.patch("torch.compiler.is_compiling", lambda: True):
            return target(*args, **kwargs)

    return compiled


@dataclasses.dataclass(frozen=True)
class Judged:
    """What the judge says of a program, and the script that is written of that."""

    finding: Finding
    described: SourceDescription

    @property
    def verdict(self) -> Verdict:
        return self.finding.verdict

    @property
    def script(self) -> str:
        return write_reproducer(self.finding, CONFIG, self.described, preload=None).text


def judge(source: str, *, steps: tuple[Call, ...] = (), checks: tuple[str, ...] | None = None) -> Judged:
    """Judge the program in ``source``, called with its inputs and then as in ``steps``."""
    text = textwrap.dedent(source)
    loaded = Loaded(recognise(text, "seeds/some.py"))
    calls = [*loaded.calls(0), *steps]
    eager, compiled = (observe(loaded.instance, calls, transform=way) for way in (None, compile_nothing))
    verdict = judge_compiled(
        eager, compiled, reference(loaded.instance, calls, seed=0, samples=THRESHOLDS.samples[0]), checks
    )
    count = verdict.evidence.call + 1 if verdict.evidence is not None else len(calls)
    finding = dataclasses.replace(finding_of(verdict.kind, source=text), verdict=verdict)
    return Judged(finding, SourceDescription.of(describe(loaded, calls[:count], "cpu")))


def about(judged: Judged, kind: VerdictKind, evidence: Evidence) -> Judged:
    """The same program with a verdict of one's own."""
    verdict = dataclasses.replace(judged.verdict, kind=kind, evidence=evidence)
    return dataclasses.replace(judged, finding=dataclasses.replace(judged.finding, verdict=verdict))


@dataclasses.dataclass(frozen=True)
class Ended:
    status: Any
    output: str


def run(folder: Path, script: str, *arguments: str) -> Ended:
    """Run a ``script`` to its end. What it raises comes through."""
    path = folder / "repro.py"
    path.write_text(script)
    printed = io.StringIO()
    argv = mock.patch("sys.argv", [str(path), *arguments])
    with mock.patch("torch.compile", compile_nothing), argv, contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as leaving:
            return Ended(int(leaving.code or 0), printed.getvalue())
    return Ended(0, printed.getvalue())
