"""Evidence for a report: which runs are made, and what follows from how they end. Nothing is compiled."""

import json
import sys

import pytest

from eqfuzz.program.release import Release
from eqfuzz.triage.confirm.fresh_process import ProcessResult
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.stage import Blame
from eqfuzz.triage.locate.bisection import NotBlamed
from eqfuzz.triage.upstream import evidence as module
from eqfuzz.triage.upstream.evidence import BisectorReplay, EvidenceCollector, EvidencePlan, replay_of
from eqfuzz.triage.upstream.mitigations import DECOMPOSITIONS, DYNAMIC, FAILS, MITIGATIONS, PASSES, PRECISION_CASTS
from tests.unit.triage.upstream.evidences import NEW, NEWEST, OLD

SCRIPT = "import torch\n\n\nf = torch.sin\ncompiled = torch.compile(f)(3)\nraise SystemExit(compiled != f(3))\n"
AMIN = Blame("inductor", "lowerings", 2, "amin")


class Machine:
    """Runs nothing: scripts end as ``ends`` says of their text, variables and interpreter."""

    def __init__(self, ends):
        self.runs = []
        self.ends = ends
        self.tests = ["OK (expected failures=1)", "FAILED (unexpected successes=1)"]
        self.blame = AMIN
        self.bisected = []

    def run_script(self, script, python, seconds, environment, sandbox_paths):
        text = script.read_text()
        variables = {k: v for k, v in environment.items() if k.startswith(("TORCH_BISECT", "TORCH_COMPILE_B"))}
        self.runs.append((text, variables, python, seconds))
        return ReplayOutcome(self.ends(text, variables, python), "compiled: 1\n", "its script raises E")

    def run_fresh(self, command, seconds, sandbox_paths=None):
        if command[-2].endswith("probing_script.py"):
            facts = {key: [] for key in ("special", "limits", "subnormal", "draws", "jumps", "ties")}
            return ProcessResult(0, json.dumps({**facts, "ties": ["argmax"], "error": ""}) + "\n")
        return ProcessResult(0, self.tests.pop(0))

    def bisect_script(self, script, **options):
        self.bisected.append((script.read_text(), options))
        if isinstance(self.blame, Blame):
            return self.blame
        raise self.blame


def fails_from(first, cures=()):
    """A defect that ``first`` and later backends show."""
    ladder = ["eager", "aot_eager", "aot_eager_decomp_partition", "inductor"]

    def ends(text, variables, python):
        backend = variables.get("TORCH_BISECT_BACKEND") or variables.get("TORCH_COMPILE_BACKEND", "inductor")
        below = ladder.index(backend) < ladder.index(first)
        most = variables.get("TORCH_BISECT_MAX")
        cured = any(cure in text for cure in cures) or (most == "-1" and variables["TORCH_BISECT_SUBSYSTEM"] in cures)
        mended = most == "1"
        return FIXED if below or cured or mended else STILL_FAILING

    return ends


@pytest.fixture
def collect(monkeypatch, tmp_path):
    def collect(ends, script=SCRIPT, blame=AMIN, tests=None, **plan):
        machine = Machine(ends)
        machine.blame = blame
        machine.tests = tests or machine.tests
        for name in ("run_script", "run_fresh", "bisect_script"):
            monkeypatch.setattr(module, name, getattr(machine, name))
        evidence = EvidenceCollector(tmp_path, EvidencePlan("sin", **plan)).collect(script, NEWEST)
        return evidence, machine

    return collect


def verdicts(trials):
    return {trial.mitigation.name: trial.verdict for trial in trials}


def test_defect_of_inductor_is_explained(collect):
    cures = ["emulate_precision_casts", "lowerings"]
    evidence, machine = collect(fails_from("inductor", cures))
    assert (evidence.failing, evidence.first_backend) == (3, "inductor")
    assert list(verdicts(evidence.backends).values()) == [PASSES, PASSES, PASSES, FAILS]
    tried = verdicts(evidence.mitigations)
    assert tried.keys() == {m.name for m in MITIGATIONS if m.device in ("", "cpu")} - {DECOMPOSITIONS}
    assert evidence.cures == (PRECISION_CASTS, "lowerings")
    assert evidence.bisected == BisectorReplay(AMIN, *replays(), FAILS, PASSES)
    assert evidence.bisected.is_confirmed
    assert evidence.test.problem == ""
    assert evidence.test.home.file == "test/inductor/test_torchinductor.py"
    assert evidence.traits.ties == ("argmax",)
    assert evidence.releases == ((NEWEST, FAILS),)
    assert "def test_fn() -> bool:" in machine.runs[0][0]
    assert [seconds for *_, seconds in machine.runs[:3]] == [600, 600, 600]
    assert {seconds for *_, seconds in machine.runs[3:]} == {120}


def replays():
    part = {"TORCH_BISECT_BACKEND": "inductor", "TORCH_BISECT_SUBSYSTEM": "lowerings"}
    return {**part, "TORCH_BISECT_MAX": "2"}, {**part, "TORCH_BISECT_MAX": "1"}


def test_defect_of_dynamo_needs_few_runs(collect):
    evidence, machine = collect(fails_from("eager"))
    assert verdicts(evidence.mitigations) == {DYNAMIC: FAILS}
    assert evidence.bisected is None
    assert machine.bisected == []
    assert evidence.test.home.file == "test/dynamo/test_repros.py"
    assert len(machine.runs) == 3 + 4 + 1


def test_decompositions_are_switched_off_where_they_are_last(collect):
    evidence, _ = collect(fails_from("aot_eager_decomp_partition", [DECOMPOSITIONS]))
    assert evidence.cures == (DECOMPOSITIONS,)


def test_dynamic_shapes_decide_the_home_of_the_test(collect):
    evidence, _ = collect(fails_from("inductor", ["dynamic=False"]))
    assert evidence.test.home.file == "test/inductor/test_torchinductor_dynamic_shapes.py"


def test_quick_evidence_is_runs_and_releases(collect):
    pythons = {"/new/python": NEW, "/old/python": OLD}
    evidence, machine = collect(
        lambda text, variables, python: FIXED if python == "/old/python" else STILL_FAILING,
        pythons=pythons,
        is_quick=True,
    )
    assert evidence.releases == ((OLD, PASSES), (NEW, FAILS), (NEWEST, FAILS))
    assert (evidence.backends, evidence.mitigations, evidence.test) == ((), (), None)
    assert [python for _, _, python, _ in machine.runs] == [sys.executable] * 3 + ["/new/python", "/old/python"]


def test_ratio_counts_each_run(collect):
    ends = iter([STILL_FAILING, FIXED, STILL_FAILING])
    evidence, _ = collect(lambda *about: next(ends), is_quick=True)
    assert evidence.failing == 2


def test_nothing_is_tried_on_what_is_fixed(collect):
    evidence, machine = collect(lambda *about: FIXED)
    assert (evidence.failing, evidence.releases) == (0, ((NEWEST, PASSES),))
    assert len(machine.runs) == 6


def test_script_that_breaks_down_is_an_error(collect):
    evidence, _ = collect(lambda *about: ERROR)
    assert evidence.outcome.status == ERROR
    assert evidence.releases == ()


def test_script_that_fails_only_as_it_is_is_shown_as_it_is(collect):
    evidence, _ = collect(lambda text, *about: FIXED if "test_fn" in text else STILL_FAILING, is_quick=True)
    assert evidence.script.text == SCRIPT
    assert evidence.unconverted == "as a function it does not fail"
    assert evidence.failing == 3


def test_script_without_a_function_is_shown_as_it_is(collect):
    evidence, _ = collect(lambda *about: STILL_FAILING, "import torch\nexec('raise SystemExit(1)')\n")
    assert not evidence.script.has_function
    assert (evidence.backends, evidence.untested) == ((), "its exit status is not decided at its end")
    assert evidence.to_json()["unit_test_problem"] == "its exit status is not decided at its end"


def test_bisector_without_a_result_says_why(collect):
    evidence, _ = collect(fails_from("inductor"), blame=NotBlamed("no backend\nshows it"))
    assert (evidence.bisected, evidence.not_bisected) == (None, "no backend shows it")


def test_preload_is_not_beside_the_bisected_script(collect, tmp_path):
    (tmp_path / "preload.py").write_text("")
    _, machine = collect(fails_from("inductor"))
    ((_, options),) = machine.bisected
    assert options["preload"] == tmp_path / "preload.py"
    assert not (tmp_path / "bisected" / "preload.py").exists()


@pytest.mark.parametrize(
    ("tests", "problem", "is_nested"),
    [
        (["OK", "OK (expected failures=1)", "FAILED (unexpected successes=1)"], "", False),
        (["OK", "x\nFAILED"], "compiled, it does not end with 'OK (expected failures=1)': FAILED", False),
        (
            ["OK (expected failures=1)", "OK"] * 2,
            "in eager, it does not end with 'unexpected successes=1': OK",
            False,
        ),
    ],
)
def test_unit_test_must_fail_compiled_and_pass_in_eager(collect, tests, problem, is_nested):
    script = SCRIPT.replace("f = torch.sin", "def f(x): return x")
    evidence, _ = collect(fails_from("eager"), script, tests=list(tests))
    assert evidence.test.problem == problem
    assert ("    def f(x)" in evidence.test.text) == is_nested


def test_cuda_script_is_tried_on_the_cpu(collect):
    script = "import torch\ntorch.backends.cuda.x = 1\nx = torch.ones(3, device='cuda').cuda()\nraise SystemExit(x)\n"
    evidence, machine = collect(
        lambda text, *about: FIXED if "cuda" not in text else STILL_FAILING, script, device="cuda"
    )
    assert evidence.on_cpu == PASSES
    assert any("eager_numerics" in text for text, *_ in machine.runs)


def test_process_that_dies_has_no_unit_test_and_no_probe(collect):
    evidence, machine = collect(fails_from("inductor"), is_watched=True)
    assert "ends the process" in evidence.untested
    assert evidence.traits.error
    assert machine.bisected[0][1]["outside"]


def test_whole_subsystem_is_replayed_by_its_backend():
    replay = replay_of(Blame("inductor", "inductor_fallback_random", 0, "inductor_fallback_random"))
    assert (replay.failing, replay.passing) == ({"TORCH_BISECT_BACKEND": "inductor"}, {})
    assert replay_of(Blame("aot_eager")).failing == {"TORCH_BISECT_BACKEND": "aot_eager"}


def test_unreadable_release_is_the_oldest(collect):
    evidence, _ = collect(lambda *about: STILL_FAILING, pythons={"/a": Release("?")}, is_quick=True)
    assert evidence.releases[0][0] == Release("?")
