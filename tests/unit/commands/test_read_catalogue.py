"""Reading the catalogue in children: one that crashes costs a sample, what was read is not read again."""

import threading
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.commands import read_catalogue
from eqfuzz.commands.read_catalogue import CatalogueReading, CatalogueRequest, write_catalogue
from eqfuzz.errors import UsageError
from eqfuzz.events.catalogue import CatalogueStarted
from eqfuzz.events.event import Event
from eqfuzz.generate.catalogues.messages import (
    ALL_FATAL,
    CatalogueListed,
    ListJob,
    OperatorListed,
    SamplesWritten,
    WriteJob,
    WrittenResult,
)
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.run.messages.job import ChildExit, JobReply


class ScriptedPool:
    """Answers as children would.

    The third sample of ``fatal`` ends each that runs it, ``broken`` always fails, ``hopeless`` ends all.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        self.closing = threading.Event()

    def __enter__(self) -> "ScriptedPool":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def ask(self, job: Any) -> JobReply[Any]:
        done = ChildExit(reason="done")
        if isinstance(job, ListJob):
            names = ("add", "fatal", "broken", "hopeless")
            listed = tuple(OperatorListed(name=name, dtypes=job.dtypes) for name in names)
            return JobReply(answer=CatalogueListed(operators=listed), exit=done)
        assert isinstance(job, WriteJob)
        if job.operator == "broken":
            return JobReply(answer=None, exit=ChildExit(reason="error", detail="a defect"), stage="samples")
        if job.operator == "hopeless":
            stage = "samples" if job.dtype == "bool" else f"sample {len(job.skip) + 1}"
            return JobReply(answer=None, exit=ChildExit(reason="crash", detail="SIGABRT"), stage=stage)
        if job.operator == "fatal" and 3 not in job.skip:
            return JobReply(answer=None, exit=ChildExit(reason="crash", detail="SIGSEGV"), stage="sample 3")
        result = WrittenResult(sample=1, expression="${x} + 1", inputs=(("x", "rng.normal(2)"),))
        left_out = {"fatal": len(job.skip)} if job.skip else {}
        answer = SamplesWritten(
            operator=job.operator, dtype=job.dtype, samples=5, repeats=1, results=(result,), left_out=left_out
        )
        return JobReply(answer=answer, exit=done)


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_catalogue, "Pool", ScriptedPool)


def test_sample_that_ends_the_child_is_counted_and_the_others_are_written(tmp_path: Path):
    request = CatalogueRequest(tmp_path, ("fatal",), ("float32",))
    summary = write_catalogue(request, lambda event: None)
    assert summary.left_out == {"fatal": {"fatal": 1}}
    assert (summary.results, summary.programs) == (1, 1)
    assert (tmp_path / "programs/float32/fatal.py").is_file()


def test_operators_are_read_once(tmp_path: Path):
    request = CatalogueRequest(tmp_path, ("add", "fatal"), ("int8", "bool"))
    first = write_catalogue(request, lambda event: None)
    events: list[Event] = []
    again = write_catalogue(request, events.append)
    (started,) = (event for event in events if isinstance(event, CatalogueStarted))
    assert (started.pairs, started.earlier) == (4, 4)
    assert (again.samples, again.left_out) == (first.samples, first.left_out)


def test_another_random_seed_is_read_anew(tmp_path: Path):
    write_catalogue(CatalogueRequest(tmp_path, ("add",), ("int8",)), lambda event: None)
    events: list[Event] = []
    write_catalogue(CatalogueRequest(tmp_path, ("add",), ("int8",), seed=1), events.append)
    (started,) = (event for event in events if isinstance(event, CatalogueStarted))
    assert started.earlier == 0


@pytest.mark.parametrize(
    ("operators", "dtypes", "message"),
    [
        (("ad",), (), r"^the catalogue opinfo has no 'ad'.*add"),
        ((), ("float",), r"^--dtypes: no dtype 'float'.*float32"),
    ],
)
def test_unknown_name_is_refused_with_a_suggestion(
    operators: tuple[str, ...], dtypes: tuple[str, ...], message: str, tmp_path: Path
):
    with pytest.raises(UsageError, match=message):
        write_catalogue(CatalogueRequest(tmp_path, operators, dtypes), lambda event: None)


def test_defect_of_a_child_is_an_internal_error(tmp_path: Path):
    with pytest.raises(InternalError, match="broken in bool: a defect"):
        write_catalogue(CatalogueRequest(tmp_path, ("broken",), ("bool",)), lambda event: None)


def test_unreadable_journal_is_bad_input(tmp_path: Path):
    (tmp_path / read_catalogue.JOURNAL).write_text("no JSON\n")
    with pytest.raises(UsageError, match=r"samples\.jsonl:1: is no result"):
        CatalogueReading(CatalogueRequest(tmp_path), lambda event: None)


@pytest.mark.parametrize(("dtype", "crashes"), [("float32", 21), ("bool", 1)])
def test_operator_that_ends_too_many_children_is_left_out(dtype: str, crashes: int):
    written = read_catalogue.written_samples(ScriptedPool(), WriteJob(operator="hopeless", dtype=dtype))  # type: ignore[arg-type]
    assert not written.results
    assert written.left_out == {ALL_FATAL: crashes}
    assert written.samples == crashes
