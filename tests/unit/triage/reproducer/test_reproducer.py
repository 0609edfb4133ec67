"""Reproducers are whole scripts: they run alone, exit 1 while something is wrong and 0 when nothing is."""

import dataclasses
import subprocess
import sys
import textwrap

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.program.definitions_only import program_text
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.describe import describe
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING, replay
from eqfuzz.triage.findings.finding import Finding, finding_id
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.folder import flaky_folder, read_finding, write_folder
from eqfuzz.triage.reproducer.comparison import comparison_of
from eqfuzz.triage.reproducer.script import write_reproducer
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from eqfuzz.triage.reproducer.source_description import SourceDescription

pytestmark = pytest.mark.slow

EAGER = Config(name="eager", backend="eager")

SOURCE = '''
"""A docstring."""
from __future__ import annotations
import torch
import dataclasses

LIMIT = 3

@dataclasses.dataclass
class Pair:
    a: torch.Tensor
    b: int

class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
    def forward(self, x, n=1):
        x.mul_(2)
        return {"p": Pair(x * self.weight + BIAS, n)}

def inputs(rng):
    yield rng.normal(3), 2
    yield {"x": rng.normal(70, 3), "n": LIMIT}
'''


def finding_of(kind, evidence=None, source=SOURCE, bias="0"):
    program = recognise(textwrap.dedent(source.replace("BIAS", bias)), "seeds/some.py")
    verdict = Verdict(kind, 'a message with \\ and """ in it', evidence)
    return Finding(
        id=finding_id(program, program, verdict, "cpu", {}, "plain"),
        original=program,
        transformed=program,
        derivation=(RewriteStep("algebra/some_rule", 12, "x *\n 1", "x"),),
        verdict=verdict,
        device="cpu",
        config="eager",
        settings={},
        cells={"P": "runs"},
        also=0,
        environment=FindingEnvironment(torch="2.13.0", python="3.11"),
    )


def described(finding):
    loaded = Loaded(finding.transformed)
    return SourceDescription.of(describe(loaded, loaded.calls(0), "cpu"))


def run(tmp_path, finding, config=EAGER):
    text = write_reproducer(finding, config, described(finding), preload=None).text
    script = tmp_path / "repro.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert "Traceback" not in done.stderr, text + done.stderr
    return done.returncode, text, done.stdout


# The eager backend compiles correctly, so a script that reports "broken" here would always do so; a program that asks
# whether it is being compiled stands for the bug.
BROKEN = "(1 if torch.compiler.is_compiling() else 0)"
PLACES = {
    "an element": (VerdictKind.WRONG_RESULT, Evidence(1, "output['p'].a", (69, 2), 0, 0, None, 1e-6)),
    "an exact leaf": (VerdictKind.WRONG_RESULT, Evidence(0, "output['p'].a", (0,), 0, 1, None, 0.0)),
    "a gradient": (VerdictKind.WRONG_GRADIENT, Evidence(0, "gradient of model.weight", (0,), 0, 1, None, 0.0)),
}


@pytest.mark.parametrize("place", PLACES)
def test_exit_codes_follow_the_program(tmp_path, place):
    kind, evidence = PLACES[place]
    fixed = finding_of(kind, evidence, bias="0")
    if evidence.allowed:
        import torch

        call = Loaded(fixed.transformed).calls(0)[1]
        value = (call.kwargs["x"] * 2)[69, 2].item()
        evidence = dataclasses.replace(evidence, reference=value)
        fixed = finding_of(kind, evidence)
        assert isinstance(call.kwargs["x"], torch.Tensor)
    assert run(tmp_path, fixed)[0] == 0
    bias = f"self.weight * {BROKEN}" if kind is VerdictKind.WRONG_GRADIENT else BROKEN
    code, text, output = run(tmp_path, finding_of(kind, evidence, bias=bias))
    assert code == 1, output
    assert "import eqfuzz" not in text
    assert "algebra/some_rule" in text
    assert text.count("import torch\n") == 1


@pytest.mark.parametrize(("bias", "status"), [(BROKEN, 1), ("0", 0)])
def test_arrays_are_compared_as_arrays(tmp_path, bias, status):
    source = """
        import torch
        def program(x):
            return (x + BIAS).numpy()
        def inputs(rng):
            yield torch.arange(3),
    """
    finding = finding_of(VerdictKind.WRONG_RESULT, Evidence(0, "output", (1,), 1, 2, None, 0.0), source, bias)
    assert run(tmp_path, finding)[0] == status


def test_a_script_says_how_many_threads_it_takes(tmp_path):
    broken = "(1 if torch.compiler.is_compiling() and torch.get_num_threads() == 3 else 0)"
    kind, evidence = PLACES["an exact leaf"]
    assert run(tmp_path, finding_of(kind, evidence, bias=broken))[0] == 0
    code, text, _ = run(tmp_path, finding_of(kind, evidence, bias=broken), EAGER.with_threads(3))
    assert code == 1
    assert "\ntorch.set_num_threads(3)\n" in text
    assert "on cpu with 3 threads" in text


@pytest.mark.parametrize("kind", [VerdictKind.WRONG_RESULT, VerdictKind.PROCESS_CRASH])
def test_script_for_cuda_puts_everything_on_the_device(kind):
    finding = dataclasses.replace(finding_of(kind, Evidence(0, "output['p'].a", (0,), 0, 1, None, 0.0)), device="cuda")
    text = write_reproducer(finding, EAGER, described(finding), preload="").text
    compile(text, "repro.py", "exec")
    order = ["import torch\n", "allow_tf32 = False", "preload = pathlib", "load_state_dict", "model = model.to('cuda')"]
    places = [text.index(line) for line in order]
    assert places == sorted(places)
    assert ("torch.cuda.synchronize()" in text) is (kind is VerdictKind.PROCESS_CRASH)


@pytest.mark.parametrize(
    ("path", "comparison"), [("output.device", "exact"), ("structure(output)", "exact"), ("output[0]", "metadata")]
)
def test_devices_and_structures_are_compared_exactly(path, comparison):
    assert comparison_of(finding_of(VerdictKind.WRONG_METADATA, Evidence(0, path))) == comparison


def test_containers_inside_of_containers_are_compared(tmp_path):
    source = """
        import torch
        def program(x):
            return {"a": [x, (x if torch.compiler.is_compiling() else [x])]}
        def inputs(rng): yield rng.normal(3)
    """
    evidence = Evidence(0, "structure(output)", eager="dict['a': list[Tensor, list[Tensor]]]")
    code, _, output = run(tmp_path, finding_of(VerdictKind.WRONG_METADATA, evidence, source))
    assert code == 1
    assert "eager:    dict['a': list[Tensor, list[Tensor]]]\n" in output


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (VerdictKind.WRONG_METADATA, "output['p'].a"),
        pytest.param(VerdictKind.WRONG_SIDE_EFFECT, "args[0] after the call", marks=pytest.mark.long),
        (VerdictKind.WRONG_SIDE_EFFECT, "model.weight"),
        pytest.param(VerdictKind.EXCEPTION_MISMATCH, "", marks=pytest.mark.long),
        pytest.param(VerdictKind.COMPILER_CRASH, "", marks=pytest.mark.long),
    ],
)
def test_a_program_that_compiles_right_exits_0(tmp_path, kind, path):
    evidence = Evidence(0, path, None) if path else None
    assert run(tmp_path, finding_of(kind, evidence))[0] == 0


def test_exceptions_only_when_compiled_exit_1(tmp_path):
    bias = "(__import__('os').stat('/nowhere') if torch.compiler.is_compiling() else 0)"
    code, _, output = run(tmp_path, finding_of(VerdictKind.EXCEPTION_MISMATCH, bias=bias))
    assert code == 1
    assert "FileNotFoundError" in output


@pytest.mark.parametrize(
    ("kind", "status"),
    [(VerdictKind.PROCESS_CRASH, 0), pytest.param(VerdictKind.OUT_OF_MEMORY, 9, marks=pytest.mark.long)],
)
def test_crashes_happen_in_a_child_of_the_script(tmp_path, kind, status):
    assert run(tmp_path, finding_of(kind))[0] == 0
    dying = f"(__import__('os')._exit({status}) if torch.compiler.is_compiling() else 0)"
    code, _, output = run(tmp_path, finding_of(kind, bias=dying))
    assert code == 1
    assert f"exits early with status {status}" in output


def test_program_text_drops_hooks_and_docstring():
    text = program_text(finding_of(VerdictKind.WRONG_RESULT).transformed)
    assert "def inputs" not in text
    assert "A docstring" not in text
    assert "class Program" in text
    assert "class Pair" in text


def test_folders_are_written_once_and_read_back(tmp_path):
    finding = finding_of(VerdictKind.WRONG_RESULT, Evidence(0, "output", (1, 2), 1.0, 2.0, 1.0, 1e-6))
    folder = write_folder(tmp_path / "findings", finding, ReproducerScript("first"), None)
    assert write_folder(tmp_path / "findings", finding, ReproducerScript("second"), None) == folder
    assert (folder / "repro.py").read_text() == "first"
    assert read_finding(folder) == finding
    assert [p.name for p in (tmp_path / "findings").iterdir()] == [finding.id]
    assert flaky_folder(folder) == tmp_path / "flaky" / finding.id


CAUGHT = """
import sys, traceback
try:
    1 / 0
except Exception:
    traceback.print_exc()
print("compiled: raises")
sys.exit(1)
"""


DIES = "import os\nprint('eager:    1', flush=True)\nos.kill(os.getpid(), {})"


@pytest.mark.parametrize(
    ("text", "status", "cause"),
    [
        ("import sys; print('compiled: x'); sys.exit(1)", STILL_FAILING, ""),
        ("pass", FIXED, "its script shows no difference"),
        ("raise ValueError('the script itself')", ERROR, "its script raises ValueError"),
        ("print('compiled: x')\nraise ValueError('in its last line')", ERROR, "its script raises ValueError"),
        ("def look():\n    raise ValueError\nprint('compiled: x')\nlook()", ERROR, "its script raises ValueError"),
        (CAUGHT, STILL_FAILING, ""),
        ("import sys; sys.exit(5)", ERROR, "its script exits with 5"),
        ("import os; os.abort()", ERROR, "its script is killed by SIGABRT"),
        (DIES.format(6), STILL_FAILING, ""),
        (DIES.format(11), STILL_FAILING, ""),
        (DIES.format(9), ERROR, "its script is killed by SIGKILL"),
        ("import time; time.sleep(60)", ERROR, "its script does not end in time"),
    ],
)
def test_replay_distinguishes_defects_from_broken_scripts(tmp_path, text, status, cause):
    (tmp_path / "repro.py").write_text(text)
    outcome = replay(tmp_path, seconds=5)
    assert (outcome.status, outcome.cause) == (status, cause)


def test_ids_depend_on_what_makes_a_finding():
    a = finding_of(VerdictKind.WRONG_RESULT)
    program, verdict = a.transformed, a.verdict
    same = finding_id(dataclasses.replace(program, name="elsewhere.py"), program, verdict, "cpu", {}, "plain")
    assert same == a.id
    others = {
        finding_id(program, program, verdict, "cuda", {}, "plain"),
        finding_id(program, program, verdict, "cpu", {"dynamic": True}, "plain"),
        finding_id(program, program, verdict, "cpu", {}, "0123456789ab"),
        finding_id(program, program.with_source("x"), verdict, "cpu", {}, "plain"),
    }
    assert len(others) == 4
    assert a.id not in others


def test_program_text_keeps_what_sets_up_a_process_group():
    source = (
        "import torch\nimport torch.distributed as dist\n"
        "if not dist.is_initialized():\n    dist.init_process_group('fake', rank=0, world_size=2)\n"
        "def program(x):\n    return x\n\n\ndef inputs(rng):\n    return (torch.ones(2),)\n"
    )
    assert "init_process_group" in program_text(recognise(source, "seed.py"))
