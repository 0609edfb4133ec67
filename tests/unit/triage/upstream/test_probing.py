"""The probe: what a program is called with, and what it does, as seen in eager."""

import json

import pytest
import torch

from eqfuzz.triage.upstream import probing_script

X = torch.tensor([[1.0, 5.0, 2.0], [0.5, 3.0, 4.0]])


def facts_of(function, *args):
    probe = probing_script.TraitProbe()
    probing_script.in_eager(probe, function)(*args)
    return {name: seen for name, seen in probe.facts.items() if seen}


@pytest.mark.parametrize(
    ("function", "value", "facts"),
    [
        (lambda x: x.t().contiguous().argmax(), X, {}),
        (lambda x: torch.floor(x * 0.1 * 10), torch.tensor([3.0]), {"jumps": {"floor"}}),
        (lambda x: torch.floor(x.t()), torch.tensor([[3.0]]), {}),
        (lambda x: torch.floor(x * 0.1), torch.tensor([3.4]), {}),
        (lambda x: x * 0.1 * 10 > x, torch.tensor([3.0]), {"jumps": {"gt"}}),
        (lambda x: (x * 0.1 * 10).to(torch.int64), torch.tensor([3.0]), {"jumps": {"_to_copy"}}),
        (lambda x: x.argmax(), torch.tensor([2.0, 7.0, 7.0]), {"ties": {"argmax"}}),
        (lambda x: x.argmax(), torch.tensor([2, 7, 7]), {"ties": {"argmax"}}),
        (lambda x: x.max(0).values, torch.tensor([2.0, 7.0, 6.0]), {}),
        (lambda x: x + 1, torch.tensor([1.0, torch.nan]), {"special": {"NaN"}}),
        (lambda x: x / 0, torch.tensor([1.0]), {}),
        (lambda x: x + 1, torch.tensor([torch.inf, 1.0]), {"special": {"inf"}}),
        (lambda x: x + 1, torch.tensor([60000.0], dtype=torch.float16), {"limits": {"float16"}}),
        (lambda x: x + 1, torch.tensor([2**31 - 1], dtype=torch.int32), {"limits": {"int32"}}),
        (lambda x: x + 1, torch.tensor([255, 0], dtype=torch.uint8), {}),
        (lambda x: x + 1, torch.tensor([1e-40]), {"subnormal": {"float32"}}),
        (lambda x: x + torch.empty(3).fill_(1), torch.ones(3), {}),
        (lambda x: x + torch.rand(3), torch.ones(3), {"draws": {"rand"}}),
        (lambda x: x.masked_fill(x > 1, 0), torch.tensor([1 + 2j])[0].real, {}),
    ],
)
def test_probe_sees_special_values_jumps_ties_and_draws(function, value, facts):
    assert facts_of(function, value) == facts


def test_module_is_probed_as_it_is():
    probe = probing_script.TraitProbe()
    model = torch.nn.Dropout(0.5)
    assert probing_script.in_eager(probe, backend="eager")(model) is model
    model(torch.ones(3))
    assert probe.facts["draws"]


def test_what_the_script_does_itself_does_not_count(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(torch, "compile", torch.compile)
    monkeypatch.setattr("sys.argv", [])
    script = tmp_path / "repro.py"
    script.write_text(
        "import torch\ntorch.rand(3)\ny = torch.compile(torch.sin)(torch.ones(2))\n"
        "print('x')\nif y.argmax() == 5: raise ValueError\nraise SystemExit(1)\n"
    )
    probing_script.main(str(script))
    (line,) = capsys.readouterr().out.splitlines()
    facts = json.loads(line)
    assert set(map(str, facts.values())) == {"[]", ""}
    script.write_text("raise ValueError('no')")
    probing_script.main(str(script))
    assert json.loads(capsys.readouterr().out)["error"] == "ValueError: no"
