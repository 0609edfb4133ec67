"""Every kind of verdict through the command line, with the compiler tampered with where nature gives no example."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import eqfuzz, mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PLAIN = """
    import torch
    def program(x, y):
        z = torch.sinh(x) * y
        return z + x
    def inputs(rng): yield rng.normal(40), rng.normal(40)
"""

TRAINED = """
    import torch
    class Program(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.linspace(0.5, 2, 30))
            self.register_buffer("seen", torch.zeros(30))
        def forward(self, x):
            self.seen += torch.sinh(x.detach())
            return torch.sinh(x) * self.weight + x
    def inputs(rng): yield rng.normal(30)
"""

TAMPER = '''
    """Wrap what Inductor compiled: kernels with sinh or cosh in them give something else."""
    import os
    import torch
    from torch._inductor.output_code import CompiledFxGraph
    original = CompiledFxGraph.__call__

    def tamper(inputs, outputs, backward):
        {body}

    def call(self, inputs):
        given = list(inputs)
        outputs = original(self, inputs)
        if "sinh" in self.source_code or "cosh" in self.source_code:
            return tamper(given, list(outputs), bool(self.fx_kwargs.get("is_backward")))
        return outputs
    CompiledFxGraph.__call__ = call
'''

CASES = {
    "wrong-result": (PLAIN, "outputs[0][3] *= 1.001; return outputs"),
    "wrong-metadata": (PLAIN, "return [outputs[0].double(), *outputs[1:]]"),
    "wrong-gradient": (TRAINED, "return [o * 1.01 if backward and o is not None else o for o in outputs]"),
    "exception-mismatch": (PLAIN, "raise ValueError('broken')"),
    "flaky": (PLAIN, "outputs[0][3] *= 1 + (os.environ.get('OMP_NUM_THREADS') == '1'); return outputs"),
}


ONCE_OTHERWISE = """
        first = not os.path.exists({mark!r})
        open({mark!r}, "w").close()
        if first:
            outputs[0][3] *= 1.001
            return outputs
        return [outputs[0].double(), *outputs[1:]]
"""


def run_tampered(tmp_path, source, body, *arguments):
    seed = write(tmp_path / "seeds", "seed.py", source)
    preload = write(tmp_path, "tamper.py", TAMPER.replace("{body}", body))
    return mutate(seed, "--variants", 1, "--preload", preload, *arguments, out=tmp_path / "out")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind,
            marks=pytest.mark.long
            if kind in ("wrong-result", "wrong-gradient", "wrong-metadata", "exception-mismatch", "flaky")
            else [],
        )
        for kind in CASES
    ],
)
def test_tampered_compiler_has_expected_verdict(tmp_path, kind):
    source, body = CASES[kind]
    run = run_tampered(tmp_path, source, body)
    assert run.kinds() == {kind}, run.errors
    if kind == "flaky":
        assert run.code == 0
        assert run.summary["findings"] == 0
        assert list((tmp_path / "out" / "flaky").iterdir())
        assert run.summary["flaky"] == {"its script shows no difference": run.summary["verdicts"]["flaky"]}
        return
    assert run.code == 1
    assert run.summary["findings"] == 1
    (finding,) = run.of("finding")
    assert finding["cells"]["C(P)"] == kind
    replay = eqfuzz("replay", finding["id"], "--out", tmp_path / "out")
    assert replay.returncode == 1, replay.stdout + replay.stderr
    assert "STILL FAILING" in replay.stdout, replay.stdout + replay.stderr


@pytest.mark.long
def test_finding_is_judged_on_stock_path(tmp_path):
    run = run_tampered(tmp_path, PLAIN, ONCE_OTHERWISE.format(mark=str(tmp_path / "seen")))
    assert run.code == 1, run.errors
    assert run.kinds() == {"wrong-metadata"}, run.errors


@pytest.mark.long
def test_lost_side_effects_are_findings(tmp_path):
    source = """
        import torch
        def program(x):
            x.add_(torch.sinh(x))
            return torch.zeros(3)
        def inputs(rng): yield rng.normal(40)
    """
    run = run_tampered(tmp_path, source, "[t.add_(1) for t in inputs]; return outputs")
    assert run.kinds() == {"wrong-side-effect"}, [e["verdict"] for e in run.of("cell")]
    assert run.code == 1


def test_rule_wrong_in_eager_is_suspected(tmp_path):
    seed = write(tmp_path, "seed.py", PLAIN)
    preload = write(
        tmp_path,
        "tamper.py",
        """
        import torch
        right = torch.add
        torch.add = lambda x, y, **options: right(x, y, **options) * (1 + 2**-20)
        """,
    )
    run = mutate(seed, "--rules", "operators/add*", "--preload", preload, out=tmp_path / "out")
    suspected = [e for e in run.of("cell") if e["verdict"]["kind"] == "suspect-rule"]
    assert suspected
    assert all(not e["config"] for e in suspected)
    assert run.code == 0
    assert run.summary["findings"] == 0
    assert run.summary["verdicts"]["suspect-rule"] == len(suspected)


def test_unsupported_program_is_counted_but_no_finding(tmp_path):
    seed = write(
        tmp_path,
        "seed.py",
        """
        import torch
        def program(x):
            torch._dynamo.graph_break()
            return x * 2
        def inputs(rng): yield rng.normal(4)
        """,
    )
    run = mutate(seed, "--variants", 1, "--config", "inductor-fullgraph", out=tmp_path / "out")
    assert run.kinds() == {"unsupported"}
    assert run.code == 0


@pytest.mark.long
def test_differences_within_rounding_are_inconclusive(tmp_path):
    source = """
        import torch
        def program(x):
            y = torch.sinh(x)
            return (y * 3.1 + 1e8) - 1e8
        def inputs(rng): yield rng.normal(40)
    """
    run = run_tampered(tmp_path, source, "outputs[0] = outputs[0] + 64.0; return outputs", "--variants", 1)
    assert run.kinds() == {"inconclusive"}, [e["verdict"] for e in run.of("cell")]
    assert run.code == 0, [e["verdict"] for e in run.of("cell")]


@pytest.mark.long
def test_exceptions_of_seed_agree(tmp_path):
    seed = write(
        tmp_path,
        "seed.py",
        """
        import torch
        def program(x):
            try:
                if x.shape[0] > 2:
                    raise KeyError("too long")
                return x + 1
            except KeyError:
                return x * 2
        def inputs(rng):
            yield rng.normal(2)
            yield rng.normal(5)
        """,
    )
    run = mutate(seed, "--variants", 2, out=tmp_path / "out")
    assert run.kinds() == {"agree"}
    assert run.code == 0


def test_change_lost_from_list_argument_is_finding(tmp_path):
    seed = write(
        tmp_path,
        "seed.py",
        """
        import torch
        def program(rows, x):
            rows += (x + 1, x + 2)
            return x * 2
        def inputs(rng): yield [rng.normal(3)], rng.normal(3)
        """,
    )
    fault = Path(__file__).parents[2] / "tools" / "fault_detection" / "faults" / "list_extended_out_of_place.py"
    run = mutate(seed, "--variants", 1, "--preload", fault, out=tmp_path / "out")
    assert run.code == 1, [e["verdict"] for e in run.of("cell")]
    assert run.kinds() == {"wrong-side-effect"}, [e["verdict"] for e in run.of("cell")]
    assert run.of("finding")[0]["verdict"]["evidence"]["path"] == "structure(args[0])"


def test_complaint_of_an_own_oracle_is_a_finding_whose_script_asks_it_again(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "verdicts.md").read_text()
    example = page.partition("@oracle(")[0].rpartition("```python\n")[2] + "@oracle(" + page.partition("@oracle(")[2]
    preload = write(tmp_path, "oracle.py", example.partition("```")[0])
    seed = write(
        tmp_path,
        "seed.py",
        """
        import torch
        def program(x): return torch.log(x)
        def inputs(rng): yield torch.tensor([1.0, -1.0])
        """,
    )
    run = mutate(seed, "--strategy", "none", "--preload", preload, out=tmp_path / "out")
    assert run.code == 1, [e["verdict"] for e in run.of("cell")]
    (finding,) = run.of("finding")
    assert finding["verdict"]["oracle"] == "finite"
    script = Path(finding["folder"]) / "repro.py"
    alone = write(tmp_path / "elsewhere", "alone.py", script.read_text())
    ended = subprocess.run([sys.executable, alone], capture_output=True, text=True, timeout=200)
    assert ended.returncode == 1, ended.stderr
    assert "finite: wrong-result: output is not finite" in ended.stdout
