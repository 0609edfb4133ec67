"""Sources of programs for coverage: in turn, each program by its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqfuzz.commands import coverage_sources
from eqfuzz.commands.coverage_sources import SHIPPED, catalogue_requests, planned_programs
from eqfuzz.errors import UsageError
from eqfuzz.generate.catalogues.messages import WrittenResult
from eqfuzz.generate.catalogues.programs import CatalogueProgram, NamedResult
from eqfuzz.generate.dag.template import shipped_templates
from eqfuzz.mutate.parallel import Ending

SEED = "def program(x): return x + 1\ndef inputs(rng): yield (rng.normal(3),)\n"


def test_sources_are_in_turn(tmp_path):
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(SEED)
    programs = planned_programs([tmp_path], ["default", "unbacked"], [], 2)
    assert [program.source for program in programs[:4]] == [
        str(tmp_path),
        "template default",
        "template unbacked",
        str(tmp_path),
    ]
    assert len(programs) == 3 + 2 + 2
    assert programs[1].name == "default-0"
    assert programs[1].make().source == programs[1].make().source
    assert programs[0].digest == programs[3].digest


def test_without_sources_shipped_seeds_and_all_templates():
    programs = planned_programs([], [], [], 1)
    assert {program.source for program in programs} == {SHIPPED, *(f"template {name}" for name in shipped_templates())}


def test_invalid_file_has_no_digest(tmp_path):
    (tmp_path / "a.py").write_text("not python")
    [program] = planned_programs([tmp_path], [], [], 1)
    assert program.digest == ""


def test_unknown_template_is_refused():
    with pytest.raises(UsageError, match="--template: "):
        planned_programs([], ["nope"], [], 1)
    with pytest.raises(UsageError, match="no such file or folder"):
        planned_programs([Path("/nowhere")], [], [], 1)


@pytest.fixture
def reading(monkeypatch):
    """A catalogue of four programs; it can be interrupted by setting ``ending``."""

    class ScriptedReading:
        ending = Ending.DONE

        def __init__(self, request, handler):
            pass

        def run(self):
            return self.ending

        def programs(self):
            result = WrittenResult(sample=1, expression="torch.sin(${x})", inputs=(("x", "rng.normal()"),))
            return [CatalogueProgram(f"float32/{n}.py", (NamedResult("sin", "float32", result),), n) for n in range(4)]

    monkeypatch.setattr(coverage_sources, "CatalogueReading", ScriptedReading)
    return ScriptedReading


def test_programs_of_a_catalogue_are_chosen_by_the_seed(reading, tmp_path):
    def names(seed):
        requests = catalogue_requests(["modules"], tmp_path, seed, 1)
        return [(one.source, one.name) for one in planned_programs([], [], requests, 2)]

    assert len(set(names(0))) == 2
    assert names(0) == names(0)
    assert {source for source, _ in names(0)} == {"catalogue modules"}
    assert len({tuple(names(seed)) for seed in range(9)}) > 1


def test_interrupted_reading_ends_the_measurement(reading, tmp_path):
    reading.ending = Ending.INTERRUPTED
    with pytest.raises(KeyboardInterrupt):
        planned_programs([], [], catalogue_requests(["numpy"], tmp_path, 0, 1), 2)


def test_unknown_catalogue_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no catalogue 'opinf', did you mean 'opinfo'"):
        catalogue_requests(["opinf"], tmp_path, 0, 1)
