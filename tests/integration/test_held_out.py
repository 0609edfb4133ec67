"""Programs in other styles, written without a look at the rules: they load, and every rewrite of them holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import SeedFormat
from eqfuzz.rewrite.facts.probe import Probe
from eqfuzz.rewrite.source.syntax import Syntax
from tests.commandline import Run, mutate

FOLDER = Path(__file__).parents[1] / "held_out"
FILES = sorted(FOLDER.glob("*.py"))


def test_files_have_every_format_and_realistic_length():
    assert len(FILES) == 20
    assert {read_program(path).format for path in FILES} == set(SeedFormat)
    for path in FILES:
        assert 40 <= len(path.read_text(encoding="utf-8").splitlines()) <= 120, path.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_loads_and_probe_changes_nothing(path: Path) -> None:
    program = read_program(path)
    loaded, syntax = Loaded(program), Syntax(program.source)
    calls = loaded.calls(0)
    plain = observe(loaded.instance, calls)
    assert [call.raised for call in plain.calls] == [None] * len(calls)
    again = judge_self(plain, observe(loaded.instance, calls))
    assert again.kind is VerdictKind.AGREE, again.message
    probe = Probe(program, syntax)
    probed = judge_self(plain, observe(probe.instance, calls))
    assert probed.kind is VerdictKind.AGREE, probed.message
    facts = probe.facts()
    recorded = sum(bool(facts.at(expression.span)) for expression in syntax.expressions)
    assert recorded > 0.6 * len(syntax.expressions)


SHARE = 30
"""Variants per file in the shorter run: families and rules alternate, so every family that fires is among them."""


def rewritten(out: Path, variants: int, seconds: float) -> Run:
    """Single rewrites of every file, in eager."""
    return mutate(FOLDER, "--strategy", "each", "--variants", variants, "--dry-run", out=out / "out", timeout=seconds)


def require_all_hold(run: Run) -> None:
    """``inconclusive`` is the honest answer where an inexact rewrite meets a discontinuity."""
    assert run.code == 0, run.errors
    assert run.of("invalid") == []
    assert run.summary["seeds"] == len(FILES)
    judged = run.of("cell")
    assert len(judged) == run.summary["variants"]
    failed = [
        (Path(cell["seed"]).name, cell["rules"], cell["verdict"]["kind"], cell["verdict"]["message"])
        for cell in judged
        if cell["verdict"]["kind"] not in (VerdictKind.AGREE, VerdictKind.INCONCLUSIVE)
    ]
    assert failed == []
    kinds = Counter(cell["verdict"]["kind"] for cell in judged)
    assert kinds[VerdictKind.INCONCLUSIVE] < 0.01 * len(judged), kinds


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.long
def test_sampled_rewrites_hold_and_every_file_has_many(tmp_path: Path) -> None:
    run = rewritten(tmp_path, SHARE, 1700)
    require_all_hold(run)
    for path in FILES:
        families = {rule.split("/")[0] for cell in run.of("cell", path.name) for rule in cell["rules"]}
        assert len(run.of("cell", path.name)) >= SHARE, path.name
        assert len(families) >= 6, (path.name, families)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(7200)
def test_every_single_rewrite_holds(tmp_path: Path) -> None:
    require_all_hold(rewritten(tmp_path, 0, 7000))
