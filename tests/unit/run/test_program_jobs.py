"""Jobs about programs, run in this process: which events they report, in which order, and what they leave out."""

import dataclasses
import textwrap

import pytest
import torch

from eqfuzz.oracle.compare.checks import ORACLES
from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.single_result import ResultPlaces
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observation import CallObservation, Observation, Raised
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.run.configs.named import BUILT_IN, GUARDS, OWN_RANDOM, Config
from eqfuzz.run.devices import DeviceObservation, on_device, to_cpu
from eqfuzz.run.jobs.dispatch import TARGET
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.codec import encode
from eqfuzz.run.messages.finding_jobs import (
    AuditJob,
    CallsDescribed,
    CompiledRunJudged,
    DescribeJob,
    OperatorsAudited,
)
from eqfuzz.run.messages.job import ProgramInvalid, StageEntered
from eqfuzz.run.messages.seed_jobs import CellReport, ProgramRewritten, RunJob

SOURCE = """
import torch
def program(x, y): return torch.sin(x) * y + 1
def inputs(rng): yield rng.normal(5), rng.normal(5)
"""


LIMITS = Limits(load_s=1, eager_s=1, compile_s=1)


def job_of(source=SOURCE, **changes):
    job = RunJob(
        program=recognise(textwrap.dedent(source), "seed.py"),
        rules=tuple(r.name for r in shipped_rules()),
        depth=2,
        variants=3,
        configs=(BUILT_IN["eager"], BUILT_IN["aot_eager"]),
        limits=LIMITS,
    )
    return dataclasses.replace(job, **changes)


def run(job):
    """The events of a job; it and they travel as JSON."""
    events = []
    TARGET.run(encode(job), lambda event: events.append(job.decoder().decode(encode(event))))
    return events


DRAWING = """
import torch
def program(x):
    drawn = torch.rand(5)
    return x + drawn, {result}
def inputs(rng): yield (rng.normal(5),)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("result", "kind"), [("drawn", "agree"), ("(drawn > 0.5).nonzero()", "inconclusive")])
def test_only_programs_that_draw_random_numbers_are_compiled_under_own_random(result, kind):
    none = job_of(configs=(OWN_RANDOM,), original_only=("own-random",), strategy="none", limits=Limits(compile_s=60))
    assert not [e for e in run(none) if isinstance(e, CellReport)]
    drawing = dataclasses.replace(none, program=recognise(DRAWING.format(result=result), "seed.py"))
    cells = [(e.config, e.verdict.kind) for e in run(drawing) if isinstance(e, CellReport)]
    assert cells == [("own-random", kind)]


def test_the_original_gets_more_guard_steps_once():
    configs = BUILT_IN["eager"], GUARDS
    job = job_of(configs=configs, original_only=("guards",), variants=1, steps=1, guard_steps=3)
    cells = [(e.variant, e.config, e.compiled) for e in run(job) if isinstance(e, CellReport)]
    compiled = {(number, config): counts for number, config, counts in cells if config}
    assert list(compiled) == [(0, "eager"), (0, "guards"), (1, "eager")]
    assert compiled[0, "guards"]["graphs"] > compiled[0, "eager"]["graphs"]
    assert (job.steps_under("eager"), job.steps_under("guards")) == (1, 3)
    done = dataclasses.replace(job, skip=((0, "cpu", "guards"),))
    assert (0, "guards") not in {(e.variant, e.config) for e in run(done) if isinstance(e, CellReport)}


REFUSING = """
import torch
def program(x, n):
    if n < 0 and not {lost}: raise ValueError("n is negative")
    return x * n
def inputs(rng):
    yield rng.normal(3), 2
    yield rng.normal(3), -1
    yield rng.normal(3), 3
"""


@pytest.mark.parametrize("lost", ["False", "torch.compiler.is_compiling()"])
def test_inputs_that_eager_refuses_come_last_and_must_be_refused(lost):
    events = run(job_of(REFUSING.format(lost=lost), configs=(BUILT_IN["eager"],), variants=1, steps=0))
    verdicts = {(e.variant, e.config): e.verdict for e in events if isinstance(e, CellReport)}
    assert {verdict.kind for place, verdict in verdicts.items() if place != (0, "eager")} == {"agree"}
    verdict = verdicts[0, "eager"]
    assert verdict.kind == ("agree" if lost == "False" else "exception-mismatch")
    assert lost == "False" or "(inputs that eager refuses): eager raises ValueError" in verdict.message


def test_the_first_inputs_must_be_accepted():
    (invalid,) = [
        e for e in run(job_of(REFUSING.format(lost="False").replace("n < 0", "n > 0"))) if isinstance(e, ProgramInvalid)
    ]
    assert "raises in eager: ValueError" in invalid.reason


def test_all_four_cells_are_judged():
    events = run(job_of())
    cells = [(e.variant, e.config) for e in events if isinstance(e, CellReport)]
    expected = [(0, "eager"), (0, "aot_eager")]
    for variant in (1, 2, 3):
        expected += [(variant, ""), (variant, "eager"), (variant, "aot_eager")]
    assert cells == expected
    assert {e.verdict.kind for e in events if isinstance(e, CellReport)} == {"agree"}
    stages = [e.stage for e in events if isinstance(e, StageEntered)]
    assert stages[:4] == ["load", "eager", "probe", "rewrite"]
    assert all(e.seconds > 0 for e in events if isinstance(e, StageEntered))


def test_skipped_cells_and_variants_are_not_judged():
    events = run(job_of(skip=((0, "cpu", "eager"), (2, "cpu", "aot_eager")), skip_variants=(1,)))
    cells = {(e.variant, e.config) for e in events if isinstance(e, CellReport)}
    assert (0, "eager") not in cells
    assert (2, "aot_eager") not in cells
    assert not any(variant == 1 for variant, _ in cells)
    assert (2, "eager") in cells


def test_only_the_original_is_judged_with_several_threads():
    source = SOURCE.replace("+ 1", "* torch.get_num_threads()")
    configs = BUILT_IN["eager"], BUILT_IN["eager"].with_threads(2)
    events = run(job_of(source, configs=configs, original_only=("eager@2",)))
    cells = [(e.variant, e.config) for e in events if isinstance(e, CellReport) and e.config]
    assert cells == [(0, "eager"), (0, "eager@2"), (1, "eager"), (2, "eager"), (3, "eager")]
    assert {e.verdict.kind for e in events if isinstance(e, CellReport)} == {"agree"}
    (event,) = [e for e in events if isinstance(e, ProgramRewritten)]
    assert event.cells == len(cells)
    refusing = run(job_of(REFUSING.format(lost="False"), configs=configs, strategy="none", steps=0))
    assert {e.verdict.kind for e in refusing if isinstance(e, CellReport)} == {"agree"}
    assert [e.config for e in events if isinstance(e, StageEntered) and e.stage == "threads"] == ["eager@2"]


def test_a_dry_run_stops_before_compiling():
    events = run(job_of(dry_run=True))
    assert all(not e.config for e in events if isinstance(e, CellReport))
    (event,) = [e for e in events if isinstance(e, ProgramRewritten)]
    assert event.cells == 0
    assert len(event.variants) == 3


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (SOURCE.replace("torch.sin(x)", "torch.zin(x)"), "AttributeError"),
        (SOURCE + "1 / 0\n", "ZeroDivisionError"),
        (SOURCE.replace("yield rng.normal(5), ", "yield "), "TypeError"),
        (
            SOURCE.replace("torch.sin(x)", "torch.empty(5).copy_(x) * (time.perf_counter() % 1)") + "import time\n",
            "determin",
        ),
    ],
)
def test_invalid_seeds_are_reported(source, words):
    (event,) = [e for e in run(job_of(source)) if isinstance(e, ProgramInvalid)]
    assert words in event.reason
    assert "\n" not in event.reason


def test_description_has_the_code_of_the_calls():
    events = run(DescribeJob(program=recognise(SOURCE, "seed.py"), limits=LIMITS))
    (event,) = [e for e in events if isinstance(e, CallsDescribed)]
    assert "return [" in event.calls
    assert event.state is None
    assert not event.problem


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
def test_operators_of_a_program_are_audited(whole):
    job = AuditJob(program=recognise(SOURCE, "seed.py"), checks=ORACLES, steps=0, whole=whole)
    events = run(job)
    (audited,) = [e for e in events if isinstance(e, OperatorsAudited)]
    assert audited.audit.audited > 0
    assert audited.audit.suspects == ()
    assert [e.verdict.kind for e in events if isinstance(e, CompiledRunJudged)] == ["agree"] * whole


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_calls_keep_layout_and_sharing_on_another_device(device):
    whole = torch.arange(12.0).view(3, 4)
    call = Call(
        (whole.t(), Pair(whole[1:, ::2], whole.expand(2, 3, 4)), 2), {"k": [torch.zeros(2)]}, "new", "x = 1", "y"
    )
    call.kwargs["k"][0].requires_grad_()
    moved = on_device(call, device)
    transposed, pair, number = moved.args
    assert (moved.label, moved.before, moved.within, number) == ("new", "x = 1", "y", 2)
    for before, after in ((whole.t(), transposed), (whole[1:, ::2], pair.first), (whole.expand(2, 3, 4), pair.second)):
        assert after.device.type == device
        assert torch.equal(after.cpu(), before)
        assert (after.stride(), after.storage_offset()) == (before.stride(), before.storage_offset())
    assert moved.kwargs["k"][0].requires_grad
    transposed.fill_(-1.0)
    assert pair.first.eq(-1).all()
    assert pair.second.eq(-1).all()
    assert whole.sum() == 66


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_observations_from_another_device_are_moved_back(device):
    complex_one = torch.tensor([1j, 2.0], device=device)
    seen = [("output[0]", torch.ones(2, 3, device=device).t()), ("output[1]", complex_one.conj()), ("output[2]", 7)]
    back = to_cpu(Observation([CallObservation(outputs=seen)])).calls[0]
    assert back.outputs[0][1].stride() == (1, 3)
    assert torch.equal(back.outputs[0][1], torch.ones(3, 2))
    assert back.outputs[1][1].tolist() == [-1j, 2.0]
    assert back.outputs[2] == ("output[2]", 7)
    assert [device in text for _, text in back.traits] == [True, True]
    assert [path for path, _ in back.traits] == ["output[0].device", "output[1].device"]


def observed_elsewhere(source):
    """A program on ``cpu:0``, which is the CPU, and takes every path of another device."""
    loaded = Loaded(recognise(textwrap.dedent(source), "seed.py"))
    calls = loaded.calls(0)
    return DeviceObservation.of(loaded.instance, calls, observe(loaded.instance, calls), "cpu:0")


def test_cells_on_another_device_are_judged_there():
    events = run(job_of(devices=("cpu", "cpu:0"), variants=1))
    cells = [e for e in events if isinstance(e, CellReport) and e.config]
    assert {(e.device, e.verdict.kind) for e in cells} == {("cpu", "agree"), ("cpu:0", "agree")}
    assert len(cells) == 8
    stages = [e for e in events if isinstance(e, StageEntered) and e.stage == "device"]
    assert all(e.device == "cpu:0" and e.config for e in stages)
    assert len(stages) == 4


def test_a_program_that_fails_on_the_device_is_unsupported(monkeypatch):
    """Nor is any call judged after the one that fails."""
    source = """
        import torch
        def program(x): return x + torch.ones(x.shape[0])
        def inputs(rng): yield from (rng.normal(n) for n in (2, 3))
    """

    def stops(make_callable, calls, device, transform=None):
        seen = observe(make_callable, calls, transform=transform)
        if limit < len(seen.calls):
            seen.calls[limit].raised = Raised("RuntimeError", "two devices", "torch")
        return seen.first(limit + 1)

    limit = 0
    monkeypatch.setattr("eqfuzz.run.devices.observe_on", stops)
    (cell,) = [
        e
        for e in run(job_of(source, devices=("cpu:0",), strategy="none", configs=(BUILT_IN["eager"],)))
        if isinstance(e, CellReport)
    ]
    assert cell.verdict.kind == "unsupported"
    assert cell.verdict.message == "eager does not run on cpu:0: RuntimeError: two devices"
    loaded = Loaded(recognise(textwrap.dedent(source), "seed.py"))
    calls = [*loaded.calls(0), *loaded.calls(1)]
    limit = 3
    observed = DeviceObservation.of(loaded.instance, calls, observe(loaded.instance, calls), "cpu:0")
    assert (len(observed.calls), len(observed.eager.calls), observed.refusal, observed.doubt) == (3, 3, "", "")


@pytest.mark.parametrize(
    ("result", "doubt"),
    [
        ("x * 2", ""),
        ("torch.nn.functional.dropout(x, 0.5)", "it draws random numbers"),
        ("x * next(COUNT)", "something else each time"),
        ("(x * 0).sort().indices", "sort orders equal numbers"),
    ],
)
def test_results_that_depend_on_the_device_are_inconclusive(result, doubt):
    source = f"""
        import itertools
        import torch
        COUNT = itertools.count()
        def program(x): return {result}
        def inputs(rng): yield rng.normal(4)
    """
    observed = observed_elsewhere(source)
    assert doubt in observed.doubt
    assert bool(doubt) == bool(observed.doubt)
    assert not observed.refusal
    judged = judge_compiled(
        Observation([CallObservation(outputs=[("output", torch.zeros(2))])]),
        Observation([CallObservation(outputs=[("output", torch.ones(2))])]),
        Reference([], unknown=observed.doubt) if doubt else None,
    )
    assert judged.kind is VerdictKind.INCONCLUSIVE


@pytest.mark.slow
def test_results_of_a_program_are_judged_each_on_its_own():
    source = """
    import torch
    def program(x, y, z): return torch.relu(x), y * 2, (torch.relu(z), z - 1)
    def inputs(rng):
        yield rng.normal(9, requires_grad=True), rng.normal(9, requires_grad=True), rng.normal(9, requires_grad=True)
    """
    faulty = Config(name="relu-is-wrong", inductor={"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"})
    job = job_of(source, strategy="none", configs=(faulty,), limits=Limits(), steps=0, checks=ORACLES)
    (report,) = (
        e
        for e in run(dataclasses.replace(job, results=tuple(ResultPlaces((n,)) for n in range(3))))
        if isinstance(e, CellReport)
    )
    verdicts = dict(report.apart)
    assert list(verdicts) == [0, 2]
    assert {verdict.kind for verdict in verdicts.values()} == {VerdictKind.WRONG_RESULT}
    assert [verdict.evidence.path for verdict in verdicts.values()] == ["output[0]", "output[2][0]"]
    (whole,) = (e for e in run(job) if isinstance(e, CellReport))
    assert whole.apart == ()
