"""PyTorch's catalogue of operators, read in children that may crash, and its seed programs in a folder."""

from __future__ import annotations

import dataclasses
import json
import math
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eqfuzz import __version__
from eqfuzz.atomic_file import write_atomically
from eqfuzz.commands.journal import Journal
from eqfuzz.errors import UsageError
from eqfuzz.events.catalogue import CatalogueStarted, CatalogueSummary, OperatorRead
from eqfuzz.events.event import Handler
from eqfuzz.generate.catalogues.messages import (
    ALL_FATAL,
    CATALOGUES,
    DTYPES,
    REFUSED,
    SAMPLE,
    TARGET,
    Catalogue,
    CatalogueListed,
    ListJob,
    SamplesWritten,
    WriteJob,
    WriteRefusedJob,
    WrittenResult,
    dtypes_of,
)
from eqfuzz.generate.catalogues.programs import CatalogueProgram, programs_of
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.program.release import this_release
from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.exit_reasons import DEATHS
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.versions import versions

JOURNAL = "samples.jsonl"
PROGRAMS = "programs"

_FORMAT = 8
"""Of the journal: it changes where other samples are written."""

_MOST_CRASHES = 20
"""Samples of one operator and dtype that may end the process before all are left out."""


@dataclasses.dataclass(frozen=True)
class CatalogueRequest:
    """What is read."""

    out: Path
    """Folder of the call."""
    operators: tuple[str, ...] = ()
    """Names of entries of the catalogue; empty: all."""
    dtypes: tuple[str, ...] = ()
    """Dtypes of operands; empty: those of the catalogue."""
    seed: int = 0
    """Decides layouts and values."""
    jobs: int = 1
    """Entries read at once."""
    catalogue: Catalogue = CATALOGUES[0]
    """One of ``CATALOGUES``."""
    most: int = 0
    """Number of samples of each entry and dtype, which ``seed`` chooses; 0: all."""


def write_catalogue(request: CatalogueRequest, handler: Handler) -> CatalogueSummary:
    """Write the programs below ``request.out``; the last event is returned. What was read before is not read again.

    Raises UsageError, RunnerFailed when no process can be started, InternalError for a defect of eqfuzz.
    """
    began = time.monotonic()
    reading = CatalogueReading(request, handler)
    ending = reading.run()
    programs = [] if ending is not Ending.DONE else reading.programs()
    for program in programs:
        file = request.out / PROGRAMS / program.name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, program.source)
    summary = reading.summary(programs, interrupted=ending is not Ending.DONE, seconds=time.monotonic() - began)
    handler(summary)
    return summary


def listed_operators(
    pool: Pool, dtypes: Sequence[str], catalogue: Catalogue = CATALOGUES[0]
) -> dict[str, tuple[str, ...]]:
    """Those of ``dtypes`` that eager supports, by operator. Raises InternalError and RunnerFailed."""
    reply = pool.ask(ListJob(catalogue=catalogue, dtypes=tuple(dtypes)))
    if not isinstance(reply.answer, CatalogueListed):
        raise InternalError(f"the catalogue cannot be listed: {reply.exit.detail}", reply.exit.output)
    return {entry.name: entry.dtypes for entry in reply.answer.operators}


def written_samples(pool: Pool, job: WriteJob | WriteRefusedJob) -> SamplesWritten:
    """The answer of the job, again without each sample that ends the child: of too many, no sample is read.

    Raises InternalError and RunnerFailed.
    """
    while True:
        reply = pool.ask(job)
        ended = reply.exit
        if isinstance(reply.answer, SamplesWritten) and ended.reason == "done":
            return reply.answer
        if ended.reason not in DEATHS:
            raise InternalError(f"{job.operator} in {job.dtype}: {ended.detail}", ended.output)
        word, _, number = reply.stage.partition(" ")
        if word != SAMPLE or len(job.skip) == _MOST_CRASHES:
            count = len(job.skip) + 1
            return SamplesWritten(
                operator=job.operator,
                dtype=job.dtype,
                samples=count,
                repeats=0,
                results=(),
                left_out={ALL_FATAL: count},
            )
        job = dataclasses.replace(job, skip=(*job.skip, int(number)))


class CatalogueReading:
    """Reads the samples of all requested operators and dtypes, each once: they are in a journal below ``out``."""

    def __init__(self, request: CatalogueRequest, handler: Handler) -> None:
        self._request = request
        self._handler = handler
        self._lock = threading.Lock()
        self._wanted: list[tuple[str, str]] = []
        try:
            request.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--out: {request.out}: {error.strerror}") from None
        self._journal = Journal(request.out / JOURNAL)

    def run(self, deadline: float = math.inf) -> Ending:
        """Read what is not in the journal, until all is read, ``deadline`` or Ctrl-C. Raises like ``write_catalogue``.

        ``deadline`` is a value of ``time.monotonic``.
        """
        request = self._request
        dtypes = request.dtypes or dtypes_of(request.catalogue)
        for dtype in request.dtypes:
            if dtype not in DTYPES:
                raise UsageError(
                    f"--dtypes: no dtype {dtype!r}{did_you_mean(dtype, DTYPES)}; known: {', '.join(DTYPES)}"
                )
        environment = Environment(request.out.resolve())
        environment.temporary_dir().mkdir(parents=True, exist_ok=True)
        with Pool(environment, Limits(), jobs=request.jobs, target=TARGET, warm=False) as pool:
            listed = self._listed(pool, dtypes)
            self._wanted = [(name, dtype) for name, supported in listed.items() for dtype in supported]
            unread = [pair for pair in self._wanted if self._key(*pair) not in self._journal]
            self._handler(
                CatalogueStarted(
                    catalogue=request.catalogue,
                    seed=request.seed,
                    operators=len(listed),
                    dtypes=list(dtypes),
                    pairs=len(self._wanted),
                    earlier=len(self._wanted) - len(unread),
                    out=str(request.out),
                    versions=versions(),
                )
            )
            stop = threading.Event()
            calls = (partial(self._read, pool, stop, *pair) for pair in unread)
            return run_all(pool, calls, stop, jobs=request.jobs, deadline=deadline) if unread else Ending.DONE

    def written(self) -> list[SamplesWritten]:
        """What was read, in the order of the catalogue."""
        keys = [self._key(*pair) for pair in self._wanted]
        entries = dict(self._journal)
        return [_from_json(entries[key]) for key in keys if key in entries]

    def programs(self) -> list[CatalogueProgram]:
        """The programs of all that was read."""
        return programs_of(self.written(), self._request.seed)

    def summary(self, programs: Sequence[CatalogueProgram], *, interrupted: bool, seconds: float) -> CatalogueSummary:
        """The figures of all that was read."""
        written = self.written()
        left_out: dict[str, dict[str, int]] = {}
        for one in written:
            for reason, count in one.left_out.items():
                by_operator = left_out.setdefault(reason, {})
                by_operator[one.operator] = by_operator.get(one.operator, 0) + count
        return CatalogueSummary(
            samples=sum(one.samples for one in written),
            repeats=sum(one.repeats for one in written),
            results=sum(len(one.results) for one in written),
            programs=len(programs),
            drawing=list(dict.fromkeys(one.operator for one in written if any(r.draws for r in one.results))),
            left_out=dict(sorted(left_out.items(), key=lambda item: -sum(item[1].values()))),
            without_gradient=sum(one.without_gradient for one in written),
            interrupted=interrupted,
            seconds=round(seconds, 3),
            out=str(self._request.out),
        )

    def _listed(self, pool: Pool, dtypes: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The dtypes of each requested operator. Raises UsageError for one that is not in the catalogue."""
        request = self._request
        listed = listed_operators(pool, dtypes, request.catalogue)
        chosen = request.operators or tuple(listed)
        for name in chosen:
            if name not in listed:
                raise UsageError(f"the catalogue {request.catalogue} has no {name!r}{did_you_mean(name, listed)}")
        return {name: dtypes for name, dtypes in listed.items() if name in chosen}

    def _read(self, pool: Pool, stop: threading.Event, operator: str, dtype: str) -> None:
        """Read one operator for a dtype."""
        if stop.is_set():
            return
        try:
            written = written_samples(pool, self._job(operator, dtype))
        except InternalError:
            if stop.is_set():
                return  # the pool was closed
            raise
        self._keep(written, stop)

    def _job(self, operator: str, dtype: str) -> WriteJob | WriteRefusedJob:
        request = self._request
        if request.catalogue == REFUSED:
            return WriteRefusedJob(operator=operator)
        return WriteJob(
            catalogue=request.catalogue, operator=operator, dtype=dtype, seed=request.seed, most=request.most
        )

    def _keep(self, written: SamplesWritten, stop: threading.Event) -> None:
        with self._lock:
            if stop.is_set():
                return
            self._journal.add(self._key(written.operator, written.dtype), dataclasses.asdict(written))
            self._handler(
                OperatorRead(
                    operator=written.operator,
                    dtype=written.dtype,
                    samples=written.samples,
                    repeats=written.repeats,
                    results=len(written.results),
                    draws=sum(result.draws for result in written.results),
                    left_out=dict(written.left_out),
                    without_gradient=written.without_gradient,
                )
            )

    def _key(self, operator: str, dtype: str) -> str:
        torch = this_release().to_versions()
        request = self._request
        some = [request.most] if request.most else []
        key = [_FORMAT, request.catalogue, operator, dtype, request.seed, __version__, torch, *some]
        return json.dumps(key, sort_keys=True)


def _from_json(entry: dict[str, Any]) -> SamplesWritten:
    results = tuple(
        WrittenResult(**{**result, "inputs": tuple((letter, code) for letter, code in result["inputs"])})
        for result in entry["results"]
    )
    return SamplesWritten(**{**entry, "results": results})
