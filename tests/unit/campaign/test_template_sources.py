"""Templates as sources of seeds."""

import random

import pytest

from eqfuzz.campaign.configuration import from_tables
from eqfuzz.campaign.setup import sources_of
from eqfuzz.campaign.sources.files import DrawHistory


def lines_of(operators: int, template: str = "catalogue") -> int:
    configuration = from_tables({"sources": {"templates": [template], "operators": operators}}, "here")
    (source,) = [source for source in sources_of(configuration) if source.name.startswith("template:")]
    seeds = [source.draw(random.Random(0), number, DrawHistory({}, frozenset())) for number in range(6)]
    return sum(len(seed.text.splitlines()) for seed in seeds if seed is not None)


def test_programs_of_shipped_templates_are_small():
    assert lines_of(4) * 2 < lines_of(120)


@pytest.mark.parametrize("operators", [4, 120])
def test_templates_of_a_file_are_as_they_are(tmp_path, operators):
    (tmp_path / "own.toml").write_text('about = "own"\nnodes = 40\noutputs = 20\n')
    assert lines_of(operators, str(tmp_path / "own.toml")) == lines_of(24, str(tmp_path / "own.toml"))
