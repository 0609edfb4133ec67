"""Features and covered lines of whole seeds, through the processes that a campaign uses."""

import dataclasses
import threading
from pathlib import Path

import pytest

from eqfuzz.events.run import LinesCovered
from eqfuzz.mutate.saved_variants import keep_variant
from eqfuzz.mutate.seed_run import RunResources, SeedRun
from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.coverage.features import feature
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.versions import versions

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SOFTMAX = """
import torch
def program(x, y): return torch.softmax(x + y, -1)
def inputs(rng): yield rng.normal(8, 16), rng.normal(8, 16)
"""
ADDITIONS = SOFTMAX.replace("torch.softmax(x + y, -1)", "x + y + x")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a seed's text and returns its ``SeedRun``, with ``events``."""
    out = tmp_path_factory.mktemp("out")
    environment, limits = Environment(out, None), Limits()
    rules = tuple(rule.name for rule in select(known_rules(()), "softmax_by_logsumexp,add_function"))
    pools: dict[str, Pool] = {}

    def running(text: str, runner: str = "fast", variants: int = 0, **changes) -> SeedRun:
        kind = "spawn" if runner == "spawn" else "fork"
        pool = pools.get(kind) or pools.setdefault(kind, Pool(environment, limits, runner=kind, jobs=1))
        plain = Settings(
            out=out,
            rewriting=RewriteSettings(strategy="each", variants=variants),
            compiling=CompileSettings(runner=runner),
            judging=OracleSettings(steps=0),
            signals=True,
        )
        settings = dataclasses.replace(plain, **changes)
        events: list = []
        resources = RunResources(rules, pool, environment, limits, versions())
        seed = SeedRun(0, Path("seed.py"), settings, resources, events.append, threading.Event(), text=text)
        seed.events = events
        seed.run()
        return seed

    yield running
    for pool in pools.values():
        pool.close()


def kinds(seed):
    """The verdicts of a seed's compiled cells."""
    return [cell.verdict.kind for _, cell in sorted(seed.cells.items())]


@pytest.fixture(scope="module")
def softmax(run):
    return run(SOFTMAX, variants=2)


def test_seed_has_same_features_each_time(run, softmax):
    """Although its kernels, and the graphs in torch's caches, are there the second time."""
    again = run(SOFTMAX)
    assert again.features == softmax.features
    assert len(softmax.features[0]) > 100
    assert [cell.verdict.kind for cell in again.cells.values()] == [
        cell.verdict.kind for cell in softmax.cells.values()
    ]


def test_stock_path_has_same_features(run, softmax):
    stock = run(SOFTMAX, "stock", variants=2)
    assert stock.features[0] == softmax.features[0]
    assert [cell.verdict.kind for cell in stock.cells.values()] == [
        cell.verdict.kind for cell in softmax.cells.values()
    ]


@pytest.mark.long
def test_spawned_worker_has_same_features(run, softmax):
    for _ in range(2):  # the second case comes into a process that has compiled
        assert run(SOFTMAX, "spawn").features[0] == softmax.features[0]


def test_other_programs_have_other_features(run, softmax):
    sums = run(ADDITIONS)
    assert softmax.features[0] - sums.features[0]
    assert sums.features[0] - softmax.features[0]
    pair = feature("pair aten.exp > aten.sum")
    assert pair in softmax.features[0]
    assert pair not in sums.features[0]


def test_erased_cells_have_none(softmax):
    erased = {variant: cell.erased for (variant, _, _), cell in softmax.cells.items()}
    assert sorted(erased.values()) == [False, False, True]
    assert {variant: variant not in softmax.features for variant in erased} == erased


def test_variant_is_written_as_seed_file(softmax, tmp_path):
    assert len(softmax.variants) == 2
    variant = softmax.variants[0]
    file = keep_variant(tmp_path, softmax.name, variant.source, variant.rules)
    assert file.read_text(encoding="utf-8") == softmax.source_of(1)


@pytest.mark.parametrize("runner", ["fast", pytest.param("stock", marks=pytest.mark.long)])
def test_traced_seed_covers_lines_of_compiler(run, softmax, runner):
    traced = run(SOFTMAX, runner, traced=True)
    (covered,) = [event for event in traced.events if isinstance(event, LinesCovered)]
    assert int(covered.files["_inductor/lowering.py"], 16).bit_count() > 50
    assert int(covered.files["_dynamo/symbolic_convert.py"], 16).bit_count() > 100
    assert all(not file.startswith("/") for file in covered.files)
    assert traced.features[0] == softmax.features[0]


def test_features_and_lines_are_emitted_only_on_request(run, softmax):
    plain = run(SOFTMAX, signals=False)
    assert plain.features == {}
    assert not [event for event in (*plain.events, *softmax.events) if isinstance(event, LinesCovered)]
    assert kinds(plain)[0] == kinds(softmax)[0]
