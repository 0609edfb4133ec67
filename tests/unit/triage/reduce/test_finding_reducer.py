"""What counts as the same finding while it gets smaller, with a compiler that is only imagined."""

import dataclasses
import random

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.messages.finding_jobs import BisectJob, BisectorResult, CompareJob, FaultBisected
from eqfuzz.run.messages.job import ChildExit
from eqfuzz.run.messages.seed_jobs import VariantRecord
from eqfuzz.triage.confirm.rerun import Rerun
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.stage import Ablation, Blame
from eqfuzz.triage.locate.fault_locator import FaultLocator
from eqfuzz.triage.reduce import finding_reducer
from eqfuzz.triage.reduce.finding_reducer import FindingReducer, NotReduced
from tests.unit.children import Children
from tests.unit.triage.findings import finding_of

SOURCE = """\
import torch


def helper(x, n):
    return x * n


def program(x):
    y = helper(x, 3)
    z = y.sin()
    if z.dim() > 0:
        z = z + torch.amin(y, 0)
    return z, y - 1


def inputs(rng):
    yield rng.normal(3)
"""
INDUCTOR = Ablation("wrong-result", "inductor", dict.fromkeys(("eager", "aot_eager", "aot_eager_decomp_partition"), ""))
DYNAMO = Ablation("wrong-result", "inductor", {"eager": "wrong-result"})
AOT = Ablation("wrong-result", "inductor", {"eager": "agree", "aot_eager": "wrong-result"})
AMIN = Blame("inductor", "lowerings", 1, "amin_1")
AGREE, WRONG = (
    Verdict(VerdictKind.AGREE, "it agrees"),
    Verdict(VerdictKind.WRONG_RESULT, "output differs", Evidence(path="output")),
)
ENVIRONMENT = FindingEnvironment(checks=("outputs", "steps"), seed=3, steps=2, input_sets=2)


def big(**changed):
    defaults = {"settings": {"name": "inductor"}, "environment": ENVIRONMENT, "ablation": INDUCTOR}
    return finding_of(**{"source": SOURCE, **defaults, **changed})


class Imagined:
    """Stands in for the children: what each configuration shows of a program."""

    def __init__(self, monkeypatch, verdict_of):
        self.cases = []
        self.shown = verdict_of
        monkeypatch.setattr(finding_reducer, "trial", self.trial)

    def trial(self, pool, case):
        self.cases.append(case)
        rederived = None
        if case.steps_taken:
            rederived = VariantRecord(
                source=case.program.source + "# rewritten\n", derivation=case.steps_taken, exactness="bitwise"
            )
        return Rerun({config.name: self.shown(case, config) for config in case.configs}, rederived)


def smallest(finding, **more):
    tries = []
    reducing_ = FindingReducer(finding, None, report=tries.append, **{"seconds": 60.0, **more})
    return reducing_.smallest(), tries


def wrong_where(text):
    """Right without the part that is to blame, and before Inductor."""

    def verdict_of(case, config):
        is_faulty = config.without is None and config.backend == "inductor" and text in case.program.source
        return WRONG if is_faulty else AGREE

    return verdict_of


def test_program_is_reduced_to_the_failing_code(monkeypatch):
    Imagined(monkeypatch, wrong_where("amin"))
    smaller, tries = smallest(big())
    assert smaller.transformed.source.count("amin") == 1
    assert "sin()" not in smaller.transformed.source
    assert smaller.original == smaller.transformed
    assert smaller.verdict == WRONG
    reduced = smaller.reduced
    assert reduced is not None
    assert reduced.rewrites == (0, 0)
    assert reduced.tries >= len(tries) > 3
    assert reduced.statements[0] == 6
    assert reduced.statements[1] <= 2
    assert reduced.characters == (len(SOURCE), len(smaller.transformed.source))
    assert {one.phase for one in tries} == {"statements of the file"}
    assert smaller.environment.steps == 0
    assert smaller.environment.input_sets == 1


def test_reducing_again_counts_from_the_beginning(monkeypatch):
    Imagined(monkeypatch, wrong_where("amin"))
    once, _ = smallest(big())
    twice, _ = smallest(once)
    assert once.reduced is not None
    assert twice.reduced is not None
    assert twice.reduced.statements == once.reduced.statements
    assert twice.reduced.tries > once.reduced.tries


def test_only_needed_rewrites_are_left(monkeypatch):
    def verdict_of(case, config):
        if config.backend != "inductor":
            return AGREE
        rules = {step.rule for step in case.steps_taken}
        return WRONG if (rules >= {"a/two", "a/four"} if rules else case.transformed) else AGREE

    Imagined(monkeypatch, verdict_of)
    steps = tuple(RewriteStep(f"a/{name}", 3, "x", "y") for name in ("one", "two", "three", "four"))
    finding = big(derivation=steps, cells={"P": "runs", "C(P)": "not run", "P'": "equals P", "C(P')": "wrong-result"})
    smaller, tries = smallest(finding)
    assert [step.rule for step in smaller.derivation] == ["a/two", "a/four"]
    assert smaller.reduced is not None
    assert smaller.reduced.rewrites == (4, 2)
    assert smaller.transformed.source == smaller.original.source + "# rewritten\n"
    assert smaller.cells == {"P": "runs", "C(P)": "agree", "P'": "equals P", "C(P')": "wrong-result"}
    assert tries[0].phase == "rewrites"


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"dynamic": True, "fullgraph": True}, {"name": "mine", "dynamic": True}),
        ({"fullgraph": True, "inductor": {"a": 1, "b": 2}}, {"name": "inductor"}),
    ],
)
def test_unneeded_options_are_removed(monkeypatch, options, left):
    needed = "dynamic" in options
    verdict_of = wrong_where("amin")
    Imagined(monkeypatch, lambda case, config: verdict_of(case, config) if config.dynamic or not needed else AGREE)
    finding = big(config="mine", settings={"name": "mine", **options})
    smaller, tries = smallest(finding)
    assert {**smaller.settings, "name": left["name"]} == left
    assert smaller.config == smaller.settings["name"] != ""
    assert tries[-1].phase == "options"


@pytest.mark.parametrize(("needed", "about"), [(2, "2; with one: agree"), (1, "one is enough")])
def test_unneeded_threads_are_removed(monkeypatch, needed, about):
    amin = wrong_where("amin")
    Imagined(monkeypatch, lambda case, config: amin(case, config) if config.threads >= needed else AGREE)
    settings = DEFAULT_CONFIG.with_threads(2).model_dump(exclude_defaults=True)
    one_thread = "agree" if needed == 2 else "wrong-result"
    smaller, tries = smallest(big(settings=settings, config="inductor@2", one_thread=one_thread))
    assert smaller.threads == needed
    assert smaller.about_threads == about
    assert smaller.config == ("inductor@2" if needed == 2 else "inductor")
    assert "inductor" not in smaller.settings
    assert [(one.size, one.holds) for one in tries if one.phase == "threads"] == [(1, needed == 1)]


def test_reduction_runs_on_the_cheapest_backend_and_is_confirmed_on_the_original(monkeypatch):
    def verdict_of(case, config):
        return WRONG if config.backend in ("aot_eager", "inductor") and "amin" in case.program.source else AGREE

    imagined = Imagined(monkeypatch, verdict_of)
    smaller, _ = smallest(big(ablation=AOT))
    backends = [case.configs[0].backend for case in imagined.cases]
    assert backends.count("inductor") <= 3 < backends.count("aot_eager")
    assert backends.count("eager") > 1, "the stage before is not asked"
    assert smaller.settings == {"name": "inductor"}
    assert "amin" in smaller.transformed.source


def test_reduction_is_repeated_when_the_original_backend_does_not_confirm_it(monkeypatch):
    def verdict_of(case, config):
        needed = {"aot_eager": ["amin"], "inductor": ["amin", "sin()"]}.get(config.backend, ["no such"])
        return WRONG if all(text in case.program.source for text in needed) else AGREE

    Imagined(monkeypatch, verdict_of)
    smaller, _ = smallest(big(ablation=AOT))
    assert all(text in smaller.transformed.source for text in ("amin", "sin()"))
    assert "helper" not in smaller.transformed.source


@pytest.mark.parametrize(
    "verdict_of",
    [
        lambda case, config: AGREE,
        lambda case, config: Verdict(VerdictKind.WRONG_GRADIENT, "another kind"),
        lambda case, config: Verdict(VerdictKind.WRONG_RESULT, "call 1 (model.train(False)): another guard"),
        lambda case, config: WRONG,  # without the part to blame as well
    ],
)
@pytest.mark.parametrize("finding", [big(), big(blame=AMIN)])
def test_other_finding_is_rejected(monkeypatch, verdict_of, finding):
    Imagined(monkeypatch, verdict_of)
    with pytest.raises(NotReduced):
        smallest(finding)


def raising(message, *frames):
    return Verdict(VerdictKind.COMPILER_CRASH, message, Evidence(frames=frames))


def test_an_exception_must_be_the_same(monkeypatch):
    verdict = raising("call 0: compiled raises E: 'a' has 3", "_inductor.a", "_dynamo.b")
    others = [
        raising("call 0: compiled raises E: 'b' has 70", "_inductor.a"),
        raising("raises F", *verdict.evidence.frames),
    ]
    rng = random.Random(0)

    def verdict_of(case, config):
        if config.backend != "inductor":
            return AGREE
        return (
            raising("E: 'zz' has 8", "_inductor.a", "_dynamo.b")
            if "amin" in case.program.source
            else rng.choice(others)
        )

    Imagined(monkeypatch, verdict_of)
    with pytest.raises(NotReduced):
        smallest(big(verdict=verdict))
    same = raising("call 0: E: 'x' has 1", "_inductor.a", "_dynamo.b")
    smaller, _ = smallest(big(verdict=same))
    assert "amin" in smaller.transformed.source
    assert "helper" not in smaller.transformed.source


def test_faulty_component_is_switched_off_for_the_check(monkeypatch):
    imagined = Imagined(monkeypatch, wrong_where("amin"))
    smallest(big(blame=AMIN))
    count_before = {config.without for case in imagined.cases for config in case.configs}
    assert count_before == {None, ("lowerings", "amin")}
    assert {case.configs[0].backend for case in imagined.cases} == {"inductor"}


def test_guards_are_checked_on_other_changes(monkeypatch):
    verdict = Verdict(VerdictKind.WRONG_RESULT, "call 3 (model.rate is 2.0): output differs", Evidence(call=3))

    def verdict_of(case, config):
        hits = config.backend == "inductor" and "amin" in case.program.source and "guards" in case.checks
        return dataclasses.replace(verdict, message="call 1 (model.rate is 7): output differs") if hits else AGREE

    imagined = Imagined(monkeypatch, verdict_of)
    finding = big(
        verdict=verdict, environment=ENVIRONMENT.model_copy(update={"checks": ("outputs", "guards", "repeat")})
    )
    smaller, _ = smallest(finding)
    first = imagined.cases[0]
    assert (first.steps, first.input_sets, first.checks) == (finding_reducer.GUARDS_TRIED, 1, ("outputs", "guards"))
    assert smaller.verdict.message == "call 1 (model.rate is 7): output differs"


def test_check_that_made_the_failing_call_is_tried_alone_first(monkeypatch):
    verdict = Verdict(VerdictKind.WRONG_RESULT, "call 5 (integer values): output differs", Evidence(call=5))

    def verdict_of(case, config):
        hits = config.backend == "inductor" and "amin" in case.program.source and "integers" in case.checks
        return dataclasses.replace(verdict, message="call 1 (integer values): output differs") if hits else AGREE

    imagined = Imagined(monkeypatch, verdict_of)
    checks = ("outputs", "guards", "repeat", "integers")
    finding = big(verdict=verdict, environment=ENVIRONMENT.model_copy(update={"checks": checks}))
    smaller, _ = smallest(finding)
    assert {(case.steps, case.input_sets, case.checks) for case in imagined.cases} == {(0, 1, ("outputs", "integers"))}
    assert smaller.environment.checks == ("outputs", "integers")


def test_known_answers_are_not_run_again(monkeypatch):
    imagined, answers = Imagined(monkeypatch, wrong_where("amin")), {}
    once, _ = smallest(big(), answers=answers)
    count_before = len(imagined.cases)
    again, _ = smallest(big(), answers=dict(answers))
    assert again.transformed == once.transformed
    assert len(imagined.cases) - count_before < count_before / 2


def test_program_is_unchanged_when_time_is_up(monkeypatch):
    Imagined(monkeypatch, wrong_where("amin"))
    smaller, _ = smallest(big(), seconds=0.0)
    assert smaller.transformed == big().transformed
    assert smaller.reduced is not None


def test_candidate_of_another_reducer_is_judged(monkeypatch):
    Imagined(monkeypatch, wrong_where("amin"))
    program = big().transformed
    about = FindingReducer(big(), None, seconds=0)
    assert about.shows_it(program)
    assert not about.shows_it(program.with_source(SOURCE.replace("amin", "amax")))


def test_an_error_of_eqfuzz_is_not_reported_as_fixed():
    broken = ChildExit(reason="error", detail="TypeError: no such thing")
    with pytest.raises(NotReduced, match="it could not be judged again: TypeError: no such thing"):
        FindingReducer(big(), Children({CompareJob: [broken]}), seconds=60.0).smallest()


def bisecting(result: BisectorResult | None = None) -> Children:
    """Children that know what torch's bisector finds."""
    return Children({BisectJob: [FaultBisected(verdict=WRONG, result=result)]})


REWRITE = RewriteStep("a/one", 3, "x", "y")


def test_rewrites_are_removed_when_the_reduced_program_fails_without_them(monkeypatch):
    """Without them it shows only where it is small: what did not show with them is asked anew."""

    def verdict_of(case, config):
        if config.backend != "inductor" or config.without or "amin" not in case.program.source:
            return AGREE
        if case.steps_taken or case.transformed:
            return WRONG if "y - 1" in case.program.source and "sin()" in case.program.source else AGREE
        return WRONG if "helper" not in case.program.source else AGREE

    Imagined(monkeypatch, verdict_of)
    cells = {"P": "runs", "C(P)": "agree", "P'": "equals P", "C(P')": "wrong-result"}
    small, _ = smallest(big(derivation=(REWRITE,), cells=cells))
    assert small.derivation == ()
    assert small.reduced.rewrites == (1, 0)
    assert not small.only_transformed
    assert small.cells == {"P": "runs", "C(P)": "wrong-result"}
    assert not small.original_is_right
    again, _ = smallest(small)
    assert again.transformed.source == small.transformed.source
    assert "sin" not in small.transformed.source


def test_rewrites_stay_when_only_a_cheaper_backend_fails_without_them(monkeypatch):
    def verdict_of(case, config):
        if case.steps_taken or case.transformed:
            return WRONG if config.backend in ("aot_eager", "inductor") and "amin" in case.program.source else AGREE
        return WRONG if config.backend == "aot_eager" and "helper" not in case.program.source else AGREE

    Imagined(monkeypatch, verdict_of)
    small, _ = smallest(big(derivation=(REWRITE,), ablation=AOT))
    assert [step.rule for step in small.derivation] == ["a/one"]
    assert "sin" not in small.transformed.source


BISECTED = BisectorResult(backend="inductor", subsystem="lowerings", bisect_number=1, debug_info="amin_1")


def test_bisector_localises_the_finding(monkeypatch):
    Imagined(monkeypatch, wrong_where("amin"))
    pool = bisecting(BISECTED)
    placed = FaultLocator(pool).place(big())
    assert placed.fingerprint == "values · Inductor, lowerings: amin"
    assert placed.blame == AMIN
    assert [type(job) for job in pool.jobs] == [BisectJob]
    assert placed.reduced is None


def test_reduced_program_gives_the_fingerprint_without_exact_bisection(monkeypatch):
    Imagined(monkeypatch, wrong_where("amin"))
    placed = FaultLocator(bisecting()).place(big())
    assert placed.fingerprint.startswith("values · Inductor · ")
    assert "amin" in placed.fingerprint
    assert "sin," not in placed.fingerprint
    assert "range" not in placed.fingerprint
    assert placed == dataclasses.replace(big(), fingerprint=placed.fingerprint), "it is not reduced itself"


@pytest.mark.parametrize(
    ("finding", "fingerprint"),
    [
        (big(verdict=raising("E: 3", "_dynamo.a")), "raises · E: N · _dynamo.a"),
        (
            big(ablation=DYNAMO, verdict=dataclasses.replace(WRONG, message="call 1 (under no_grad): x")),
            "values · guard on grad mode",
        ),
    ],
)
def test_exception_needs_no_bisection(monkeypatch, finding, fingerprint):
    imagined, pool = Imagined(monkeypatch, wrong_where("amin")), bisecting(BISECTED)
    assert FaultLocator(pool).place(finding).fingerprint == fingerprint
    assert pool.jobs == []
    assert imagined.cases == []


def test_program_gives_the_fingerprint_when_it_no_longer_reproduces(monkeypatch):
    Imagined(monkeypatch, lambda case, config: AGREE)
    placed = FaultLocator(bisecting()).place(big())
    assert "amin" in placed.fingerprint
    assert "sin" in placed.fingerprint
