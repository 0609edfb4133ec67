"""Sources of programs for coverage: in turn, each program by its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqfuzz.commands.coverage_sources import SHIPPED, planned_programs
from eqfuzz.errors import UsageError
from eqfuzz.generate.dag.template import shipped_templates

SEED = "def program(x): return x + 1\ndef inputs(rng): yield (rng.normal(3),)\n"


def test_sources_are_in_turn(tmp_path):
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(SEED)
    programs = planned_programs([tmp_path], ["default", "unbacked"], 2)
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
    programs = planned_programs([], [], 1)
    assert {program.source for program in programs} == {SHIPPED, *(f"template {name}" for name in shipped_templates())}


def test_invalid_file_has_no_digest(tmp_path):
    (tmp_path / "a.py").write_text("not python")
    [program] = planned_programs([tmp_path], [], 1)
    assert program.digest == ""


def test_unknown_template_is_refused():
    with pytest.raises(UsageError, match="--template: "):
        planned_programs([], ["nope"], 1)
    with pytest.raises(UsageError, match="no such file or folder"):
        planned_programs([Path("/nowhere")], [], 1)
