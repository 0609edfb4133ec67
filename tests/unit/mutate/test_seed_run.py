"""Cells of one seed with one symptom are one finding."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.mutate import seed_run
from eqfuzz.mutate.seed_run import RunResources, SeedRun
from eqfuzz.mutate.settings import CompileSettings, OracleSettings, Settings
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.program.formats import recognise
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.provenance import Provenance
from eqfuzz.run.configs.named import BUILT_IN, DEFAULT_CONFIG
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildEvent, ChildExit, StageEntered
from eqfuzz.run.messages.seed_jobs import CellReport, ProgramRewritten, RunJob, VariantRecord
from eqfuzz.run.processes.exit_reasons import NO_VERDICT
from eqfuzz.triage.confirm.cell import Cell
from tests.unit.children import Children
from tests.unit.triage.findings import SOURCE

HALF_THREADED = CompileSettings(threaded=0.5)
AGREE = Verdict(VerdictKind.AGREE, "it agrees")


def crash(message: str) -> Verdict:
    return Verdict(VerdictKind.COMPILER_CRASH, message, Evidence(frames=("_inductor.graph.GraphLowering.run",)))


def confirmed(monkeypatch: Any, tmp_path: Path, *verdicts: Verdict) -> list[list[tuple[int, str]]]:
    """The groups of cells that a finding is to be made of, in turn: the seed shows the first verdict, variants more."""
    cells = [(number, "inductor", verdict) for number, verdict in enumerate(verdicts)]
    groups = groups_of(monkeypatch, cells, Settings(out=tmp_path))
    return [[(cell.variant, str(cell.verdict.kind)) for cell in group] for group in groups]


def grouped(monkeypatch: Any, tmp_path: Path, inductor: Verdict, threads: Verdict) -> list[list[str]]:
    """The configurations of each such group, where the seed shows one verdict with one thread and one with two."""
    configs = DEFAULT_CONFIG, DEFAULT_CONFIG.with_threads(2)
    cells = [(0, "inductor", inductor), (0, "inductor@2", threads)]
    groups = groups_of(monkeypatch, cells, Settings(out=tmp_path, configs=configs))
    return [[cell.config for cell in group] for group in groups]


def seed_run_with(settings: Settings, children: Any) -> SeedRun:
    resources = RunResources((), children, Environment(settings.out), Limits(), versions={})
    return SeedRun(0, Path("seeds/some.py"), settings, resources, lambda _: None, threading.Event(), text=SOURCE)


def groups_of(monkeypatch: Any, cells: list[tuple[int, str, Verdict]], settings: Settings) -> list[list[Cell]]:
    groups: list[list[Cell]] = []

    class Unconfirmed:
        def __init__(self, *_: Any) -> None:
            pass

        def confirm(self, cells: Any, original: Any) -> Verdict:
            groups.append(list(cells))
            return Verdict(VerdictKind.FLAKY, "not again")

    monkeypatch.setattr(seed_run, "FindingConfirmer", Unconfirmed)
    count = max(number for number, _, _ in cells)
    variants = (VariantRecord(source=SOURCE, derivation=(), exactness="bitwise"),) * count
    events: list[ChildEvent] = [ProgramRewritten(sites=1, variants=variants, cells=len(cells))]
    events += [CellReport(variant=n, device="cpu", config=config, verdict=v, seconds=1.0) for n, config, v in cells]
    events.append(ChildExit(reason="done", cpu_seconds=1.0))
    seed_run_with(settings, Children({RunJob: events})).run()
    return groups


def test_another_crash_of_a_variant_is_a_second_finding(monkeypatch, tmp_path):
    one, again, other = crash("KeyError: 'buf3'"), crash("KeyError: 'buf14'"), crash("IndexError: no index 3")
    groups = confirmed(monkeypatch, tmp_path, one, AGREE, other, again)
    assert groups == [[(0, "compiler-crash"), (3, "compiler-crash")], [(2, "compiler-crash")]]


def test_another_leaf_of_a_variant_is_a_second_finding(monkeypatch, tmp_path):
    wrong = [Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path=f"output[{n}]")) for n in (0, 1, 0)]
    groups = confirmed(monkeypatch, tmp_path, AGREE, *wrong)
    assert groups == [[(1, "wrong-result"), (3, "wrong-result")], [(2, "wrong-result")]]


def test_configurations_besides_the_baseline_share_a_finding(monkeypatch, tmp_path):
    wrong = Verdict(VerdictKind.WRONG_RESULT, "call 5 (integer values): output[0] differs", Evidence(path="output[0]"))
    cells = [(0, "guards", wrong), (0, "inductor", AGREE), (0, "inductor-dynamic", wrong)]
    groups = groups_of(monkeypatch, cells, Settings(out=tmp_path))
    assert [[cell.config for cell in group] for group in groups] == [["inductor-dynamic", "guards"]]


def test_difference_after_a_change_of_the_calls_is_a_finding_of_its_own(monkeypatch, tmp_path):
    labels = {"guards": "call 5 (x.requires_grad becomes True)", "inductor-dynamic": "call 0"}
    cells = [
        (0, config, Verdict(VerdictKind.WRONG_RESULT, f"{label}: output[0] differs", Evidence(path="output[0]")))
        for config, label in labels.items()
    ]
    groups = groups_of(monkeypatch, cells, Settings(out=tmp_path))
    assert sorted(cell.config for [cell] in groups) == sorted(labels)


def test_most_severe_symptom_is_confirmed_first(monkeypatch, tmp_path):
    kinds = VerdictKind.WRONG_METADATA, VerdictKind.COMPILER_CRASH, VerdictKind.WRONG_GRADIENT, VerdictKind.WRONG_RESULT
    groups = confirmed(monkeypatch, tmp_path, *(Verdict(kind, "it differs", Evidence(path="x")) for kind in kinds))
    assert [kind for [(_, kind)] in groups] == [str(kind) for kind in reversed(kinds)]


def seed_run_of(tmp_path: Path, **changed: Any) -> SeedRun:
    return seed_run_with(Settings(out=tmp_path, **changed), Children({}))


def threads_of(tmp_path: Path, **changed: Any) -> list[int]:
    """The numbers of threads of the configurations of a seed's job, those for the original alone at the end."""
    changed = {"guard_steps": 0, "own_random": False, **changed}
    job = seed_run_of(tmp_path, **changed)._job(recognise(SOURCE, "seeds/some.py"))
    assert job.original_only == tuple(config.name for config in job.configs if config.threads > 1)
    return [config.threads for config in job.configs]


def test_a_share_of_originals_is_compiled_for_several_threads(tmp_path):
    drawn = [threads_of(tmp_path, seed=seed, compiling=HALF_THREADED)[1:] for seed in range(60)]
    assert drawn == [threads_of(tmp_path, seed=seed, compiling=HALF_THREADED)[1:] for seed in range(60)]
    assert {tuple(threads) for threads in drawn} == {(), (2,), (3,), (4,)}
    assert 20 < drawn.count([]) < 40
    assert threads_of(tmp_path, compiling=CompileSettings(threaded=0.0)) == [1]
    assert len(threads_of(tmp_path, compiling=CompileSettings(threaded=1.0))) == 2


def configs_of(tmp_path: Path, *names: str, **changed: Any) -> list[str]:
    """The configurations of the job of a seed that names ``names``."""
    text = Provenance("template", configs=names).header() + SOURCE
    changed = {"guard_steps": 0, "own_random": False, **changed}
    job = seed_run_of(tmp_path, **changed)._job(recognise(text, "seeds/some.py"))
    return [config.name for config in job.configs]


def test_seed_is_compiled_under_the_configurations_that_it_names(tmp_path):
    offered = {"seed_configs": BUILT_IN}
    assert configs_of(tmp_path, "eager", "inductor@2", **offered) == ["eager", "inductor@2"]
    assert configs_of(tmp_path, **offered) == ["inductor"]
    assert configs_of(tmp_path, "eager") == ["inductor"], "the user named some"
    with pytest.raises(InvalidSeed, match="no configuration 'egaer', did you mean 'eager'"):
        configs_of(tmp_path, "egaer", **offered)


def test_seeds_may_go_without_variants(tmp_path):
    def strategy_of(*paths: str) -> str:
        run = seed_run_of(tmp_path, unrewritten=frozenset(map(Path, paths)))
        return run._job(recognise(SOURCE, "seeds/some.py")).strategy

    assert strategy_of("seeds/other.py") == Settings(out=tmp_path).rewriting.strategy
    assert strategy_of("seeds/some.py") == "none"


def own_of(tmp_path: Path, **changed: Any) -> tuple[str, ...]:
    return seed_run_of(tmp_path, **changed)._job(recognise(SOURCE, "seeds/some.py")).original_only


def test_originals_have_additional_cells(tmp_path):
    assert own_of(tmp_path) == ("guards", "own-random")
    assert (
        own_of(tmp_path, judging=OracleSettings(steps=0)) == own_of(tmp_path, checks=("metadata",)) == ("own-random",)
    )
    assert own_of(tmp_path, checks=("guards",)) == ("guards",)
    assert own_of(tmp_path, judged=frozenset({("seeds/some.py", "guards")})) == ("own-random",)
    assert own_of(tmp_path, guard_steps=0, own_random=False) == ()


def test_only_kernels_of_the_cpu_are_compiled_for_several_threads(tmp_path):
    assert threads_of(tmp_path, compiling=CompileSettings(threaded=1.0, devices=("cuda",))) == [1]
    assert threads_of(tmp_path, compiling=CompileSettings(threaded=1.0), configs=(BUILT_IN["aot_eager"],)) == [1]


def test_symptom_with_one_thread_is_no_finding_of_several(monkeypatch, tmp_path):
    wrong, other = (
        Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path=path)) for path in ("output", "args[0]")
    )
    assert grouped(monkeypatch, tmp_path, inductor=wrong, threads=wrong) == [["inductor", "inductor@2"]]
    assert grouped(monkeypatch, tmp_path, inductor=AGREE, threads=wrong) == [["inductor@2"]]
    assert grouped(monkeypatch, tmp_path, inductor=other, threads=wrong) == [["inductor"], ["inductor@2"]]


def hanging(*cells: str) -> Children:
    """Children of which one after the other hangs in one of these cells of the original."""
    left = list(cells)

    def events() -> Iterator[ChildEvent]:
        variants = (VariantRecord(source=SOURCE, derivation=(), exactness="bitwise"),) * 2
        yield ProgramRewritten(sites=1, variants=variants, cells=4)
        if left:
            yield StageEntered(stage="compile", seconds=9.0, variant=0, device="cpu", config=left.pop(0))
            yield ChildExit(reason="hang", detail="no end of stage compile", cpu_seconds=1.0)

    return Children({RunJob: lambda _: tuple(events())})


def judged(tmp_path: Path, children: Children, **changed: Any) -> dict[tuple[int, str], Verdict]:
    run = seed_run_with(Settings(out=tmp_path, **changed), children)
    run.judge()
    return {(cell.variant, cell.config): cell.verdict for cell in run.cells.values()}


def test_cells_after_one_that_hangs_have_less_time(tmp_path):
    children = hanging("inductor", "aot_eager")
    configs = DEFAULT_CONFIG, BUILT_IN["aot_eager"]
    verdicts = judged(tmp_path, children, configs=configs, compiling=CompileSettings(runner="stock"))
    assert [job.limits.compile_s for job in children.jobs] == [90, 30, 30]
    assert verdicts[0, "inductor"].kind is VerdictKind.HANG
    assert verdicts[0, "aot_eager"].kind is VerdictKind.INCONCLUSIVE
    assert NO_VERDICT in verdicts[0, "aot_eager"].message
    assert [job.without_end for job in children.jobs] == [
        (),
        (("cpu", "inductor"),),
        (("cpu", "inductor"), ("cpu", "aot_eager")),
    ]


def test_cell_in_the_process_that_forks_hangs_once(tmp_path):
    children = hanging("guards")
    assert list(judged(tmp_path, children)) == [(0, "guards")]
    assert [job.in_batches for job in children.jobs] == [True, True]
    assert children.jobs[1].skip == ((0, "cpu", "guards"),)
