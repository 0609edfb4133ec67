"""Programs whose reproducer says that compiled differs from eager where it does not: from outside nothing shows."""

from __future__ import annotations

import dataclasses
import textwrap
from pathlib import Path

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.program.policy import first_violation
from eqfuzz.run.configs.named import Config
from eqfuzz.run.sandbox.detection import SandboxLevel, sandbox_support
from eqfuzz.triage.confirm.replay import STILL_FAILING, replay
from eqfuzz.triage.confirm.sandboxed_confirmation import differ_in_sandboxes
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script import write_reproducer
from eqfuzz.triage.reproducer.source_description import SourceDescription
from tests.unit.triage.findings import finding_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        sandbox_support().level is SandboxLevel.NONE, reason=f"no sandbox here: {sandbox_support().lacks}"
    ),
]

PROGRAM = """

def program(x):
    return x * 2


def inputs(rng):
    yield torch.ones(3),
"""

FAKES = {
    "it ends the script": """
        print("compiled: wrong", flush=True)
        os._exit(1)
    """,
    "equal is replaced": """
        torch.Tensor.__eq__ = lambda a, b: torch.zeros(a.shape, dtype=torch.bool)
    """,
    "the exit is replaced": """
        leave = sys.exit
        sys.exit = lambda status: Fake.leave(1)
    """,
    "compile is replaced": """
        torch.compile = lambda model, **options: lambda x: model(x) + 1
    """,
}
"""Bodies of a class: a reproducer leaves out statements that only run."""


CONFIG = Config(name="eager", backend="eager")
DESCRIBED = SourceDescription("return [\n    ((torch.ones(3),), {}),\n]", None, False)


def finding(source: str, **changed: object) -> Finding:
    finding_of_kind = finding_of(VerdictKind.WRONG_RESULT, source=source, evidence=Evidence(0, "output"), **changed)
    programs = {
        name: dataclasses.replace(finding_of_kind.original, untrusted=True) for name in ("original", "transformed")
    }
    return dataclasses.replace(finding_of_kind, **programs)


def says_itself(claimed: Finding, folder: Path) -> bool:
    (folder / "repro.py").write_text(write_reproducer(claimed, CONFIG, DESCRIBED, None).text)
    return replay(folder, untrusted=True).status == STILL_FAILING


@pytest.mark.parametrize("fake", FAKES.values(), ids=[name.replace(" ", "-") for name in FAKES])
def test_faked_finding_is_not_confirmed_outside(fake: str, tmp_path: Path) -> None:
    text = "import os, sys\nimport torch\n\nclass Fake:" + fake + textwrap.dedent(PROGRAM)
    faked = finding(text)
    assert says_itself(faked, tmp_path)
    assert not differ_in_sandboxes(faked, CONFIG, DESCRIBED, None, {})
    assert first_violation(text) is not None


def test_difference_is_confirmed_outside_of_the_sandboxed_program(tmp_path: Path) -> None:
    """Also a difference that the program makes on purpose when it is compiled: only the policy prevents that."""
    text = "import torch" + textwrap.dedent(PROGRAM).replace("x * 2", "x * 2 + torch.compiler.is_compiling()")
    claimed = finding(text)
    assert says_itself(claimed, tmp_path)
    assert differ_in_sandboxes(claimed, CONFIG, DESCRIBED, None, {})
    assert first_violation(text) is not None


@pytest.mark.parametrize("dies", ["", "if torch.compiler.is_compiling(): import os; os.abort()"])
def test_crash_is_confirmed_outside_of_the_sandboxed_program(dies: str) -> None:
    text = "import torch\n" + PROGRAM.replace("return x * 2", f"{dies or 'pass'}\n    return x * 2")
    claimed = finding(text)
    died = dataclasses.replace(claimed, verdict=dataclasses.replace(claimed.verdict, kind=VerdictKind.PROCESS_CRASH))
    assert differ_in_sandboxes(died, CONFIG, DESCRIBED, None, {}) == bool(dies)
    assert differ_in_sandboxes(claimed, CONFIG, DESCRIBED, None, {}) == bool(dies)
