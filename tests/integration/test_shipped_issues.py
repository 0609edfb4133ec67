"""The seeds of the shipped known issues, compiled: each shows its issue, on the releases that have it."""

import pytest

from eqfuzz.program.release import this_release
from eqfuzz.program.shipped import folder
from eqfuzz.triage.findings.known_issues import SHIPPED, read_known_issues
from tests.commandline import mutate

ENTRIES = [entry for entry in read_known_issues([SHIPPED]) if entry.seeds]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_seed_of_known_issue_reproduces_it(tmp_path, entry):
    if not entry.is_in(this_release()):
        pytest.skip(f"torch {this_release()} does not have it")
    seeds = [folder("seeds") / seed for seed in entry.seeds]
    options = "--strategy", "none", "--steps", 1, "--no-check", "audit,draws", "--known-issues", SHIPPED
    run = mutate(*seeds, *options, out=tmp_path / "out", timeout=1500)
    reproduced = {event["seed"] for event in run.of("finding") if event["issue"] == entry.url}
    assert reproduced == {str(seed) for seed in seeds}, run.events
