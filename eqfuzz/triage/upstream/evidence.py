"""Evidence for a report: how often the reproducer fails, what cures it, and on which releases it fails.

Everything runs in fresh processes, each with a time limit.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.version import InvalidVersion, Version

from eqfuzz.errors import one_line
from eqfuzz.program.release import Release
from eqfuzz.triage.confirm.fresh_process import run_fresh
from eqfuzz.triage.confirm.replay import ERROR, FIXED, REPLAY_SECONDS, STILL_FAILING, ReplayOutcome, run_script
from eqfuzz.triage.findings.folder import preload_in
from eqfuzz.triage.findings.stage import LADDER, Blame
from eqfuzz.triage.locate.bisection import NotBlamed, bisect_script
from eqfuzz.triage.upstream.boolean_function import ReportedScript, boolean_function
from eqfuzz.triage.upstream.mitigations import DYNAMIC, FAILS, PASSES, Mitigation, on_backend, tried_on
from eqfuzz.triage.upstream.script_parts import NotConverted
from eqfuzz.triage.upstream.unit_test import TestHome, home_of, unit_test

RUNS = 3
"""How often the reproducer runs; PyTorch's bots run it as often."""

RUN_SECONDS = 120.0
"""How long a reproducer may take for PyTorch's bots, wall time."""

BISECTION_SECONDS = 600.0
_PROBE = Path(__file__).with_name("probing_script.py")
_WORDS = {FIXED: PASSES, STILL_FAILING: FAILS}


@dataclasses.dataclass(frozen=True)
class ProgramTraits:
    """What the compiled program is called with, and what it does, as seen in eager; ``error``: it was not seen."""

    special: tuple[str, ...] = ()
    """``NaN`` and ``inf``, where inputs have them."""
    limits: tuple[str, ...] = ()
    """Dtypes of inputs with values near the limits of the dtype."""
    subnormal: tuple[str, ...] = ()
    """Dtypes of inputs with subnormal values."""
    draws: tuple[str, ...] = ()
    """Operators that draw random numbers."""
    jumps: tuple[str, ...] = ()
    """Operators whose result jumps when computed operands change by one unit of rounding."""
    ties: tuple[str, ...] = ()
    """Operators that choose one of several equal values."""
    error: str = ""


@dataclasses.dataclass(frozen=True)
class Trial:
    """The verdict of the reproducer with one change: ``PASSES``, ``FAILS``, or why there is none."""

    mitigation: Mitigation
    verdict: str


@dataclasses.dataclass(frozen=True)
class BisectorReplay:
    """What torch's bisector ends at, and variables with which the reproducer fails and passes, as tried.

    ``passing`` is empty where nothing is switched off by variables.
    """

    blame: Blame
    failing: Mapping[str, str]
    passing: Mapping[str, str]
    fails: str = ""
    passes: str = ""

    @property
    def is_confirmed(self) -> bool:
        """Whether the reproducer ends as foretold with each of the variables."""
        return self.fails == FAILS and (not self.passing or self.passes == PASSES)


@dataclasses.dataclass(frozen=True)
class UpstreamTest:
    """A unit test for PyTorch's tree. ``problem`` is why it was not seen to fail and to pass; empty: it was."""

    home: TestHome
    text: str
    problem: str = ""


@dataclasses.dataclass(frozen=True)
class UpstreamEvidence:
    """What was found out about a reproducer; what was not tried is empty."""

    script: ReportedScript
    """As the report has it."""
    outcome: ReplayOutcome
    """The run that breaks down, if one does; else the first that fails, else the first."""
    failing: int
    """How many of ``RUNS`` runs fail."""
    seconds: float
    """Wall seconds of the longest of these runs."""
    unconverted: str = ""
    """Why it is no ``test_fn()``; empty where it is one."""
    traits: ProgramTraits = ProgramTraits()
    """What its program does."""
    backends: tuple[Trial, ...] = ()
    """By backend, in order."""
    mitigations: tuple[Trial, ...] = ()
    """By setting or subsystem."""
    bisected: BisectorReplay | None = None
    """Only where the stage has parts that torch's bisector switches off."""
    not_bisected: str = ""
    """Why the bisector has no result."""
    releases: tuple[tuple[Release, str], ...] = ()
    """Verdicts by release, the oldest first."""
    test: UpstreamTest | None = None
    """The unit test."""
    untested: str = ""
    """Why there is no unit test."""
    on_cpu: str = ""
    """The verdict on the CPU of a reproducer for CUDA; empty where there is none."""

    @property
    def first_backend(self) -> str:
        """The first backend that shows the defect; empty where none was tried."""
        return next((trial.mitigation.name for trial in self.backends if trial.verdict == FAILS), "")

    @property
    def cures(self) -> tuple[str, ...]:
        """Names of the mitigations with which it passes."""
        return tuple(trial.mitigation.name for trial in self.mitigations if trial.verdict == PASSES)

    def to_json(self) -> dict[str, object]:
        """Without texts that the report has."""
        return {
            "failing": self.failing,
            "runs": RUNS,
            "seconds": round(self.seconds, 1),
            "test_fn": self.script.has_function,
            "backends": {trial.mitigation.name: trial.verdict for trial in self.backends},
            "mitigations": {trial.mitigation.name: trial.verdict for trial in self.mitigations},
            "bisected": dataclasses.asdict(self.bisected.blame) if self.bisected is not None else None,
            "replays": self.bisected is not None and self.bisected.is_confirmed,
            "releases": {str(release): verdict for release, verdict in self.releases},
            "unit_test": "" if self.test is None else self.test.home.file,
            "unit_test_problem": self.untested if self.test is None else self.test.problem,
            "traits": dataclasses.asdict(self.traits),
        }


@dataclasses.dataclass(frozen=True)
class EvidencePlan:
    """What to run."""

    title: str
    """Of the report; the unit test is named after it."""
    device: str = "cpu"
    """``cpu`` or ``cuda``."""
    is_watched: bool = False
    """Whether the defect ends the process."""
    is_untrusted: bool = False
    """Whether the program needs a sandbox."""
    pythons: Mapping[str, Release] = dataclasses.field(default_factory=dict)
    """Other interpreters, by path."""
    jobs: int = 1
    """Processes at a time."""
    seconds: float = RUN_SECONDS
    """Wall seconds of each run with a change."""
    is_quick: bool = False
    """Only the runs of the reproducer itself, and on other releases."""


class EvidenceCollector:
    """Runs one reproducer in the folder ``place``, which already has what the script reads beside itself.

    ``report`` is called after each run. Raises SandboxUnavailable.
    """

    def __init__(self, place: Path, plan: EvidencePlan, report: Callable[[], None] = lambda: None) -> None:
        self._place = place
        self._plan = plan
        self._report = report

    def collect(self, script: str, release: Release) -> UpstreamEvidence:
        """The evidence for a ``script`` without its docstring; ``release`` is that of this interpreter."""
        unconverted, outcomes = "", []
        try:
            reported = boolean_function(script)
            outcomes, seconds = self._runs(reported.text)
        except NotConverted as error:
            reported, unconverted, seconds = ReportedScript(script, "", has_function=False), str(error), 0.0
        if not any(outcome.status == STILL_FAILING for outcome in outcomes):
            plain, plain_seconds = self._runs(script)
            if not outcomes or any(outcome.status == STILL_FAILING for outcome in plain):
                unconverted = unconverted or "as a function it does not fail"
                reported, outcomes = ReportedScript(script, "", has_function=False), plain
                seconds = plain_seconds
        failing = [outcome for outcome in outcomes if outcome.status == STILL_FAILING]
        outcome = next((one for one in outcomes if one.status == ERROR), (failing or outcomes)[0])
        evidence = UpstreamEvidence(reported, outcome, len(failing), seconds, unconverted)
        if outcome.status == ERROR:
            return evidence
        evidence = dataclasses.replace(evidence, traits=self._traits(reported.text))
        verdict = _verdict(outcome)
        releases = [(release, verdict), *self._other_releases(reported.text)]
        evidence = dataclasses.replace(evidence, releases=tuple(sorted(releases, key=_age)))
        if self._plan.is_quick or not failing:
            return evidence
        return self._explained(evidence, script)

    def _explained(self, evidence: UpstreamEvidence, script: str) -> UpstreamEvidence:
        reported = evidence.script
        if self._plan.device == "cuda":
            evidence = dataclasses.replace(evidence, on_cpu=self._verdict_of(_on_cpu(reported.text)))
        if reported.backend in (*LADDER, "inductor"):
            backends = self._tried(reported, [on_backend(name) for name in (*LADDER, "inductor")])
            evidence = dataclasses.replace(evidence, backends=backends)
        first = evidence.first_backend or "inductor"
        evidence = dataclasses.replace(
            evidence, mitigations=self._tried(reported, tried_on(reported, first, self._plan.device))
        )
        if first not in LADDER[:2]:
            evidence = self._bisected(evidence)
        return self._with_test(evidence, script, first)

    def _runs(self, text: str) -> tuple[list[ReplayOutcome], float]:
        """Outcomes, and the wall seconds of the longest; fewer after one that breaks down."""
        outcomes: list[ReplayOutcome] = []
        longest = 0.0
        for _ in range(RUNS):
            begin = time.monotonic()
            outcomes.append(self._run(text, seconds=REPLAY_SECONDS))
            longest = max(longest, time.monotonic() - begin)
            if outcomes[-1].status == ERROR:
                break
        return outcomes, longest

    def _run(
        self,
        text: str,
        variables: Mapping[str, str] | None = None,
        python: str = sys.executable,
        seconds: float | None = None,
        name: str = "test_fn.py",
    ) -> ReplayOutcome:
        script = self._place / name
        if not script.exists() or script.read_text(encoding="utf-8") != text:
            script.write_text(text, encoding="utf-8")
        extra = dict(variables or {})
        environment = extra if self._plan.is_untrusted else {**os.environ, **extra}
        paths = [self._place] if self._plan.is_untrusted else None
        outcome = run_script(script, python, seconds or self._plan.seconds, environment, paths)
        self._report()
        return outcome

    def _verdict_of(self, text: str, variables: Mapping[str, str] | None = None, name: str = "trial.py") -> str:
        return _verdict(self._run(text, variables, name=name))

    def _tried(self, script: ReportedScript, mitigations: Sequence[Mitigation]) -> tuple[Trial, ...]:
        def trial(numbered: tuple[int, Mitigation]) -> Trial:
            number, one = numbered
            name = f"trial_{number}.py"
            return Trial(one, self._verdict_of(one.applied_to(script), one.environment, name))

        with ThreadPoolExecutor(self._plan.jobs) as threads:
            return tuple(threads.map(trial, enumerate(mitigations)))

    def _other_releases(self, text: str) -> list[tuple[Release, str]]:
        return [
            (release, _verdict(self._run(text, python=python, seconds=REPLAY_SECONDS)))
            for python, release in self._plan.pythons.items()
        ]

    def _traits(self, text: str) -> ProgramTraits:
        script = self._place / "probed.py"
        script.write_text(text, encoding="utf-8")
        if self._plan.is_watched:
            return ProgramTraits(error="the program ends its process")
        paths = [self._place, _PROBE] if self._plan.is_untrusted else None
        ended = run_fresh([sys.executable, str(_PROBE), str(script)], self._plan.seconds, sandbox_paths=paths)
        self._report()
        lines = [line for line in ended.output.splitlines() if line.startswith("{")]
        try:
            facts = json.loads(lines[-1])
            error = str(facts.pop("error"))
            return ProgramTraits(**{name: tuple(map(str, facts[name])) for name in facts}, error=one_line(error))
        except (IndexError, ValueError, KeyError, TypeError, AttributeError):
            return ProgramTraits(error=_last_line(ended.output))

    def _bisected(self, evidence: UpstreamEvidence) -> UpstreamEvidence:
        # The bisector executes a preload once: the script must not find it beside itself then.
        preload = None if self._plan.is_watched else preload_in(self._place)
        folder = self._place / "bisected"
        folder.mkdir()
        for file in self._place.iterdir():
            if file != folder and (preload is None or file.name != preload.name):
                (folder / file.name).symlink_to(file.resolve())
        script = folder / "bisection.py"
        script.write_text(evidence.script.text, encoding="utf-8")
        try:
            blame = bisect_script(
                script,
                outside=self._plan.is_watched,
                preload=preload,
                seconds=BISECTION_SECONDS,
                sandbox_paths=[self._place] if self._plan.is_untrusted else None,
            )
        except NotBlamed as error:
            return dataclasses.replace(evidence, not_bisected=one_line(str(error)))
        finally:
            self._report()
        replayed = replay_of(blame)
        fails = self._verdict_of(evidence.script.text, replayed.failing)
        passes = self._verdict_of(evidence.script.text, replayed.passing) if replayed.passing else ""
        return dataclasses.replace(evidence, bisected=dataclasses.replace(replayed, fails=fails, passes=passes))

    def _with_test(self, evidence: UpstreamEvidence, script: str, first: str) -> UpstreamEvidence:
        if self._plan.is_watched:
            return dataclasses.replace(evidence, untested="the defect ends the process, which no test can expect")
        home = home_of(first, needs_dynamic_shapes=DYNAMIC in evidence.cures)
        test: UpstreamTest | None = None
        for nested in (True, False):
            try:
                text = unit_test(script, self._plan.title, home, device=self._plan.device, nested=nested)
            except NotConverted as error:
                return dataclasses.replace(evidence, untested=str(error))
            test = UpstreamTest(home, text, self._problem_of(text))
            if not test.problem:
                break
        return dataclasses.replace(evidence, test=test)

    def _problem_of(self, text: str) -> str:
        """Why a unit test is not one that fails while the defect is there, and passes without it; or empty."""
        file = self._place / "unit_test.py"
        right = f"{_WITHOUT_COMPILER}{text}"
        for content, wanted in ((text, "OK (expected failures=1)"), (right, "unexpected successes=1")):
            file.write_text(content, encoding="utf-8")
            paths = [self._place] if self._plan.is_untrusted else None
            ended = run_fresh([sys.executable, str(file)], self._plan.seconds, sandbox_paths=paths)
            self._report()
            if wanted not in ended.output:
                how = "compiled" if content == text else "in eager"
                return f"{how}, it does not end with {wanted!r}: {_last_line(ended.output)}"
        return ""


_WITHOUT_COMPILER = """\
import torch

torch.compile = lambda model=None, **arguments: model if model is not None else lambda model: model
"""


def replay_of(blame: Blame) -> BisectorReplay:
    """The variables that replay a result of torch's bisector by hand, not tried yet."""
    backend = {"TORCH_BISECT_BACKEND": blame.backend}
    if not blame.subsystem or blame.number is None or blame.detail == blame.subsystem:
        return BisectorReplay(blame, backend, {})
    part = {**backend, "TORCH_BISECT_SUBSYSTEM": blame.subsystem}
    numbers = (str(number) for number in (blame.number, blame.number - 1))
    failing, passing = ({**part, "TORCH_BISECT_MAX": number} for number in numbers)
    return BisectorReplay(blame, failing, passing)


def _verdict(outcome: ReplayOutcome) -> str:
    return _WORDS.get(outcome.status) or f"breaks down: {outcome.cause}"


def _last_line(output: str) -> str:
    return one_line((output.strip().splitlines() or ["it printed nothing"])[-1])


def _on_cpu(text: str) -> str:
    """A script for CUDA as one for the CPU."""
    lines = [line for line in text.splitlines() if "torch.cuda." not in line and "torch.backends.cuda" not in line]
    return "\n".join(lines).replace('"cuda"', '"cpu"').replace("'cuda'", "'cpu'").replace(".cuda()", ".cpu()") + "\n"


def _age(of_release: tuple[Release, str]) -> tuple[Version, str]:
    release = of_release[0]
    try:
        return Version(release.release), release.build
    except InvalidVersion:
        return Version("0"), release.build
