"""`eqfuzz check`: what it refuses, and what it says of each use of a model."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest
from rich.console import Console

from eqfuzz.commands.models import check_model as module
from eqfuzz.commands.models import submodule_search
from eqfuzz.commands.models.check_model import check_model, check_settings
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, SeedInvalid, SeedRewritten, SeedStarted, Summary
from eqfuzz.imports.python_models import PythonReference, gather
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.formats import recognise
from eqfuzz.report.verbs.model_check import ModelCheckReport
from eqfuzz.triage.confirm.cell import Cell
from tests.unit.cli.test_generate_catalogues import call
from tests.unit.triage.findings import finding_of

PACKAGE = Path(__file__).parents[2] / "data"
RESNET = PythonReference("shop.vision", "SmallResNet")
INPUTS = ("rng.normal(2, 3, 16, 16)",)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch):
    """Replaces the runs over programs: each cell has the verdict that ``runs`` has for the use, or agrees."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    scripted: dict[str, VerdictKind] = {}

    def run(settings: Settings, handler: Handler) -> Summary:
        counters = RunCounters()
        for index, path in enumerate(settings.paths):
            kind = scripted.get(path.stem.rpartition("-")[2], VerdictKind.AGREE)
            name, verdict = str(path), Verdict(kind, "so it is")
            program = recognise(path.read_text(), name)
            started = SeedStarted(index=index, seed=name)
            counters.count_event(started)
            handler(started)
            if kind is VerdictKind.INVALID_SEED:
                handler(SeedInvalid(index=index, seed=name, reason="raises in eager"))
            else:
                compiled = {"graphs": 0 if "skipped" in scripted else 1}
                for variant in range(settings.rewriting.variants + 1):
                    cell = Cell(variant, "cpu", "inductor", verdict, 1.0, compiled)
                    handler(CellJudged.of(index, name, cell, []))
                if verdict.is_finding:
                    earlier = dataclasses.replace(program, name="an/earlier/run.py")
                    finding = finding_of(kind, message="so it is", original=earlier)
                    handler(FindingReported(index=index, finding=finding, folder="", known=False))
            handler(SeedDone(index=index, seed=name, seconds=1.0, cpu_seconds=2.0, timings={}))
        summary = counters.summary(
            seed=0, interrupted=False, out_of_time=False, left_out=[], seconds=1.0, cpu_seconds=1.0
        )
        handler(summary)
        return summary

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(submodule_search, "run", run)
    monkeypatch.setattr(module, "plain_finding", lambda seed, *_: f"{seed.stem} is scripted")
    return scripted


def checked(tmp_path: Path, variants: int = 2) -> tuple[ModelCheckSummary, list[Event]]:
    events: list[Event] = []
    settings = check_settings(Settings(out=tmp_path), variants)
    return check_model(gather(RESNET, "", INPUTS), settings, events.append), events


def test_every_use_is_a_program_of_its_own(runs, tmp_path: Path):
    summary, events = checked(tmp_path)
    assert {use.title: (use.outcome, use.cells) for use in summary.uses} == {
        "forward and backward": ("agrees", 1),
        "evaluation": ("agrees", 1),
        "a training step": ("agrees", 1),
        "autocast to bfloat16": ("agrees", 1),
        "dynamic sizes": ("agrees", 1),
        "variants of forward and backward": ("agrees", 2),
    }
    (started,) = (event for event in events if isinstance(event, ModelCheckStarted))
    assert started.modules == ["shop.vision.resnet", "shop.registry"]
    assert [event.index for event in events if isinstance(event, SeedDone)] == [0, 1, 2, 3, 4]
    texts = {path.stem.rpartition("-")[2]: path.read_text() for path in (tmp_path / "programs").glob("*.py")}
    assert "(SmallResNet()).eval()" in texts["evaluation"]
    assert "self.optimizer.step()" in texts["training"]
    assert 'configs = "inductor-dynamic"' in texts["dynamic"]


def test_outcomes_are_distinguished(runs, tmp_path: Path):
    runs |= {
        "evaluation": VerdictKind.WRONG_RESULT,
        "training": VerdictKind.INCONCLUSIVE,
        "autocast": VerdictKind.UNSUPPORTED,
        "dynamic": VerdictKind.INVALID_SEED,
    }
    summary, events = checked(tmp_path, variants=0)
    assert [use.outcome for use in summary.uses] == ["agrees", "differs", "not comparable", "unsupported", "invalid"]
    assert summary.uses[1].unreduced == "SmallResNet-evaluation is scripted"
    assert summary.findings == 1
    stream = io.StringIO()
    with ModelCheckReport(Console(file=stream, width=100)) as report:
        for event in events:
            report.handle(event)
    text = stream.getvalue()
    assert "a training step: inconclusive: so it is" in text
    assert "1 use differs" in text


def test_the_cost_is_estimated_when_the_first_use_has_run(tmp_path: Path):
    started = ModelCheckStarted(
        model="shop:Net", definitions=1, modules=["shop"], uses=["a", "b"], variants=1, out="out", versions={}
    )
    rewritten = SeedRewritten(index=0, seed="a.py", sites=3, variants=1, cells=3, eager_seconds=0.5)
    stream = io.StringIO()
    with ModelCheckReport(Console(file=stream, width=100)) as report:
        for event in (started, rewritten, dataclasses.replace(rewritten, index=1, eager_seconds=7.0)):
            report.handle(event)
    text = stream.getvalue()
    assert "a call in eager takes 0.5 s: 5 cells, some 3 min 45 s of CPU time" in text
    assert "7 s" not in text


def test_smallest_submodule_that_differs_is_named(runs, tmp_path: Path, monkeypatch):
    names = ("stem", "stem.0", "layers", "layers.0", "layers.0.first", "layers.1", "layers.1.first", "head")
    monkeypatch.setattr(module, "submodules_of", lambda path, settings: names)
    runs |= dict.fromkeys(["forward", "layers", "layers.1"], VerdictKind.WRONG_RESULT)
    summary, _ = checked(tmp_path, variants=0)
    assert summary.uses[0].submodule == "layers.1"
    assert summary.uses[0].unreduced == "SmallResNet-submodule-layers.1 is scripted"
    assert summary.findings == 1
    tried = [path.stem.rpartition("-")[2] for path in (tmp_path / "programs").glob("*submodule*.py")]
    assert sorted(tried) == ["layers", "layers.0", "layers.1", "layers.1.first", "stem"]


def test_variants_that_differ_as_the_original_does_differ(runs, tmp_path: Path):
    runs["forward"] = VerdictKind.WRONG_RESULT
    summary, _ = checked(tmp_path)
    assert (summary.uses[0].outcome, summary.uses[-1].outcome) == ("differs", "differs")
    assert summary.uses[-1].finding == summary.uses[0].finding


def test_model_of_which_nothing_is_compiled_does_not_agree(runs, tmp_path: Path):
    runs["skipped"] = VerdictKind.AGREE
    summary, _ = checked(tmp_path)
    assert {use.outcome for use in summary.uses} == {"nothing compiled"}


def test_submodule_with_another_kind_of_difference_is_not_named(runs, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "submodules_of", lambda path, settings: ("stem", "head"))
    runs |= {"forward": VerdictKind.WRONG_RESULT, "stem": VerdictKind.WRONG_METADATA, "head": VerdictKind.WRONG_RESULT}
    summary, _ = checked(tmp_path, variants=0)
    assert summary.uses[0].submodule == "head"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model"], "TARGET: 'model' is no model: write package.module:Name, FILE.py:Name or a model's file"),
        (["model.py"], "model.py: cannot be read: No such file or directory"),
        (["model.pt2"], "model.pt2: No such file or directory"),
        (["nowhere/model.py:Net", "--inputs", "1"], "there is no module 'model' with Python text"),
        (["shop.vision:SmallResNet"], "--inputs: shop.vision:SmallResNet needs inputs"),
        (["shop.nowhere:Net", "--inputs", "1"], "shop.nowhere"),
        (["shop.vision:SmallResNet", "--inputs", "rng.normal(2"], "is not valid Python"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(arguments, message, tmp_path: Path, monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE))
    result = call("check", *arguments, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert message in result.stderr
