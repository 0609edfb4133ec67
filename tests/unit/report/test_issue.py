"""A finding as an issue: the sections of PyTorch's bug template, and nothing in them that is not known."""

import dataclasses
import re

import pytest

from eqfuzz.oracle.compare.verdict import FINDINGS, Evidence, VerdictKind
from eqfuzz.program.release import Release
from eqfuzz.report.issue import issue_text, title
from eqfuzz.report.issue_searches import searches
from eqfuzz.triage.confirm.replay import FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.buckets import bucket_id
from eqfuzz.triage.findings.finding import DrawCount, ReductionResult
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.stage import Ablation, Blame
from eqfuzz.triage.upstream.boolean_function import ReportedScript
from eqfuzz.triage.upstream.evidence import UpstreamEvidence
from eqfuzz.triage.upstream.gate import GateWarning
from eqfuzz.triage.upstream.mitigations import FAILS, PASSES
from eqfuzz.triage.upstream.tracker import LikelyDuplicate, TrackedIssue
from tests.unit.triage.findings import finding_of

SOURCE = """\
import torch


def program(x):
    return x.to(torch.int8).amin(0)


def inputs(rng):
    yield rng.normal(3)
"""
SCRIPT = """\
import sys

import torch

sys.exit(1)
"""
LADDER = ("eager", "aot_eager", "aot_eager_decomp_partition")
AMIN = Blame("inductor", "lowerings", 3, "amin_2")
EVIDENCE = Evidence(0, "output[0]", (3, 11), 4.25, 5.25, 4.250000123, 3.1e-06, 3, 1024)
WHOLE = finding_of(
    source=SOURCE,
    id="1f2e3d4c5b",
    evidence=EVIDENCE,
    settings={"name": "mine", "dynamic": True},
    ablation=Ablation("wrong-result", "inductor", dict.fromkeys(LADDER, "agree")),
    blame=AMIN,
    suspects=("aten.amin.default: 3 of 1024 elements are wrong",),
    fingerprint="values · Inductor, lowerings: amin",
    environment=FindingEnvironment(torch="2.13.0", build="cpu", python="3.11.9", eqfuzz="0.1.0"),
    draws=DrawCount(3, 3),
    reduced=ReductionResult((2, 0), (20, 1), (900, 90), 57),
)
OUTCOME = ReplayOutcome(STILL_FAILING, "eager:    4.25\ncompiled: 5.25\n")
CHECKS = {"output[0]": {"same": True, "assert_close": False}}
RELEASE = Release("2.15.0", "cu132")
VERSIONS = "PyTorch version: 2.15.0+cu132\nOS: Linux\n"

GOLDEN = f"""\
<!-- [Inductor] amin (int8): torch.compile gives a wrong result -->
<!-- Before filing, look for duplicates:
     inductor amin wrong result: https://github.com/pytorch/pytorch/issues?q=is%3Aissue+inductor+amin+wrong+result
     torch.compile amin wrong result: https://github.com/pytorch/pytorch/issues?q=is%3Aissue+torch.compile+amin+wrong+result
     Triage gives such reports `high priority`: silently wrong.
-->
### 🐛 Describe the bug

`torch.compile` gives a wrong result for the program below, on CPU, under `dynamic=True`. At fault is the lowering of \
`amin`.

```python
import sys

import torch

sys.exit(1)
```

It prints

```
eager:    4.25
compiled: 5.25
```

**`output[0][3, 11]`** is `4.25` in eager and `5.25` compiled; computed in float64 it is `4.250000123`, and rounding \
explains a distance of 3.1e-06 from it. 3 of 1,024 elements are wrong.

| `torch.compile(backend=…)` | verdict |
|---|---|
| `eager` | agree |
| `aot_eager` | agree |
| `aot_eager_decomp_partition` | agree |
| `inductor` | **wrong-result** |

It fails in 3 of 3 runs, each in a fresh process (`python test_fn.py`).

No other release than 2.15.0 cu132 was tried.

Suggested labels: `oncall: pt2`, `topic: fuzzer`, `module: inductor`, `module: correctness (silent)`.

- `torch._dynamo.utils.same(eager, compiled, fp64_ref)` passes: it is too coarse for this
- `torch.testing.assert_close(compiled, eager)` fails
- `torch._inductor.compiler_bisector` ends at `lowerings: amin_2`: with that switched off the result is right
- judged alone, on the operands that the compiled run gave it, wrong is aten.amin.default: 3 of 1024 elements are wrong
- 3 of 3 random draws of the inputs show it
- reduced from 20 statements to 1

### Versions

<details><summary>torch 2.15.0 cu132</summary>

```
PyTorch version: 2.15.0+cu132
OS: Linux
```

</details>

Found with eqfuzz 0.1.0 and torch 2.13.0 cpu (finding 1f2e3d4c5b, bucket {bucket_id(WHOLE.fingerprint)}). With torch \
2.15.0 cu132 the script above fails in a fresh process.
"""


def evidence_of(outcome=OUTCOME, script=SCRIPT, **changed):
    verdict = FAILS if outcome.status == STILL_FAILING else PASSES
    reported = ReportedScript(script, "", has_function=False)
    fields = {"failing": 3, "seconds": 4.5, "releases": ((RELEASE, verdict),), **changed}
    return UpstreamEvidence(reported, outcome, **fields)


def text_of(finding, outcome=OUTCOME, checks=CHECKS, script=SCRIPT, **more):
    return issue_text(finding, evidence_of(outcome, script), checks, release=RELEASE, versions=VERSIONS, **more)


def test_issue_of_finding_with_every_detail():
    assert text_of(WHOLE) == GOLDEN


def test_issue_shows_rewrite_if_needed():
    transformed = WHOLE.original.with_source(SOURCE.replace("x.to(torch.int8).amin(0)", "torch.amin(x.char(), 0)"))
    finding = dataclasses.replace(
        finding_of(rules=("a/b",), source=SOURCE), transformed=transformed, cells={"C(P)": "agree"}
    )
    text = text_of(finding)
    section = text.split("Only this way of writing the program is known to show it.")[1].split("### Versions")[0]
    assert finding.original_is_right
    assert "The same written otherwise compiles correctly:" in section
    unknown = dataclasses.replace(finding, cells={"C(P)": "not run"})
    assert "compiles correctly" not in text_of(unknown)
    lines = re.findall(r"```diff\n(.*)\n```", section, re.DOTALL)[0].splitlines()
    assert lines[:2] == ["--- the original", "+++ shows it"]
    assert "-    return x.to(torch.int8).amin(0)" in lines
    assert "+    return torch.amin(x.char(), 0)" in lines
    assert "def inputs" not in section
    assert "```diff" not in text_of(WHOLE)


FRAMES = ("_inductor.lowering.pad", "_inductor.graph.GraphLowering.run")


def test_issue_of_exception_has_error_log():
    message = "call 0: compiled raises RuntimeError: shape '[3, 4]' is invalid for input of size 7"
    text = text_of(
        finding_of(VerdictKind.COMPILER_CRASH, message=message, evidence=Evidence(frames=FRAMES), source=SOURCE)
    )
    log = text.split("### Error logs")[1].split("### Versions")[0]
    assert log.strip().splitlines() == ["```", message, *(f"  in {frame}" for frame in FRAMES), "```"]
    assert "RuntimeError shape is invalid for input of size: https://github.com/" in text
    assert "Error logs" not in text_of(WHOLE)


@pytest.mark.parametrize("derived", [False, True])
@pytest.mark.parametrize("placed", ["nothing", "stage", "place", "reduced"])
@pytest.mark.parametrize("kind", sorted(FINDINGS))
def test_every_kind_has_every_section_once(kind, placed, derived):
    finding = finding_of(
        kind, ("a/b",) if derived else (), source=SOURCE, evidence=None if placed == "nothing" else EVIDENCE
    )
    if placed == "nothing":
        finding = dataclasses.replace(finding, ablation=None)
    if placed in ("place", "reduced"):
        finding = dataclasses.replace(finding, blame=AMIN, fingerprint="values · amin")
    if placed == "reduced":
        finding = dataclasses.replace(finding, reduced=WHOLE.reduced)
    text = text_of(finding, checks={} if placed == "nothing" else CHECKS)
    raises = kind in (VerdictKind.COMPILER_CRASH, VerdictKind.EXCEPTION_MISMATCH)
    sections = ["### 🐛 Describe the bug", *(["### Error logs"] if raises else []), "### Versions"]
    assert re.findall(r"^### .*$", text, re.MULTILINE) == sections
    assert text.count("```") % 2 == 0
    assert text.count("<!--") == text.count("-->") == 2
    assert "None" not in text
    assert "{{" not in text
    assert "\n\n\n" not in text
    assert f"**{kind}**" in text
    assert "github.com/pytorch/pytorch/issues?q=is%3Aissue" in text
    assert title(finding) in text.splitlines()[0]
    assert len(title(finding).splitlines()) == 1


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, "[AOTAutograd] amin, int8, to (int8): torch.compile gives a wrong result"),
        ({"ablation": None, "config": "mine"}, "[mine] amin, int8, to (int8): torch.compile gives a wrong result"),
        ({"blame": AMIN}, "[AOTAutograd] amin (int8): torch.compile gives a wrong result"),
        ({"kind": VerdictKind.HANG}, "[AOTAutograd] amin, int8, to (int8): torch.compile does not end"),
        (
            {"source": "def program(x): return x\ndef inputs(rng): yield rng.normal(3)\n"},
            "[AOTAutograd] program: torch.compile gives a wrong result",
        ),
    ],
)
def test_title_names_component_operators_dtype_and_symptom(changed, text):
    assert title(finding_of(**{"source": SOURCE, **changed})) == text


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"blame": Blame("inductor", "post_grad_passes", 3, "pass_4")},
            "At fault is `pass` of Inductor's post_grad_passes.",
        ),
        (
            {
                "blame": Blame(
                    "aot_eager_decomp_partition", "decomposition", 1, "<OpOverload(op='aten.a', overload='b')>"
                )
            },
            "At fault is the decomposition of `aten.a.b`.",
        ),
        ({}, "At fault: AOTAutograd."),
        ({"ablation": None}, "for the program below, on CPU.\n"),
        (
            {
                "message": "call 2 (model.train(False)): output differs",
                "ablation": Ablation("wrong-result", "inductor", {"eager": "wrong-result"}),
            },
            "when it is called again and train or eval has changed: a guard is missing.",
        ),
        ({"kind": VerdictKind.HANG, "message": "it did not end"}, "\n\nit did not end\n"),
    ],
)
def test_issue_names_faulty_component_as_exactly_as_possible(changed, text):
    assert text in text_of(finding_of(**{"source": SOURCE, **changed}))


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (
            Evidence(0, "output", (), True, False, None, 0.0, 1, 1),
            "**`output`** is `True` in eager and `False` compiled.\n",
        ),
        (
            Evidence(0, "output", (2,), 1, 2, 1, 0.0, 1, 7),
            "**`output[2]`** is `1` in eager and `2` compiled. 1 of 7 elements are wrong.\n",
        ),
        (Evidence(0, "output", None, "[3, 4]", "[4, 3]"), "**`output`** is `[3, 4]` in eager and `[4, 3]` compiled.\n"),
    ],
)
def test_issue_states_expected_value(evidence, text):
    assert text in text_of(finding_of(evidence=evidence))


def test_checks_of_other_values_are_omitted():
    assert "assert_close" not in text_of(WHOLE, checks={"output[1]": {"same": True, "assert_close": False}})


def test_issue_states_whether_script_still_fails():
    last = "With torch 2.15.0 cu132 the script above no longer fails in a fresh process."
    assert last in text_of(WHOLE, ReplayOutcome(FIXED, "compiled: 4.25"))


def test_issue_names_release_of_old_and_nightly_torch():
    old = dataclasses.replace(WHOLE, environment=FindingEnvironment(torch="2.13.0", eqfuzz="0.1.0"))
    assert "Found with eqfuzz 0.1.0 and torch 2.13.0 (finding" in text_of(old)
    nightly = FindingEnvironment(torch="2.16.0.dev20261120", build="cpu", git="d0f2af8", eqfuzz="0.1.0")
    text = text_of(dataclasses.replace(WHOLE, environment=nightly))
    assert "and torch 2.16.0.dev20261120 cpu (git d0f2af8) (finding" in text


@pytest.mark.parametrize("script", ["import sys\nsys.exit(1)\n", "import sys"])
def test_script_without_docstring_is_kept_in_full(script):
    assert f"```python\n{script.strip()}\n```" in text_of(WHOLE, script=script)


def test_warnings_and_duplicates_stand_before_the_report():
    warning = GateWarning("tie", "argmax chooses --> one", "that is not defined", "take other inputs")
    issue = TrackedIssue(number=7, title="amin --> of\nint8")
    text = text_of(WHOLE, warnings=[warning], duplicates=[LikelyDuplicate(issue, 0.5, ("amin", "int8"))])
    head = text.split("### 🐛 Describe the bug")[0]
    assert "tie: argmax chooses - -> one; that is not defined; take other inputs\n" in head
    assert "0.50 https://github.com/pytorch/pytorch/issues/7 amin - -> of int8 (amin, int8)\n" in head
    assert head.count("-->") == 2


def test_program_text_cannot_close_fence_or_comment():
    finding = finding_of(VerdictKind.COMPILER_CRASH, message="raises E: a --> b", evidence=Evidence(frames=FRAMES))
    text = text_of(finding, ReplayOutcome(STILL_FAILING, "```\n# A heading\n```"))
    head, body = text.split("### 🐛 Describe the bug")
    assert head.count("-->") == 2
    assert "````\n```\n# A heading\n```\n````" in body
    assert body.count("````") == 8


CAT = "import torch\n\ndef program(x): return torch.cat([x, x[:1]])\n\ndef inputs(rng): yield rng.normal(3)\n"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {
                "kind": VerdictKind.COMPILER_CRASH,
                "message": "call 4 (integer values): the compiler fails with InductorError: AssertionError: "
                "expected size 32==48, stride 1==1 at dim=0: input 'x' of op",
                "evidence": Evidence(4, frames=("_inductor.output_code.CompiledFxGraph.__call__",)),
            },
            [
                "AssertionError expected size stride at input of op",
                "AssertionError CompiledFxGraph",
                "torch.compile AssertionError cat",
            ],
        ),
        (
            {
                "kind": VerdictKind.EXCEPTION_MISMATCH,
                "message": "call 0: eager raises ValueError: no rows; compiled raises nothing",
            },
            ["ValueError no rows", "torch.compile ValueError cat"],
        ),
        ({"kind": VerdictKind.WRONG_GRADIENT}, ["torch.compile cat wrong gradient"]),
        ({"kind": VerdictKind.PROCESS_CRASH}, ["torch.compile cat segfault"]),
        (
            {"kind": VerdictKind.WRONG_METADATA, "message": "output: stride is (1, 3) in eager and (2, 1) in compiled"},
            ["torch.compile cat stride mismatch"],
        ),
        ({"kind": VerdictKind.WRONG_METADATA, "message": "shared(output, args[0])"}, ["torch.compile cat aliasing"]),
        (
            {"blame": Blame("inductor", "joint_graph_passes", 1, "constant_fold_uniform_value")},
            ["inductor constant_fold_uniform_value wrong result", "torch.compile cat wrong result"],
        ),
    ],
)
def test_searches_are_operators_exceptions_and_passes(changed, words):
    assert [text for text, _ in searches(finding_of(source=CAT, **{"evidence": None, **changed}))] == words
