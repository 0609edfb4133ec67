"""Draws from PyTorch's catalogue. The children are played by functions."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.campaign.configuration import Sources
from eqfuzz.campaign.sources import catalogues
from eqfuzz.campaign.sources.catalogues import SAMPLES, CatalogueReader, CatalogueSeeds
from eqfuzz.campaign.sources.files import DrawHistory
from eqfuzz.generate.catalogues.messages import CATALOGUES, SamplesWritten, WriteJob, WriteRefusedJob, WrittenResult
from eqfuzz.program.formats import recognise

NOTHING = DrawHistory(Counter(), frozenset())


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[WriteJob]:
    """The jobs that children had; of ``sparse`` no sample can be written."""
    jobs: list[WriteJob] = []

    class ScriptedPool:
        def __init__(self, *_: Any, **__: Any) -> None:
            self.closed = False

        def close(self) -> None:
            self.closed = True

    def written(pool: ScriptedPool, job: WriteJob) -> SamplesWritten:
        assert not pool.closed
        jobs.append(job)
        count = 0 if job.operator == "sparse" else 3
        code = f"rng.normal({getattr(job, 'seed', 0) + 1})"
        results = tuple(
            WrittenResult(sample=n, expression="torch.sin(${x})", inputs=(("x", code),)) for n in range(count)
        )
        return SamplesWritten(
            operator=job.operator, dtype=job.dtype, samples=3, repeats=0, results=results, left_out={}
        )

    listed = {"sin": ("float32", "float64"), "cos": ("float32",), "sparse": ("float32",)}
    monkeypatch.setattr(catalogues, "Pool", ScriptedPool)
    monkeypatch.setattr(catalogues, "listed_operators", lambda pool, dtypes, catalogue: listed)
    monkeypatch.setattr(catalogues, "written_samples", written)
    return jobs


def test_draw_is_a_seed_of_some_samples(jobs: list[WriteJob], tmp_path: Path):
    with CatalogueReader(tmp_path) as reader:
        source = CatalogueSeeds("opinfo", reader, 5)
        seed = source.draw(random.Random(0), 7, NOTHING)
    assert seed is not None
    recognise(seed.text, seed.name)
    assert seed.name.endswith("-12.py")
    assert {(job.seed, job.most) for job in jobs} == {(12, SAMPLES)}


def test_same_random_numbers_draw_the_same_and_others_all_operators(jobs: list[WriteJob], tmp_path: Path):
    with CatalogueReader(tmp_path) as reader:
        source = CatalogueSeeds("opinfo", reader, 5)
        assert source.draw(random.Random(3), 1, NOTHING) == source.draw(random.Random(3), 1, NOTHING)
        drawn = [source.draw(random.Random(n), n, NOTHING) for n in range(30)]
    assert all(drawn)
    assert {(job.operator, job.dtype) for job in jobs if job.operator != "sparse"} == {
        ("sin", "float32"),
        ("sin", "float64"),
        ("cos", "float32"),
    }


@pytest.mark.parametrize(
    ("table", "drawn"),
    [
        ({}, CATALOGUES),
        ({"seeds": ["seeds"]}, ()),
        ({"seeds": ["seeds"], "catalogues": ["numpy"]}, ("numpy",)),
        ({"catalogues": []}, ()),
    ],
)
def test_campaign_over_shipped_seeds_draws_from_all_catalogues(table: dict[str, list[str]], drawn: tuple[str, ...]):
    assert Sources.model_validate(table).drawn_catalogues() == drawn


def test_refused_calls_are_a_source_of_their_own(jobs: list[WriteJob], tmp_path: Path):
    with CatalogueReader(tmp_path) as reader:
        seed = CatalogueSeeds("refused", reader, 0).draw(random.Random(1), 1, NOTHING)
    assert seed is not None
    assert {type(job) for job in jobs} == {WriteRefusedJob}
