"""Seeds that a language model wrote, from file to verdict."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.errors import UsageError
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import CompileSettings, RewriteSettings, Settings
from eqfuzz.program.formats import read_program
from eqfuzz.run.sandbox import launcher
from eqfuzz.run.sandbox.detection import SandboxLevel, SandboxSupport, sandbox_support
from tests.commandline import mutate, write

ONE_VARIANT = RewriteSettings(strategy="each", variants=1)
HEADER = '# /// eqfuzz\n# source = "llm"\n# ///\n'

GOOD = """\
import torch

def program(x, y):
    return torch.sinh(x) * y + x

def inputs(rng):
    yield rng.normal(7), rng.normal(7)
"""

CURIOUS = GOOD.replace("import torch", "import torch, os").replace("return", "os.getcwd(); return")
WRITES = GOOD.replace("return", "open('/usr/new', 'w'); return")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sandbox_support().level is SandboxLevel.NONE, reason=f"no sandbox here: {sandbox_support().lacks}")
def test_untrusted_seeds_run_in_sandbox(tmp_path: Path) -> None:
    for name, text in {"good.py": GOOD, "curious.py": CURIOUS, "own.py": WRITES}.items():
        write(tmp_path / "seeds", name, HEADER + text)
    variants = tmp_path / "kept"
    options = ("--variants", 1, "--rules", "elementary-functions/*")
    done = mutate(tmp_path / "seeds", *options, "--keep-variants", variants, out=tmp_path / "out")
    assert done.code == 0, done.errors
    assert done.kinds("good.py") == {"agree"}
    assert "policy: imports os" in done.of("invalid", "curious.py")[0]["reason"]
    assert "policy: `open` is not for seeds" in done.of("invalid", "own.py")[0]["reason"]
    assert all(read_program(path).untrusted for path in variants.glob("*.py"))
    assert list(variants.glob("*.py"))
    assert not (tmp_path / "out" / "cache" / "kernels").exists()


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    support = SandboxSupport(
        SandboxLevel.NONE, "bubblewrap is not installed (`apt install bubblewrap`); the kernel has no Landlock"
    )
    monkeypatch.setattr(launcher, "sandbox_support", lambda: support)


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize(("header", "options"), [(HEADER, {}), ("", {"untrusted": True})])
def test_untrusted_seeds_are_refused_without_sandbox(header: str, options: dict[str, Any], tmp_path: Path) -> None:
    seed = write(tmp_path, "seed.py", header + GOOD)
    settings = Settings(paths=(seed,), out=tmp_path / "out", dry_run=True, rewriting=ONE_VARIANT)
    with pytest.raises(UsageError, match=r"no sandbox for untrusted seeds: bubblewrap is not installed .*--unsafe"):
        run(dataclasses.replace(settings, **options), lambda event: None)


@pytest.mark.slow
@pytest.mark.usefixtures("no_sandbox")
def test_unsafe_runs_untrusted_seeds_without_sandbox(tmp_path: Path) -> None:
    seed = write(tmp_path, "seed.py", HEADER + GOOD)
    settings = Settings(paths=(seed,), out=tmp_path / "out", dry_run=True, rewriting=ONE_VARIANT, unsafe=True)
    summary = run(settings, lambda event: None)
    assert (summary.invalid, summary.errors) == (0, [])


def test_untrusted_seed_is_not_run_on_cuda(tmp_path: Path) -> None:
    events: list[Any] = []
    seed = write(tmp_path, "seed.py", HEADER + GOOD)
    compiling = CompileSettings(devices=("cpu", "cuda"), runner="spawn")
    settings = Settings(paths=(seed,), out=tmp_path / "out", dry_run=True, compiling=compiling)
    run(settings, events.append)
    assert any("no CUDA" in getattr(event, "reason", "") for event in events)
