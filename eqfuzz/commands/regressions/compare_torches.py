"""What differs between two torches: programs run with both, and every bucket is decided by its script on both."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import re
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eqfuzz.commands.journal import Journal
from eqfuzz.commands.regressions.changed_lines import meets
from eqfuzz.commands.regressions.torch_side import TorchSide, WorkerFailed
from eqfuzz.commands.regressions.worker import WorkerJob
from eqfuzz.errors import UsageError, one_line
from eqfuzz.events.event import Handler
from eqfuzz.events.regressions import BucketCompared, BucketState, DiffStarted, DiffSummary, ProgramCompared
from eqfuzz.mutate.run import PATHS_NAMED, require_sandbox
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.provenance import InvalidProvenance, provenance_of
from eqfuzz.program.release import Release
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.buckets import bucket_id
from eqfuzz.triage.findings.finding import FRESH, Finding
from eqfuzz.triage.findings.known_issues import KnownIssue, known_as, read_known_issues
from eqfuzz.triage.findings.versions import versions

JOURNAL = "diff.jsonl"
BATCH = 6
"""Seeds that run with one torch before they run with the other, for each job."""

_ENDS_ITSELF = re.compile(r"^(?:Exit status: 1 while|(?:raise SystemExit|sys\.exit)\b)", re.MULTILINE)
"""What a stand-alone script says in its docstring, or does at its end, and no seed needs."""

_LOGGED = re.compile(r"^[VIWEC]\d{4} .*\n?", re.MULTILINE)
"""Lines that torch logs."""

_STATES = {
    (FIXED, STILL_FAILING): BucketState.NEW,
    (STILL_FAILING, FIXED): BucketState.FIXED,
    (STILL_FAILING, STILL_FAILING): BucketState.STILL,
}

_CONFIRMED = ReplayOutcome(STILL_FAILING, "")


@dataclasses.dataclass(frozen=True)
class DiffRequest:
    """What is compared: ``base`` and ``head`` are interpreters with their torch."""

    base: tuple[str, Release]
    head: tuple[str, Release]
    paths: tuple[Path, ...]
    """Seeds, stand-alone scripts, and folders of both."""
    job: WorkerJob
    """What every run has, without paths; its ``out`` is the folder of the comparison, its ``time`` that of all."""
    changes: Mapping[str, int]
    """Bitmaps of changed lines by path below ``torch``, as base has them."""
    known_issues: tuple[Path, ...] = ()
    """Lists of known issues."""
    unsafe: bool = False
    """Whether untrusted seeds run without a sandbox where none is available."""


def compare_torches(request: DiffRequest, handler: Handler) -> DiffSummary:
    """Compare two torches; the last event is returned. What an earlier call in the same folder has done is kept.

    Ctrl-C and the time limit end it early: what was not tried is named. Raises UsageError.
    """
    began = time.monotonic()
    seeds, scripts = programs_in(request.paths)
    require_sandbox(seeds, untrusted=request.job.untrusted, unsafe=request.unsafe)
    try:
        request.job.out.mkdir(parents=True, exist_ok=True)
        issues = read_known_issues(request.known_issues)
    except OSError as error:
        raise UsageError(f"--out: {request.job.out}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    journal = Journal(request.job.out / JOURNAL)
    base, head = request.base, request.head
    sides = [
        TorchSide("base", *base, request.job, journal, other=head[1]),
        TorchSide("head", *head, request.job, journal, other=base[1]),
    ]
    if seeds:
        for side in sides:
            side.require_eqfuzz()
    diff = _Diff(request, seeds, scripts, sides, issues, handler)
    deadline = None if request.job.time is None else began + request.job.time
    try:
        diff.run(deadline)
    except KeyboardInterrupt:
        diff.is_interrupted = True
    summary = diff.summary(time.monotonic() - began)
    handler(summary)
    return summary


def programs_in(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Seeds and stand-alone scripts; what is neither counts as a seed, and is invalid. Raises UsageError."""
    seeds: list[Path] = []
    scripts: list[Path] = []
    for file in seed_files(paths):
        (scripts if _is_script(file) else seeds).append(file)
    return seeds, scripts


def _is_script(file: Path) -> bool:
    """Whether it is a program that ends with an exit status of its own. What is marked as untrusted is none."""
    try:
        text = file.read_text(encoding="utf-8")
        provenance = provenance_of(text)
    except (OSError, UnicodeDecodeError, InvalidProvenance):
        return False
    return bool(_ENDS_ITSELF.search(text)) and (provenance is None or not provenance.untrusted)


@dataclasses.dataclass(frozen=True)
class _FindingOfSide:
    """A finding with its folder, made with the torch of ``side``."""

    side: TorchSide
    folder: Path
    finding: Finding

    @property
    def script(self) -> Path:
        return self.folder / "repro.py"


@dataclasses.dataclass
class _Bucket:
    """The findings of a bucket with either torch, those of head first."""

    findings: list[_FindingOfSide] = dataclasses.field(default_factory=list)

    @property
    def is_confirmed_on_both(self) -> bool:
        """Whether scripts of its findings have failed in fresh processes of both."""
        return len({one.side for one in self.findings if one.finding.confirmation == FRESH}) == 2

    @property
    def seeds(self) -> list[str]:
        return list(dict.fromkeys(one.finding.original.name for one in self.findings))


class _Diff:
    def __init__(
        self,
        request: DiffRequest,
        seeds: Sequence[Path],
        scripts: Sequence[Path],
        sides: Sequence[TorchSide],
        issues: Sequence[KnownIssue],
        handler: Handler,
    ) -> None:
        self.is_interrupted = False
        self._request = request
        self._scripts = list(scripts)
        self._base, self._head = sides
        self._issues = issues
        self._handler = handler
        self._errors: list[str] = []
        self._buckets: dict[str, BucketCompared] = {}
        self._tried: set[Path] = set()
        self._moves: collections.Counter[str] = collections.Counter()
        self._invalid: dict[str, str] = {}
        self._changed = {seed for seed in seeds if self._has_changed(seed)}
        self._seeds = sorted(seeds, key=lambda seed: seed not in self._changed)

    def run(self, deadline: float | None) -> None:
        """Run everything until the deadline. Raises KeyboardInterrupt."""
        job = self._request.job
        self._handler(
            DiffStarted(
                base=self._base.release.in_full(),
                head=self._head.release.in_full(),
                seeds=len(self._seeds),
                scripts=len(self._scripts),
                paths=[str(path) for path in self._request.paths[:PATHS_NAMED]],
                changed=len(self._request.changes),
                first=len(self._changed),
                untraced=sum(not self._lines(seed) for seed in self._seeds) if self._request.changes else 0,
                configs=[config["name"] for config in job.configs],
                devices=list(job.devices),
                seed=job.seed,
                jobs=job.jobs,
                out=str(job.out),
                versions={
                    name: version for name, version in versions().items() if name not in ("torch", "build", "git")
                },
            )
        )
        size = BATCH * job.jobs
        for start in range(0, len(self._seeds), size):
            self._run_batch(self._seeds[start : start + size], deadline)
        if not _is_over(deadline):
            self._run_scripts(deadline)

    def summary(self, seconds: float) -> DiffSummary:
        buckets = list(self._buckets.values())
        left = [str(path) for path in (*self._seeds, *self._scripts) if path not in self._tried]
        states = collections.Counter(str(bucket.state) for bucket in buckets)
        return DiffSummary(
            programs=len(self._tried),
            outcomes=dict(self._moves.most_common()),
            states={str(state): states[state] for state in BucketState if states[state]},
            new=sum(bucket.is_new for bucket in buckets),
            not_tried=left,
            invalid=self._invalid,
            errors=self._errors,
            interrupted=self.is_interrupted,
            out_of_time=bool(left) and not self.is_interrupted and not self._errors,
            seconds=round(seconds, 3),
            out=str(self._request.job.out),
        )

    def _lines(self, seed: Path) -> Mapping[str, int]:
        result = self._base.result(seed)
        return result.lines if result is not None else {}

    def _has_changed(self, seed: Path) -> bool:
        return bool(self._request.changes) and meets(self._lines(seed), self._request.changes)

    def _run_batch(self, seeds: Sequence[Path], deadline: float | None) -> None:
        for side in (self._base, self._head):
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            try:
                self._errors += side.run_seeds(seeds, left, lambda seed: None)
            except WorkerFailed as error:
                self._errors.append(str(error))
                break
        compared = [seed for seed in seeds if self._compare(seed)]
        if _is_over(deadline):
            return  # the same command resumes here
        self._decide(self._buckets_of(compared))
        self._tried.update(compared)

    def _compare(self, seed: Path) -> bool:
        """Report a seed; False where it has not run with both."""
        base, head = self._base.result(seed), self._head.result(seed)
        if base is None or head is None:
            return False
        if base.outcome != head.outcome:
            self._moves[f"{base.outcome.partition(':')[0]} → {head.outcome.partition(':')[0]}"] += 1
        for side, result in ((self._base, base), (self._head, head)):
            if result.outcome.startswith("invalid: "):
                self._invalid[str(seed)] = f"{side.name}: {result.outcome.removeprefix('invalid: ')}"
        self._handler(ProgramCompared(program=str(seed), base=base.outcome, head=head.outcome))
        return True

    def _buckets_of(self, seeds: Sequence[Path]) -> dict[str, _Bucket]:
        """The buckets of the findings of both, the gravest first."""
        buckets: dict[str, _Bucket] = collections.defaultdict(_Bucket)
        for side in (self._head, self._base):
            for seed in seeds:
                result = side.result(seed)
                for id in result.findings if result is not None else ():
                    found_there = side.finding(id)
                    if found_there is not None:
                        _, finding = found_there
                        name = bucket_id(finding.fingerprint) if finding.fingerprint else finding.id
                        buckets[name].findings.append(_FindingOfSide(side, *found_there))
        return dict(sorted(buckets.items(), key=lambda item: item[1].findings[0].finding.severity.rank))

    def _decide(self, buckets: Mapping[str, _Bucket]) -> None:
        """Report each bucket that is not decided yet; unless both have confirmed it, its script runs with both."""
        wanted = {name: bucket for name, bucket in buckets.items() if name not in self._buckets}
        undecided = [bucket for bucket in wanted.values() if not bucket.is_confirmed_on_both]
        outcomes = iter(self._outcomes([bucket.findings[0].script for bucket in undecided]))
        for name, bucket in wanted.items():
            base, head = (_CONFIRMED, _CONFIRMED) if bucket.is_confirmed_on_both else next(outcomes)
            finding = bucket.findings[0].finding
            issue = known_as(finding, self._issues, datetime.date.today())
            self._report(
                BucketCompared(
                    bucket=name,
                    state=_state(base, head),
                    title=finding.fingerprint or finding.place,
                    kind=str(finding.verdict.kind),
                    message=one_line(finding.verdict.in_words),
                    seed=bucket.seeds[0],
                    seeds=bucket.seeds,
                    script=str(bucket.findings[0].script),
                    base=base.status,
                    head=head.status,
                    cause=_cause(base, head),
                    issue=issue.url if issue is not None else "",
                    changed=any(Path(seed) in self._changed for seed in bucket.seeds),
                    finding=finding,
                )
            )

    def _run_scripts(self, deadline: float | None) -> None:
        size = max(2, self._request.job.jobs)
        for start in range(0, len(self._scripts), size):
            if _is_over(deadline):
                return
            scripts = self._scripts[start : start + size]
            for script, (base, head) in zip(scripts, self._outcomes(scripts), strict=True):
                self._tried.add(script)
                self._handler(ProgramCompared(program=str(script), base=base.status, head=head.status))
                if (base.status, head.status) != (FIXED, FIXED):
                    self._report(_of_script(script, base, head))

    def _outcomes(self, scripts: Sequence[Path]) -> list[tuple[ReplayOutcome, ReplayOutcome]]:
        """What each script says with base and head."""
        closing = threading.Event()
        with ThreadPoolExecutor(self._request.job.jobs) as threads:
            try:
                base, head = (
                    [threads.submit(side.run_script, script, closing) for script in scripts]
                    for side in (self._base, self._head)
                )
                return [(one.result(), other.result()) for one, other in zip(base, head, strict=True)]
            except BaseException:
                closing.set()
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def _report(self, bucket: BucketCompared) -> None:
        self._buckets[bucket.bucket] = bucket
        self._handler(bucket)


def _of_script(script: Path, base: ReplayOutcome, head: ReplayOutcome) -> BucketCompared:
    lines = script.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    title = one_line(lines[0].strip("\"' ")) if lines else ""
    shown_by = head if head.status == STILL_FAILING else base
    return BucketCompared(
        bucket=script.stem,
        state=_state(base, head),
        title=title,
        kind="script",
        message=one_line(_LOGGED.sub("", shown_by.output)) or title,
        seed=str(script),
        seeds=[str(script)],
        script=str(script),
        base=base.status,
        head=head.status,
        cause=_cause(base, head),
        issue="",
        changed=False,
        finding=None,
    )


def _state(base: ReplayOutcome, head: ReplayOutcome) -> BucketState:
    return _STATES.get((base.status, head.status), BucketState.UNCLEAR)


def _cause(base: ReplayOutcome, head: ReplayOutcome) -> str:
    """Why a script decides nothing; empty where it does."""
    broken = [f"{name}: {one.cause}" for name, one in (("base", base), ("head", head)) if one.status == ERROR]
    if broken:
        return "; ".join(broken)
    return "the script shows it on neither" if (base.status, head.status) == (FIXED, FIXED) else ""


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
