"""kill -9 of a campaign at any moment: a campaign resumes under the same name, without loss."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.campaigns import (
    PRETENDED,
    Kept,
    Pretending,
    Running,
    assert_same,
    configured,
    left_of,
    stored_state,
    undamaged,
    whole_lines,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

CELLS = 8


def run_to_the_end(file: Path, out: Path, name: str) -> Running:
    running = Running(out, name, "--file", file)
    assert running.ended() == 1, running.errors
    return running


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The configuration, and the folder of a campaign without interruptions."""
    folder = tmp_path_factory.mktemp("campaigns")
    file = configured(folder, cells=CELLS)
    run_to_the_end(file, folder / "undisturbed", "night")
    return file, folder / "undisturbed"


@dataclasses.dataclass(frozen=True)
class Moment:
    """So many wall seconds after the ``number``-th event of a name; after the start, where the name is empty."""

    event: str
    number: int
    seconds: float

    def await_in(self, running: Running) -> None:
        """Returns sooner where the campaign ends sooner."""
        if self.event:
            number = self.number
            running.wait_for(lambda event: _is_nth(running, event, self.event, number))
        time.sleep(self.seconds)


def _is_nth(running: Running, event: dict[str, Any], name: str, number: int) -> bool:
    return event["event"] == name and sum(other["event"] == name for other in running.events()) >= number


MOMENTS = ("", "start", "item", "seed", "rewritten", "cell", "cell", "done", "stored", "finding", "epoch")


def moments(seed: int, number: int) -> list[Moment]:
    """Spread over starts, cells and the ends of seeds and epochs."""
    rng = random.Random(seed)
    names = [*MOMENTS * (number // len(MOMENTS)), *rng.sample(MOMENTS, number % len(MOMENTS))]
    rng.shuffle(names)
    return [
        Moment(name, rng.randint(1, 2), rng.uniform(0, 8) if name == "" else rng.choice((0.0, rng.uniform(0, 1.5))))
        for name in names
    ]


def survives(file: Path, undisturbed: Path, out: Path, killed_at: list[Moment]) -> None:
    for moment in killed_at:
        running = Running(out, "night", "--file", file)
        moment.await_in(running)
        running.kill_group()
        assert left_of(out) == {}, moment
    running = run_to_the_end(file, out, "night")
    assert_same(stored_state(out, "night"), stored_state(undisturbed, "night"))
    assert undamaged(out, "night") == []
    assert whole_lines(out / "night" / "events.ndjson")
    assert running.events()[-1]["figures"]["lost"] == 0
    findings = {path.name for path in (out / "night" / "findings").iterdir() if not path.name.startswith(".")}
    assert findings == {finding for finding, _, _ in stored_state(out, "night").findings}
    assert left_of(out) == {}


@pytest.mark.long
def test_campaign_killed_twice_has_the_results_of_an_undisturbed_one(
    tmp_path: Path, undisturbed: tuple[Path, Path]
) -> None:
    survives(*undisturbed, tmp_path / "out", [Moment("cell", 2, 0.0), Moment("stored", 2, 0.1)])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_campaign_killed_at_random_moments_has_the_results_of_an_undisturbed_one(
    tmp_path: Path, undisturbed: tuple[Path, Path], seed: int
) -> None:
    """Five in each of five campaigns."""
    survives(*undisturbed, tmp_path / "out", moments(0, 25)[seed::5])


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_campaign_killed_at_any_step_of_its_loop_has_the_results_of_an_undisturbed_one(
    tmp_path: Path, undisturbed_like: Callable[[Kept], Kept], seed: int
) -> None:
    """Between any two statements of the database, writes of files, and events; its programs are pretended."""
    cells = 60 if seed == 1 else 200
    deaths = Pretending(tmp_path, "--deaths", seed, "--every", 150, cells=cells).ended()["deaths"]
    assert deaths >= cells // 20
    killed = stored_state(tmp_path, PRETENDED)
    assert_same(killed, undisturbed_like(killed))
    assert killed.findings
    assert killed.corpus
    assert undamaged(tmp_path, PRETENDED) == []
    assert whole_lines(tmp_path / PRETENDED / "events.ndjson")
