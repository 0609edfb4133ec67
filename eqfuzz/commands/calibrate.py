"""What ``eqfuzz self-check --full`` measures: recall of planted faults, and verdicts on pairs of correct runs."""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from eqfuzz.commands.journal import Journal
from eqfuzz.events.event import Handler
from eqfuzz.events.self_check import SelfCheckProgress, SelfCheckStep, SelfCheckSummary
from eqfuzz.mutate.seed_run import THREAD_COUNTS
from eqfuzz.mutate.self_check import check_job, verdicts_of
from eqfuzz.oracle.calibration.capability import CAPABILITIES
from eqfuzz.oracle.calibration.ill_conditioned import ill_conditioned_programs
from eqfuzz.oracle.calibration.recall import Recall
from eqfuzz.oracle.calibration.recall_table import RecallTable, with_present_keys
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import Program
from eqfuzz.program.shipped import folder
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.calibration_jobs import (
    CalibrationJob,
    CompareRunsJob,
    CompareThreadsJob,
    ObserveJob,
    RecallJob,
    RunsCompared,
)
from eqfuzz.run.messages.seed_jobs import RunJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import RunnerFailed

_DEPTH = 8
_VARIANTS = 3
_HOSTILE_SHARE = 0.3
_PER_SEED = 60
_MOST_ROUNDS = 8

EAGER, CAPABILITY, THREADS, COMPILED, HOSTILE, THREADED = (
    "program and rewrite, eager",
    "eager, other vector width",
    "eager, several threads",
    "compiled, derivations of depth 8",
    "compiled, ill-conditioned",
    "compiled, several threads",
)


@dataclasses.dataclass
class Pairs:
    """Verdicts on pairs of correct runs, with false alarms of this oracle and of others.

    Attributes:
        name: What the runs of a pair differ in.
        kinds: Number of pairs by kind of verdict.
        called_wrong: Pairs that eqfuzz calls wrong, with the verdict.
        inconclusive: Number of inconclusive pairs by program.
        alarms: Number of pairs that other oracles call wrong, by oracle.
    """

    name: str
    kinds: Counter[str] = dataclasses.field(default_factory=Counter)
    called_wrong: list[str] = dataclasses.field(default_factory=list)
    inconclusive: Counter[str] = dataclasses.field(default_factory=Counter)
    alarms: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def count(self) -> int:
        return sum(self.kinds.values())

    def add(self, program: str, verdicts: Iterable[Verdict], alarms: Counter[str] | None = None) -> None:
        for verdict in verdicts:
            if verdict.kind in (VerdictKind.INVALID_SEED, VerdictKind.UNSUPPORTED):
                continue
            self.kinds[str(verdict.kind)] += 1
            if verdict.is_finding or verdict.kind is VerdictKind.SUSPECT_RULE:
                self.called_wrong.append(f"{program}: {verdict.kind}: {verdict.message}")
            elif verdict.kind is VerdictKind.INCONCLUSIVE:
                self.inconclusive[program] += 1
        self.alarms.update(alarms or ())

    def to_json(self) -> dict[str, Any]:
        counts = {"kinds": self.kinds, "inconclusive": self.inconclusive, "alarms": self.alarms}
        return {**vars(self), **{name: dict(count) for name, count in counts.items()}}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes of the tables: ``draws`` is the number of faults of each kind per program and dtype, others are pairs."""

    draws: int = 4
    eager: int = 5000
    compiled: int = 500
    threaded: int = 200


def full_check(handler: Handler, out: Path, sizes: Sizes, *, jobs: int, seed: int = 0) -> SelfCheckSummary:
    """Measure both tables. Results in ``out`` are used again, so that an interrupted check can be resumed.

    Ctrl-C ends it early with partial tables. Raises UsageError for damaged results in ``out``, RunnerFailed when no
    process can be started.
    """
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    calibration = Calibration(out, handler, sizes, jobs, seed)
    interrupted = False
    try:
        for part in calibration.parts():
            part()
    except KeyboardInterrupt:
        interrupted = True
    tables = [pairs for pairs in calibration.pairs.values() if pairs.count]
    failed = [pairs.name for pairs in tables if pairs.called_wrong]
    summary = SelfCheckSummary(
        passed=not failed and not interrupted,
        failed=failed,
        recall=calibration.table.to_json(),
        precision=[pairs.to_json() for pairs in tables],
        interrupted=interrupted,
        seconds=round(time.monotonic() - began, 3),
    )
    handler(summary)
    return summary


def _comparison(answer: RunsCompared | None) -> dict[str, Any]:
    """The entry of a comparison in the journal; empty where its process died."""
    if answer is None:
        return {}
    return {"verdicts": [verdict.to_json() for verdict in answer.verdicts], "alarms": answer.alarms}


class Calibration:
    """Measures one part after the other into ``table`` and ``pairs``; ``programs`` are the shipped seeds."""

    def __init__(self, out: Path, handler: Handler, sizes: Sizes, jobs: int, seed: int) -> None:
        self.out = out
        self.handler = handler
        self.sizes = sizes
        self.jobs = jobs
        self.seed = seed
        self.journal = Journal(out / "measured.jsonl")
        self.table = Recall()
        self.pairs = {name: Pairs(name) for name in (EAGER, CAPABILITY, THREADS, COMPILED, HOSTILE, THREADED)}
        self.rules = tuple(rule.name for rule in shipped_rules())
        root = folder("seeds")
        files = sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)
        self.programs = [read_program(path, str(path.relative_to(root))) for path in files]

    def parts(self) -> tuple[Callable[[], None], ...]:
        """The measurements, in order."""
        return self.recall, self.eager, self.capability, self.threads, self.compiled, self.threaded

    def result_of(self, key: str, pool: Pool, make: Callable[[], Any]) -> Any:
        """That of ``key`` in the journal, if need be of ``make``, which uses ``pool``.

        Raises RunnerFailed where the pool was closed meanwhile: the result is that of an interrupted job.
        """

        def result() -> Any:
            value = make()
            if pool.closing.is_set():
                raise RunnerFailed("the pool was closed while it was used")
            return value

        return self.journal.get(key, result)

    def recall(self) -> None:
        began = time.monotonic()
        with self._pool(Environment(self.out), CalibrationJob.TARGET, warm=True) as pool:

            def one(program: Program) -> Any:
                job = RecallJob(program=program, seed=self.seed, draws=self.sizes.draws)
                key = f"recall {program.name} {self.seed} {self.sizes.draws}"

                def recall() -> RecallTable | None:
                    measured = pool.ask(job).answer
                    return measured.table if measured is not None else None

                return self.result_of(key, pool, recall)

            for number, (program, table) in enumerate(self._each(pool, one, self.programs), 1):
                self._emit_progress("recall", number, len(self.programs))
                if table is None:
                    self.table.left_out.append(f"{program.name}: its process died")
                else:
                    self.table.add(Recall.from_json(with_present_keys(table)))
        planted = sum(count.planted for count in self.table.rows.values())
        self._emit_step("recall", True, f"{planted} faults planted in {len(self.programs)} programs", began)

    def eager(self) -> None:
        began = time.monotonic()
        pairs = self.pairs[EAGER]
        with self._pool(Environment(self.out), RunJob.TARGET, warm=False) as pool:
            for number in range(self.seed, self.seed + _MOST_ROUNDS):

                def plain(program: Program, number: int = number) -> RunJob:
                    job = check_job(program)
                    return dataclasses.replace(job, seed=number, rules=self.rules, variants=_PER_SEED, dry_run=True)

                self._judge(pool, pairs, self.programs, plain, self.sizes.eager)
        self._emit_pairs(pairs, began)

    def capability(self) -> None:
        began = time.monotonic()
        key = f"capability {{}} {self.seed}"
        wanted = [program for program in self.programs if key.format(program.name) not in self.journal]
        observed = 0
        for name in CAPABILITIES if wanted else ():
            (self.out / name).mkdir(exist_ok=True)
            environment = Environment(self.out / name, extra=(("ATEN_CPU_CAPABILITY", name),))
            with self._pool(environment, CalibrationJob.TARGET, warm=False) as pool:

                def observe(program: Program, name: str = name, pool: Pool = pool) -> Any:
                    like = "" if name == CAPABILITIES[0] else self._file(CAPABILITIES[0], program)
                    job = ObserveJob(program=program, seed=self.seed, file=self._file(name, program), like=like)
                    return pool.ask(job)

                for _ in self._each(pool, observe, wanted):
                    observed += 1
                    self._emit_progress(f"{CAPABILITY}, {name}", observed, len(wanted) * len(CAPABILITIES))
        with self._pool(Environment(self.out), CalibrationJob.TARGET, warm=False) as pool:

            def compare(program: Program) -> Any:
                files = {name: self._file(name, program) for name in CAPABILITIES}
                existing = {n: file for n, file in files.items() if Path(file).exists()}
                job = CompareRunsJob(program=program, seed=self.seed, files=existing)
                return self.result_of(key.format(program.name), pool, lambda: _comparison(pool.ask(job).answer))

            for number, (program, comparison) in enumerate(self._each(pool, compare, self.programs), 1):
                self._emit_progress(CAPABILITY, number, len(self.programs))
                verdicts = [Verdict.from_json(verdict) for verdict in comparison.get("verdicts", ())]
                self.pairs[CAPABILITY].add(program.name, verdicts, Counter(comparison.get("alarms", {})))
        self._emit_pairs(self.pairs[CAPABILITY], began)

    def threads(self) -> None:
        began = time.monotonic()
        with self._pool(Environment(self.out), CalibrationJob.TARGET, warm=False) as pool:

            def compare(program: Program) -> Any:
                key = f"threads {program.name} {self.seed}"
                job = CompareThreadsJob(program=program, seed=self.seed, threads=THREAD_COUNTS)
                return self.result_of(key, pool, lambda: _comparison(pool.ask(job).answer))

            for number, (program, comparison) in enumerate(self._each(pool, compare, self.programs), 1):
                self._emit_progress(THREADS, number, len(self.programs))
                verdicts = [Verdict.from_json(verdict) for verdict in comparison.get("verdicts", ())]
                self.pairs[THREADS].add(program.name, verdicts, Counter(comparison.get("alarms", {})))
        self._emit_pairs(self.pairs[THREADS], began)

    def threaded(self) -> None:
        """Originals and derivations, each with two numbers of threads."""
        began = time.monotonic()
        seeds = list(self.programs)
        random.Random(f"{self.seed} threads").shuffle(seeds)
        configs = tuple(DEFAULT_CONFIG.with_threads(count) for count in THREAD_COUNTS[:2])

        def threaded(program: Program) -> RunJob:
            return dataclasses.replace(self._derived(program, 1), configs=configs)

        with self._pool(Environment(self.out), RunJob.TARGET, warm=True) as pool:
            self._judge(pool, self.pairs[THREADED], seeds, threaded, self.sizes.threaded)
        self._emit_pairs(self.pairs[THREADED], began)

    def compiled(self) -> None:
        began = time.monotonic()
        hostile = round(self.sizes.compiled * _HOSTILE_SHARE)
        seeds = list(self.programs)
        random.Random(self.seed).shuffle(seeds)
        with self._pool(Environment(self.out), RunJob.TARGET, warm=True) as pool:
            several = partial(self._derived, variants=_VARIANTS)
            self._judge(pool, self.pairs[COMPILED], seeds, several, self.sizes.compiled - hostile)
            self._emit_pairs(self.pairs[COMPILED], began)
            began = time.monotonic()
            programs = ill_conditioned_programs(hostile, self.seed)
            self._judge(pool, self.pairs[HOSTILE], programs, partial(self._derived, variants=1), hostile)
        self._emit_pairs(self.pairs[HOSTILE], began)

    def _derived(self, program: Program, variants: int) -> RunJob:
        """A job with random derivations of the program."""
        job = check_job(program)
        return dataclasses.replace(
            job, seed=self.seed, rules=self.rules, strategy="random", depth=_DEPTH, variants=variants
        )

    def _judge(
        self, pool: Pool, pairs: Pairs, programs: Sequence[Program], job_of: Callable[[Program], RunJob], wanted: int
    ) -> None:
        """Add the verdicts on ``wanted`` pairs of correct runs."""

        def one(program: Program) -> Any:
            if pairs.count >= wanted:
                return []
            job = job_of(program)
            key = f"{pairs.name} {program.name} {job.seed} {job.variants}"
            return self.result_of(key, pool, lambda: [verdict.to_json() for verdict in verdicts_of(pool, job)])

        for program, records in self._each(pool, one, programs):
            verdicts = [Verdict.from_json(record) for record in records]
            pairs.add(program.name, itertools.islice(verdicts, max(0, wanted - pairs.count)))
            self._emit_progress(pairs.name, pairs.count, wanted)

    def _each(
        self, pool: Pool, one: Callable[[Program], Any], programs: Sequence[Program]
    ) -> Generator[tuple[Program, Any]]:
        """``one`` of every program, ``jobs`` at a time, in order. An interruption closes ``pool``, used by ``one``."""
        threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="measure")
        try:
            yield from zip(programs, threads.map(one, programs), strict=True)
        except BaseException:
            pool.close()
            raise
        finally:
            threads.shutdown(wait=True, cancel_futures=True)

    def _pool(self, environment: Environment, target: str, *, warm: bool) -> Pool:
        return Pool(environment, Limits(), jobs=self.jobs, warm=warm, target=target)

    def _file(self, capability: str, program: Program) -> str:
        return str(self.out.absolute() / capability / f"{program.digest}.pickle")

    def _emit_pairs(self, pairs: Pairs, began: float) -> None:
        inconclusive = pairs.kinds[str(VerdictKind.INCONCLUSIVE)]
        detail = f"{pairs.count} pairs, {len(pairs.called_wrong)} called wrong, {inconclusive} inconclusive"
        self._emit_step(pairs.name, not pairs.called_wrong, detail, began)

    def _emit_progress(self, part: str, done: int, total: int) -> None:
        self.handler(SelfCheckProgress(part=part, done=done, total=total))

    def _emit_step(self, name: str, passed: bool, detail: str, began: float) -> None:
        self.handler(SelfCheckStep(step=name, passed=passed, detail=detail, seconds=round(time.monotonic() - began, 3)))
