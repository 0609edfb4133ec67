"""Seeds that kill, hang, flood or lie: each affects only itself and is reported in one line."""

import pytest

from tests.commandline import mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RUNNERS = ["fast", *(pytest.param(runner, marks=pytest.mark.long) for runner in ("stock", "spawn"))]

GOOD = """
    import torch
    def program(x, y): return torch.sinh(x) * y + x
    def inputs(rng): yield rng.normal(7), rng.normal(7)
"""

PROGRAM = "import ctypes, os, time, torch\n{extra}\ndef program(x):\n    {body}\n    return x * 2 + 1\n{hook}\n"
HOOK = "def inputs(rng):\n    yield rng.normal(5)\n"


def seed(body="pass", extra="", hook=HOOK):
    return PROGRAM.format(body=body, extra=extra, hook=hook)


INVALID = {
    "segfault.py": (seed("ctypes.string_at(0)"), "killed by SIGSEGV"),
    "exit.py": (seed("os._exit(0)"), "exited with code 0"),
    "exit_at_import.py": (seed(extra="os._exit(7)"), "exited with code 7"),
    "system_exit.py": (seed(extra="raise SystemExit(3)"), "SystemExit"),
    "endless_loop.py": (seed("while True: pass"), "10 s"),
    "endless_sleep.py": (seed(extra="time.sleep(10_000)"), "20 s"),
    "endless_print.py": (seed("while True: print('x' * 10_000)"), "printed more than"),
    "huge_allocation.py": (seed("torch.empty(100 * 2**30, dtype=torch.uint8).fill_(1)"), "alloc"),
    "raises_at_import.py": (seed(extra="raise ValueError('not today')"), "ValueError: not today"),
    "missing_module.py": (seed(extra="import module_not_installed"), "module_not_installed"),
    "syntax_error.py": ("def program(:\n", "syntax_error.py:1"),
    "no_inputs.py": ("import torch\ndef program(x): return x\n", "no inputs"),
    "empty_inputs.py": (seed(hook="def inputs(rng): return []"), "no input set"),
    "wrong_arity.py": (seed(hook="def inputs(rng): yield rng.normal(5), 1"), "TypeError"),
    "not_deterministic.py": (seed("x = x + time.perf_counter_ns() % 1000"), "deterministic"),
    "binary.py": (None, "not UTF-8"),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for name, (source, _) in INVALID.items():
        if source is None:
            (folder / name).write_bytes(b"\xff\xfe\x00")
        else:
            write(folder, name, source)
    write(folder, "a_good.py", GOOD)
    write(folder, "z_good.py", GOOD.replace("sinh", "tanh"))
    return folder


@pytest.mark.parametrize("runner", RUNNERS)
def test_hostile_seed_affects_only_itself(hostile, tmp_path, runner):
    common = ("--variants", 2, "--runner", runner, "--jobs", 2)
    run = mutate(hostile, *common, out=tmp_path / "together", timeout=800)
    assert run.code == 0, run.errors
    reasons = {e["seed"].rsplit("/", 1)[-1]: e["reason"] for e in run.of("invalid")}
    assert set(reasons) == set(INVALID)
    for name, (_, words) in INVALID.items():
        assert words in reasons[name], (name, reasons[name])
        assert "\n" not in reasons[name]
        assert name in reasons[name]
    assert run.summary["invalid"] == len(INVALID)
    assert run.summary["findings"] == 0

    alone = mutate(hostile / "a_good.py", hostile / "z_good.py", *common, out=tmp_path / "alone")
    for name in ("a_good.py", "z_good.py"):
        beside = [(e["variant"], e["config"], e["verdict"]) for e in run.of("cell", name)]
        assert beside == [(e["variant"], e["config"], e["verdict"]) for e in alone.of("cell", name)]
        assert beside
        assert run.kinds(name) == {"agree"}


PRELOAD = """
    import ctypes, os
    import torch
    import torch._inductor.graph as graph
    original = graph.GraphLowering.run

    def fault(operators):
        if "sinh" in operators: ctypes.string_at(0)
        if "cosh" in operators: os._exit(0)
        while "asinh" in operators: pass
        while "atanh" in operators: print("x" * 10_000)
        if "erfc" in operators: torch.empty(100 * 2**30, dtype=torch.uint8).fill_(1)
        if "expm1" in operators: raise AssertionError("broken pass")

    def run(self, *args):
        fault({str(node.target).split(".")[1] for node in self.module.graph.nodes if "aten." in str(node.target)})
        return original(self, *args)
    graph.GraphLowering.run = run
"""

FAULTS = {
    "sinh": "process-crash",
    "cosh": "process-crash",
    "asinh": "hang",
    "atanh": "hang",
    "erfc": "out-of-memory",
    "expm1": "compiler-crash",
}


@pytest.mark.parametrize(
    ("runner", "operators"),
    [
        pytest.param("fast", ("sinh", "asinh"), marks=pytest.mark.long),
        *(pytest.param(runner, tuple(FAULTS), marks=pytest.mark.long) for runner in ("fast", "stock", "spawn")),
    ],
    ids=["some-fast", "all-fast", "all-stock", "all-spawn"],
)
def test_the_same_faults_under_compilation_are_findings(tmp_path, runner, operators):
    preload = write(tmp_path, "plant.py", PRELOAD)
    folder = tmp_path / "seeds"
    for operator in (*operators, "tanh"):
        write(folder, f"{operator}.py", GOOD.replace("torch.sinh(x)", f"torch.{operator}(x / 9)"))
    arguments = (folder, "--variants", 1, "--preload", preload, "--runner", runner, "--timeout", 15, "--jobs", 2)
    run = mutate(*arguments, out=tmp_path / "out", timeout=800)
    assert run.code == 1, run.errors
    assert run.kinds("/tanh.py") == {"agree"}
    for operator in operators:
        kind = FAULTS[operator]
        assert run.kinds(f"/{operator}.py") == {kind}, operator
        (finding,) = run.of("finding", f"/{operator}.py")  # the original shows it too: not one per variant
        assert finding["verdict"]["kind"] == kind
        assert "\n" not in finding["verdict"]["message"]


SEED_LEVEL = {
    "segfault": ("ctypes.string_at(0)", "process-crash"),
    "loop": ("while True: x = x + 1", "hang"),
    "value": ("x = x + os.getpid() % 1000 + 1", "wrong-result"),
    "raise": ("os.stat('/nowhere')", "exception-mismatch"),
}


@pytest.mark.long
@pytest.mark.parametrize("fault", SEED_LEVEL)
def test_seed_that_misbehaves_only_when_compiled_is_a_finding(tmp_path, fault):
    statement, kind = SEED_LEVEL[fault]
    source = seed(f"if torch.compiler.is_compiling(): {statement}")
    if statement.startswith("while"):
        source = seed(f"\n    if torch.compiler.is_compiling():\n        {statement}")
    write(tmp_path, "bad.py", source)
    run = mutate(tmp_path / "bad.py", "--variants", 1, "--timeout", 15, out=tmp_path / "out", timeout=800)
    assert run.kinds("bad.py") == {kind}, run.errors
    assert run.code == 1
    assert run.summary["findings"] == 1
