"""Templates as sources of seeds."""

import random

from eqfuzz.campaign.configuration import from_tables
from eqfuzz.campaign.setup import sources_of
from eqfuzz.campaign.sources.files import DrawHistory


def lines_of(operators: int) -> int:
    configuration = from_tables({"sources": {"templates": ["catalogue"], "operators": operators}}, "here")
    (source,) = [source for source in sources_of(configuration) if source.name == "template:catalogue"]
    seeds = [source.draw(random.Random(0), number, DrawHistory({}, frozenset())) for number in range(6)]
    return sum(len(seed.text.splitlines()) for seed in seeds if seed is not None)


def test_generated_programs_have_at_most_so_many_operators():
    assert lines_of(4) * 2 < lines_of(120)
