"""The gate before a report: each check warns of its own reason, and a good report has no warning."""

import pytest

from eqfuzz.triage.upstream.boolean_function import ReportedScript
from eqfuzz.triage.upstream.evidence import ProgramTraits
from eqfuzz.triage.upstream.gate import GateContext, gate, line_count, third_party
from eqfuzz.triage.upstream.mitigations import FAILS, FALLBACK_RANDOM, PASSES, PRECISION_CASTS
from tests.unit.triage.upstream.evidences import NEW, NEWEST, OLD, SCRIPT, evidence_of


def test_good_report_has_no_warning():
    assert gate(evidence_of()) == []


@pytest.mark.parametrize(
    ("changed", "check", "part"),
    [
        ({"failing": 2}, "flaky", "2 of 3 runs"),
        ({"failing": 0}, "not failing", "0 of 3 runs"),
        ({"seconds": 121.0}, "slow", "121 s"),
        ({"on_cpu": FAILS}, "cuda only", "the CPU shows it too"),
        ({"releases": ((NEW, FAILS), (NEWEST, PASSES))}, "fixed", "torch 2.15.0 cpu"),
        ({"cures": [PRECISION_CASTS]}, "explained", "emulate_precision_casts"),
        ({"cures": [FALLBACK_RANDOM]}, "explained", "fallback_random"),
        ({"traits": ProgramTraits(draws=("rand",))}, "random", "(rand)"),
        ({"traits": ProgramTraits(special=("NaN", "inf"))}, "special values", "NaN and inf"),
        ({"traits": ProgramTraits(limits=("float16",))}, "limits", "float16"),
        ({"traits": ProgramTraits(subnormal=("float32",))}, "subnormal", "float32"),
        ({"traits": ProgramTraits(jumps=("floor",))}, "jump", "floor"),
        ({"traits": ProgramTraits(ties=("argmax",))}, "tie", "argmax"),
        ({"traits": ProgramTraits(error="it raises")}, "not probed", "it raises"),
        ({"script": SCRIPT + "x = 1\n" * 19}, "long", "21 lines"),
        ({"script": "import numpy\n" + SCRIPT}, "imports", "numpy"),
    ],
)
def test_reason_to_close_a_report_is_one_line(changed, check, part):
    (warning,) = gate(evidence_of(**changed))
    assert warning.check == check
    assert part in warning.what
    assert str(warning).count("; ") >= 2
    assert len(str(warning).splitlines()) == 1


@pytest.mark.parametrize(
    ("changed", "check"),
    [
        ({"reported": "https://a/1"}, ["reported"]),
        ({"alike": "https://a/2"}, ["duplicate"]),
        ({"reported": "https://a/1", "alike": "https://a/1"}, ["reported"]),
        ({"reads_private": True}, ["private"]),
    ],
)
def test_context_of_a_report_warns_too(changed, check):
    assert [warning.check for warning in gate(evidence_of(), GateContext(**changed))] == check


def test_script_without_a_function_or_a_free_backend_warns():
    fixed = evidence_of()
    reported = ReportedScript(SCRIPT, "", has_function=True)
    assert [w.check for w in gate(evidence_of_script(fixed, reported))] == ["backend"]
    reported = ReportedScript(SCRIPT, "", has_function=False)
    assert [w.check for w in gate(evidence_of_script(fixed, reported))] == ["no test_fn"]


def evidence_of_script(evidence, reported):
    import dataclasses

    return dataclasses.replace(evidence, script=reported, unconverted="its end is elsewhere")


def test_regression_is_not_fixed():
    assert gate(evidence_of(releases=((OLD, PASSES), (NEW, FAILS), (NEWEST, "breaks down: it raises")))) == []


def test_imports_comments_documentation_and_guard_are_no_lines():
    script = (
        '"""About it.\n\nMore."""\nfrom torch import (\n    nn,\n)\n\n# why\ndef f():\n    """Doc."""\n    return 1\n\n'
        'if __name__ == "__main__":\n    f()\n'
    )
    assert line_count(script) == 2


def test_modules_besides_torch_and_the_library_are_third_party():
    assert third_party("import os, numpy.linalg\nfrom torch.nn import a\nfrom torchvision.x import y\nimport sys") == [
        "numpy",
        "torchvision",
    ]
