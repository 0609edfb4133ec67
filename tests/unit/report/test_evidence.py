"""Evidence in Markdown: what was tried is in a table, and what was not is not claimed."""

import dataclasses

import pytest

from eqfuzz.report.evidence import evidence_text
from eqfuzz.triage.findings.stage import Blame
from eqfuzz.triage.upstream.evidence import Trial, UpstreamTest, replay_of
from eqfuzz.triage.upstream.mitigations import FAILS, MITIGATIONS, PASSES
from eqfuzz.triage.upstream.unit_test import HOMES
from tests.unit.triage.upstream.evidences import NEWEST, OLD, evidence_of

AMIN = dataclasses.replace(replay_of(Blame("inductor", "lowerings", 2, "amin")), fails=FAILS, passes=PASSES)
TRIALS = tuple(Trial(one, PASSES if one.name == "lowerings" else FAILS) for one in MITIGATIONS if not one.device)
PART = "TORCH_BISECT_BACKEND=inductor TORCH_BISECT_SUBSYSTEM=lowerings TORCH_BISECT_MAX="


def test_tables_have_backends_mitigations_and_subsystems():
    text = evidence_text(evidence_of(mitigations=TRIALS, releases=((OLD, PASSES), (NEWEST, FAILS))), ["a", "b: c"])
    assert "It fails in 3 of 3 runs, each in a fresh process (`python test_fn.py`; " in text
    before, after = text.split("Per-subsystem coverage:")
    assert "| `aot_eager_decomp_partition` | passes |\n| `inductor` | still fails |" in before
    assert "| `dynamic=False` | still fails |" in before
    assert "| `torch._inductor.config.pattern_matcher = False` | still fails |" in before
    assert "| inductor_fallback_random | `torch._inductor.config.fallback_random = True` | still fails |" in after
    assert f"| lowerings | `{PART}-1` | passes |" in after
    assert "| 2.9.0 cpu | passes |\n| 2.15.0 cpu | still fails |" in after
    assert text.endswith("Suggested labels: `a`, `b: c`.")
    assert "\n\n\n" not in text


def test_replay_is_stated_as_it_was_confirmed():
    text = evidence_text(evidence_of(bisected=AMIN), ["a"])
    result = "BisectionResult(backend='inductor', subsystem='lowerings', bisect_number=2, debug_info='amin')"
    assert f"`python -m torch._inductor.compiler_bisector run python test_fn.py` ends at\n\n```\n{result}\n```" in text
    assert f"Replay: `{PART}2 python test_fn.py` still fails, `{PART}1 python test_fn.py` passes." in text
    text = evidence_text(evidence_of(bisected=dataclasses.replace(AMIN, passes=FAILS)), ["a"])
    assert f"Replay, not confirmed here: `{PART}2 python test_fn.py` should fail, `{PART}1 python" in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"first": "eager"}, "Replay: `TORCH_BISECT_BACKEND=eager python test_fn.py`, a backend without subsystems."),
        ({"not_bisected": "no backend shows it"}, "run python test_fn.py` has no result here."),
        ({"releases": ((NEWEST, FAILS),)}, "No other release than 2.15.0 cpu was tried."),
    ],
)
def test_what_was_not_tried_is_said(changed, part):
    text = evidence_text(evidence_of(**changed), ["a"])
    assert part in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize(("problem", "words"), [("", "an expected failure"), ("it ends", "not confirmed to fail")])
def test_unit_test_names_its_file(problem, words):
    test = UpstreamTest(HOMES["eager"], "import torch\n\nx = '```'\n", problem)
    text = evidence_text(evidence_of(test=test), ["a"])
    assert f"<code>test/dynamo/test_repros.py</code>, {words}" in text
    assert "````python\nimport torch\n\nx = '```'\n````\n\n</details>" in text


def test_runs_alone_make_no_tables():
    text = evidence_text(evidence_of(backends=()), ["a"])
    assert "|" not in text
    assert "isector" not in text
