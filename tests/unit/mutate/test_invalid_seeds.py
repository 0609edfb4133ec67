"""Invalid seeds are grouped by reason; many invalid shipped ones mean a broken installation."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eqfuzz.campaign.configuration import from_tables
from eqfuzz.campaign.engine.dispatch import EventDispatcher
from eqfuzz.campaign.engine.loop import CampaignInvocation, CampaignLoop
from eqfuzz.campaign.engine.plan import SearchSpace
from eqfuzz.campaign.executors.item_runner import ItemResult, WorkOrder
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.sources.files import SeedFiles
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.store import Store
from eqfuzz.cli.app import app
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import InvalidReason, SeedDone, SeedInvalid, SeedStarted
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.mutate.invalid_seeds import InvalidSeeds
from eqfuzz.mutate.seed_run import SeedRun
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.shipped import folder

SHIPPED = sorted((folder("seeds") / "handwritten").rglob("*.py"))
AUTOGRAD = "raises in eager: RuntimeError: Unable to handle autograd's threading"


def grouped(*seeds: tuple[str, str]) -> list[InvalidReason]:
    """Groups of the seeds and what is wrong with each, handed over in the opposite order."""
    collected = InvalidSeeds()
    for index, (seed, reason) in reversed(list(enumerate(seeds))):
        collected.add(index, seed, str(InvalidSeed(seed, reason)))
    return collected.reasons()


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (
            "raises in eager: RuntimeError: shape '[3, 4]' is invalid for input of size 7",
            "raises in eager: RuntimeError: shape '[70]' is invalid for input of size 12",
            "raises in eager: RuntimeError: shape '…' is invalid for input of size N",
        ),
        (
            "raises in eager: RuntimeError: Given normalized_shape=[4], got input of size [2, 3]",
            "raises in eager: RuntimeError: Given normalized_shape=[4, 5], got input of size [2, 3, 8]",
            "raises in eager: RuntimeError: Given normalized_shape=[N], got input of size [N]",
        ),
        (
            "does not load: NameError: name 'nn' is not defined",
            "does not load: NameError: name 'np' is not defined",
            "does not load: NameError: name '…' is not defined",
        ),
        ("does not load: OSError: no data beside a.py", "does not load: OSError: no data beside b.py", "beside …"),
        ("does not load: OSError: x/a.py is odd", "does not load: OSError: x/b.py is odd", "OSError: … is odd"),
    ],
)
def test_numbers_quoted_words_and_the_seeds_name_do_not_split_a_group(one: str, other: str, shared: str) -> None:
    [group] = grouped(("x/a.py", one), ("x/b.py", other))
    assert (group.count, group.seeds, group.place) == (2, ["x/a.py", "x/b.py"], "x/a.py")
    assert group.reason.endswith(shared)


def test_another_exception_or_stage_is_another_group() -> None:
    groups = grouped(
        ("a.py", "raises in eager: RuntimeError: no"),
        ("b.py", "raises in eager: ValueError: no"),
        ("c.py", "does not load: RuntimeError: no"),
    )
    assert [group.count for group in groups] == [1, 1, 1]


def test_the_largest_group_comes_first_then_the_order_of_the_seeds() -> None:
    groups = grouped(("a.py", "no inputs"), ("b.py", "no program"), ("c.py", AUTOGRAD), ("d.py", AUTOGRAD))
    assert [(group.reason, group.count) for group in groups] == [(AUTOGRAD, 2), ("no inputs", 1), ("no program", 1)]


def test_identical_reasons_are_reported_unchanged() -> None:
    [group] = grouped(*((f"{number}.py", "takes 3 of `these`") for number in range(9)))
    assert group.reason == "takes 3 of `these`"
    assert (group.count, group.seeds) == (9, ["0.py", "1.py", "2.py", "3.py", "4.py"])


def test_the_line_stays_with_the_place() -> None:
    collected = InvalidSeeds()
    collected.add(0, "a.py", str(InvalidSeed("a.py", "not valid Python", 3)))
    collected.add(1, "b.py", str(InvalidSeed("b.py", "not valid Python", 70)))
    assert collected.reasons() == [
        InvalidReason(reason="not valid Python", count=2, seeds=["a.py", "b.py"], place="a.py:3")
    ]


def test_a_long_reason_is_one_short_line() -> None:
    [group] = grouped(("a.py", "raises in eager: RuntimeError: " + "many\nlines " * 200))
    assert "\n" not in group.reason
    assert len(group.reason) < 310


def test_the_summary_has_the_reasons_and_how_many_there_are() -> None:
    counters = RunCounters()
    for index in range(4):
        counters.count_event(SeedStarted(index=index, seed=f"{index}.py"))
        if index:
            counters.count_event(SeedInvalid(index=index, seed=f"{index}.py", reason=f"{index}.py: {AUTOGRAD}"))
        counters.count_event(SeedDone(index=index, seed=f"{index}.py", seconds=1.0, cpu_seconds=1.0, timings={}))
    summary = counters.summary(seed=0, interrupted=False, out_of_time=False, left_out=[], seconds=1.0, cpu_seconds=1.0)
    printed = json.loads(json.dumps(summary.to_json()))
    assert printed["invalid"] == 3
    assert printed["invalid_reasons"] == [
        {"reason": AUTOGRAD, "count": 3, "seeds": ["1.py", "2.py", "3.py"], "place": "1.py"}
    ]


def broken(tried: int, invalid: int, seeds: list[Path] = SHIPPED) -> list[str]:
    collected = InvalidSeeds()
    for index, seed in enumerate(seeds[:tried]):
        collected.add_tried(str(seed))
        if index < invalid:
            collected.add(index, str(seed), f"{seed}: {AUTOGRAD}")
    return collected.broken_installation("2.99")


@pytest.mark.parametrize(
    ("tried", "invalid", "is_broken"), [(10, 1, False), (10, 2, True), (9, 9, False), (40, 5, True)]
)
def test_an_installation_is_broken_where_more_than_a_tenth_of_ten_shipped_seeds_is_invalid(
    tried: int, invalid: int, is_broken: bool
) -> None:
    assert bool(broken(tried, invalid)) == is_broken


def test_broken_installation_names_the_most_frequent_reason_and_torch() -> None:
    collected = InvalidSeeds()
    for index, seed in enumerate(map(str, SHIPPED[:12])):
        collected.add_tried(seed)
        collected.add(index, seed, f"{seed}: {'no inputs' if index < 5 else AUTOGRAD}")
    for index in range(20, 40):  # of the user's own: not the installation's fault
        collected.add_tried(f"{index}.py")
        collected.add(index, f"{index}.py", f"{index}.py: no program")
    [line] = collected.broken_installation("2.99")
    assert line.startswith("this installation is broken: 12 of 12 shipped seeds are invalid with torch 2.99, 7 of them")
    assert line.endswith(f"{SHIPPED[5]}: {AUTOGRAD}")


def test_a_seed_that_is_drawn_again_counts_once_for_the_installation() -> None:
    collected = InvalidSeeds()
    for index, seed in enumerate([*SHIPPED[:20], *[SHIPPED[0]] * 9]):
        collected.add_tried(str(seed))
        if seed == SHIPPED[0]:
            collected.add(index, str(seed), f"{seed}: {AUTOGRAD}")
    assert (len(collected), collected.broken_installation("2.99")) == (10, [])


def test_seeds_are_shipped_by_any_name_of_theirs_and_copies_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "linked").symlink_to(folder("seeds"))
    linked = [tmp_path / "linked" / seed.relative_to(folder("seeds")) for seed in SHIPPED]
    assert broken(12, 12, linked)
    monkeypatch.chdir(folder("seeds"))
    assert broken(12, 12, [seed.relative_to(folder("seeds")) for seed in SHIPPED])
    assert not broken(12, 12, [tmp_path / "seeds" / seed.relative_to(folder("seeds")) for seed in SHIPPED])


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., object]:
    """``eqfuzz mutate --dry-run`` on seed files that are all invalid but the first."""
    valid: list[Path] = []

    def judge(run: SeedRun) -> None:
        if run.path not in valid:
            raise InvalidSeed(run.name, AUTOGRAD)

    def call(seeds: list[Path], *options: object):
        valid[:] = seeds[:1]
        fixed = ("--dry-run", "--jobs", 1, "--out", tmp_path / "out")
        return CliRunner().invoke(app, ["mutate", *map(str, (*seeds, *fixed, *options))])

    monkeypatch.setattr(SeedRun, "judge", judge)
    return call


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--format", "json")])
def test_run_on_a_broken_installation_exits_with_3(mutate, options: tuple[str, ...]) -> None:
    result = mutate(SHIPPED[:12], *options)
    assert result.exit_code == 3, result.output
    assert len(result.stderr.splitlines()) == 1
    for text in (result.stderr, result.stdout):
        assert "this installation is broken: 11 of 12 shipped seeds are invalid with torch " in text
        assert AUTOGRAD in text


def test_own_seeds_and_preloads_do_not_break_the_installation(mutate, tmp_path) -> None:
    copies = [tmp_path / f"{number}.py" for number in range(12)]
    for seed, copy in zip(SHIPPED, copies, strict=False):
        shutil.copy(seed, copy)
    (tmp_path / "preload.py").write_text("")
    runs = [
        mutate(copies, "--quiet"),
        mutate(SHIPPED[:12], "--quiet", "--preload", tmp_path / "preload.py"),
        mutate(SHIPPED[:12], "--quiet", "--untrusted", "--unsafe"),
    ]
    assert [run.exit_code for run in runs] == [0, 0, 0]
    for run in runs:
        assert run.stderr == ""
        assert "11 of 12 seeds are invalid" in run.stdout


class Refusing:
    """An executor under which the ``seeds`` named are invalid and all others bring nothing."""

    slots = 1

    def __init__(self, seeds: list[Path]) -> None:
        self._invalid = {str(seed) for seed in seeds}

    def ready(self, slot: int, emit: Handler) -> bool:
        return True

    def perform(self, slot: int, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        name = order.item.name
        if name in self._invalid:
            return ItemResult(Outcome(state="invalid", reason=f"{name}: {AUTOGRAD}"))
        return ItemResult(Outcome(state="done", cells=1, verdicts={"agree": 1}))

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("preload", "is_broken"), [("", True), ("preload.py", False)])
def test_campaign_reports_invalid_reasons_and_a_broken_installation(
    tmp_path: Path, preload: str, is_broken: bool
) -> None:
    changed = {"compiling": {"preload": preload}} if preload else {}
    configuration = from_tables({"seed": 1, "budget": {"cells": 40}, **changed}, "the test")
    (tmp_path / "out").mkdir()
    with Store.open(f"sqlite:///{tmp_path / 'campaigns.db'}", tmp_path / "store") as store:
        call = CampaignInvocation(
            name="night",
            out=tmp_path / "out",
            store=store,
            executor=Refusing(SHIPPED[:3]),
            executor_name="refusing",
            space=SearchSpace([SeedFiles("folder:seeds", SHIPPED[:20])], ["algebra"], ["inductor"]),
            rules=1,
            check_oracle=lambda emit: "",
        )
        events: list[Event] = []
        dispatcher = EventDispatcher(CampaignMetrics(), events.append)
        summary = CampaignLoop(configuration, call, Bucketer(call.out, ()), dispatcher).run()
    assert events[-1] is summary
    [reason] = summary.invalid_reasons
    assert (reason.reason, reason.count) == (AUTOGRAD, summary.figures["invalid"])
    assert set(reason.seeds) == {str(seed) for seed in SHIPPED[:3]}
    assert len(summary.errors) == is_broken
    if is_broken:
        assert summary.errors[0].startswith("this installation is broken: 3 of 20 shipped seeds are invalid with torch")
