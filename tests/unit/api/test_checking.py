"""``eqfuzz.check``: what it makes of its arguments, and what it refuses in one line."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import eqfuzz
from eqfuzz.api import checking
from eqfuzz.api.defaults import CheckDefaults, current_defaults, defaults_set
from eqfuzz.api.notebook import session_text
from eqfuzz.commands.models.target import CheckedModel
from eqfuzz.events.model_check import ModelCheckSummary, UseChecked
from eqfuzz.mutate.settings import Settings
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded

SCALE = 3.0


class Scaled(nn.Module):
    """A model that needs a constant of its module."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x: torch.Tensor, shift: float = 0.0) -> torch.Tensor:
        return x * self.weight * SCALE + shift


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What ``check`` asks for: the model, the settings and, once there, the program of forward and backward."""
    passed: dict[str, Any] = {"outcome": "agrees", "message": ""}

    def check_model(model: CheckedModel, settings: Settings, handler: Callable[[Any], None]) -> ModelCheckSummary:
        folder = settings.out / "programs"
        model.write_weights(folder)
        passed["settings"] = settings
        passed["program"] = read_program(model.write(model.uses[0], folder / "forward.py"))
        outcome = passed["outcome"]
        use = UseChecked(
            title="forward and backward", outcome=outcome, message=passed["message"], issue=passed.get("issue", "")
        )
        return ModelCheckSummary(
            model=model.title,
            uses=[use],
            findings=int(outcome == "differs"),
            errors=[],
            interrupted=passed.get("interrupted", False),
            out_of_time=outcome == "not tried",
            seconds=1.0,
            out=str(settings.out),
        )

    monkeypatch.setattr(checking, "check_model", check_model)
    return passed


def test_model_is_checked_with_its_own_parameters_and_inputs(passed: dict[str, Any], tmp_path: Path):
    model, x = Scaled(), torch.tensor([[5.0, 7.0]])
    report = eqfuzz.check(model, x, kwargs={"shift": 1.0}, out=tmp_path)
    assert report.agrees
    assert report.model == f"{__name__}:Scaled"
    loaded = Loaded(passed["program"])
    (call,) = loaded.calls(0)
    torch.testing.assert_close(loaded.instance()(*call.args, **call.kwargs), model(x, shift=1.0))


def test_function_that_was_compiled_is_checked_itself(passed: dict[str, Any], tmp_path: Path):
    eqfuzz.check(torch.compile(doubled), torch.ones(2), out=tmp_path)
    assert "def doubled(x" in passed["program"].source


def test_module_that_was_compiled_is_checked_itself(passed: dict[str, Any], tmp_path: Path):
    assert eqfuzz.check(torch.compile(Scaled()), torch.ones(1, 2), out=tmp_path).model.endswith(":Scaled")


def test_arguments_become_settings(passed: dict[str, Any], tmp_path: Path):
    eqfuzz.check(doubled, torch.ones(2), out=tmp_path, variants=0, time="2m", backend="aot_eager", jobs=1, seed=4)
    settings = passed["settings"]
    assert (settings.time, settings.jobs, settings.seed) == (120.0, 1, 4)
    assert settings.rewriting.strategy == "none"
    assert [config.backend for config in settings.configs] == ["aot_eager"]
    assert settings.compiling.devices == ("cpu",)


def test_defaults_are_used_where_arguments_are_left_out(passed: dict[str, Any], tmp_path: Path):
    before = current_defaults()
    with defaults_set(CheckDefaults(time=33, variants=2, backend="eager", out=tmp_path)):
        eqfuzz.check(doubled, torch.ones(2))
        assert passed["settings"].time == 33
        assert passed["settings"].configs[0].backend == "eager"
        eqfuzz.check(doubled, torch.ones(2), config="inductor")
        assert passed["settings"].configs[0].backend == "inductor"
    assert current_defaults() == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eqfuzz.check(lambda x: x, torch.ones(1)), "<lambda> is a function inside a function"),
        (lambda: eqfuzz.check(Scaled, torch.ones(1)), "Scaled is a class: give a model, Scaled(…)"),
        (lambda: eqfuzz.check(doubled, (n for n in "ab")), "doubled: the inputs of call 0 cannot be saved"),
        (lambda: eqfuzz.check(doubled, torch.ones(1), time="soon"), "time: 'soon' is not a duration"),
        (lambda: eqfuzz.check(doubled, torch.ones(1), config="inductr"), "config: "),
        (lambda: eqfuzz.check(doubled, torch.ones(1), config="eager", backend="eager"), "not both"),
        (lambda: eqfuzz.check(3, torch.ones(1)), "an object of type int is neither a module"),
        (lambda: eqfuzz.check(Scaled().forward, torch.ones(1)), "an object of type method is neither a module"),
        (lambda: eqfuzz.check(doubled, torch.ones(1), variants=-1), "variants: -1 is less than 0"),
    ],
)
def test_what_cannot_be_checked_is_one_line(passed: dict[str, Any], call: Callable[[], object], message: str):
    with pytest.raises(eqfuzz.UsageError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_assertion_fails_where_something_differs(passed: dict[str, Any], tmp_path: Path):
    passed |= {"outcome": "differs", "message": "wrong-result: eager gives 0"}
    with pytest.raises(eqfuzz.NotEquivalent, match="wrong-result: eager gives 0") as error:
        eqfuzz.assert_equivalent(doubled, torch.ones(2), out=tmp_path)
    assert error.value.report.differs


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ("not tried", "forward and backward not done after 1 s; give it more time"),
        ("not comparable", "forward and backward: not comparable"),
        ("invalid", "cannot be used: raises in eager"),
    ],
)
def test_assertion_that_compares_nothing_does_not_hold(passed: dict[str, Any], tmp_path: Path, outcome, message):
    passed |= {"outcome": outcome, "message": "raises in eager" if outcome == "invalid" else ""}
    with pytest.raises(eqfuzz.UsageError, match=message):
        eqfuzz.assert_equivalent(doubled, torch.ones(2), out=tmp_path)


def test_known_issue_fails_unless_it_is_allowed(passed: dict[str, Any], tmp_path: Path):
    passed |= {"outcome": "known issue", "issue": "https://example.com/1"}
    with pytest.raises(eqfuzz.NotEquivalent, match="as is known"):
        eqfuzz.assert_equivalent(doubled, torch.ones(2), out=tmp_path)
    eqfuzz.assert_equivalent(doubled, torch.ones(2), out=tmp_path, allow_known_issues=True)


def test_other_values_are_another_program(passed: dict[str, Any], tmp_path: Path):
    def digest(x: torch.Tensor) -> str:
        eqfuzz.check(doubled, x, out=tmp_path)
        return passed["program"].digest

    assert digest(torch.ones(2)) == digest(torch.ones(2))
    assert digest(torch.ones(2)) != digest(torch.zeros(2))


def test_progress_is_all_that_is_shown_on_the_way(
    passed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    eqfuzz.check(doubled, torch.ones(2), out=tmp_path, progress=True)
    assert capsys.readouterr() == ("", "")


def test_interruption_is_the_caller_s(passed: dict[str, Any], tmp_path: Path):
    passed["interrupted"] = True
    with pytest.raises(KeyboardInterrupt):
        eqfuzz.check(doubled, torch.ones(2), out=tmp_path)


CELLS = ["", "import torch\nfrom torch import nn", "%time 1", "WIDTH = 2", "class Own(nn.Module): old = 1", "def :"]
CLASS = "class Own(nn.Module):\n    def forward(self, x):\n        return x * WIDTH"


def test_class_of_a_notebook_is_gathered_from_its_cells(passed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    main = types.ModuleType("__main__")
    exec(CLASS, vars(main) | {"nn": nn, "WIDTH": 2}, namespace := {"__name__": "__main__"})
    own = vars(main)["Own"] = namespace["Own"]
    own.__module__ = "__main__"
    transform = {"%time 1": "get_ipython().run_line_magic('time', '1')"}
    shell = types.SimpleNamespace(
        user_ns={"In": [*CELLS, CLASS, "WIDTH = 2"]}, transform_cell=lambda cell: transform.get(cell, cell)
    )
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert session_text().count("WIDTH = 2") == 1
    assert "def :" not in session_text()
    report = eqfuzz.check(own(), torch.ones(2), out=tmp_path)
    assert report.model == "notebook_cells:Own"
    assert "return x * WIDTH" in passed["program"].source
    loaded = Loaded(passed["program"])
    (call,) = loaded.calls(0)
    torch.testing.assert_close(loaded.instance()(*call.args), torch.full((2,), 2.0))  # as the last definition says


def test_class_of_a_session_without_text_is_refused(passed, monkeypatch: pytest.MonkeyPatch):
    main = types.ModuleType("__main__")
    exec(CLASS, {"nn": nn, "WIDTH": 2}, namespace := {"__name__": "__main__"})
    own = vars(main)["Own"] = namespace["Own"]
    own.__module__ = "__main__"
    monkeypatch.setitem(sys.modules, "__main__", main)
    with pytest.raises(eqfuzz.UsageError, match="Own is defined in a session without a text: put it in a file"):
        eqfuzz.check(own(), torch.ones(2))
