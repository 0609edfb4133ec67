"""A fault that takes two options is found among sampled configurations, and bisected to these two."""

import json

import pytest

from tests.commandline import eqfuzz, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SEED = """
    import torch
    def program(x, y):
        return torch.relu(x * 2 + y), x - y
    def inputs(rng): yield rng.normal(8, 16), rng.normal(8, 16)
"""

WRONG_WITH_BOTH = """
    import torch
    from torch._inductor import config, lowering
    relu = lowering.lowerings[torch.ops.aten.relu.default]
    def wrong(x):
        right = relu(x)
        if not config.split_reductions and config.compute_all_bounds:
            return lowering.lowerings[torch.ops.aten.add.Tensor](right, 0.25)
        return right
    lowering.lowerings[torch.ops.aten.relu.default] = wrong
"""

WRONG_UNLESS = """
    import torch
    from torch._inductor import config, lowering
    relu = lowering.lowerings[torch.ops.aten.relu.default]
    def wrong(x):
        right = relu(x)
        return right if config.permute_fusion else lowering.lowerings[torch.ops.aten.add.Tensor](right, 0.25)
    lowering.lowerings[torch.ops.aten.relu.default] = wrong
"""

OPTIONS = "split_reductions,compute_all_bounds,max_fusion_size,pick_loop_orders"
FAULTY = [
    {"module": "inductor", "option": "split_reductions", "value": False, "default": True},
    {"module": "inductor", "option": "compute_all_bounds", "value": True, "default": False},
]


def config(*arguments):
    done = eqfuzz("config", *arguments, "--format", "json")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def named(events, name):
    return [event for event in events if event["event"] == name]


@pytest.mark.long
def test_two_faulty_options_are_found_and_named(tmp_path):
    seed, preload = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", WRONG_WITH_BOTH)
    out = tmp_path / "out"
    arguments = ["tuples", seed, "-n", 2, "--only", OPTIONS, "--preload", preload, "--out", out, "--steps", 0]
    code, events, errors = config(*arguments)
    assert code == 1, errors
    (finding,) = named(events, "finding")
    assert finding["config"] == "split_reductions=False,compute_all_bounds=True"
    assert named(events, "summary")[0]["verdicts"] == {"agree": 6, "wrong-result": 1}  # stock settings and six pairs

    state = {record["config"]: record for record in json.loads((out / "config-state.json").read_text())["judged"]}
    assert len(state) == 6
    assert state[finding["config"]]["finding"] == finding["id"]
    assert state[finding["config"]]["values"]["inductor"] == {"split_reductions": False, "compute_all_bounds": True}

    code, events, errors = config(*arguments)
    assert code == 1, errors
    assert not named(events, "cell"), errors
    record = named(events, "configs")[0]
    assert (record["cells"], record["judged"], record["known"]) == (0, 6, [finding["id"]])

    # Three values, of which one does nothing: the run that has them all is bisected to the two.
    three = [*arguments[:3], 3, "--only", "split_reductions,compute_all_bounds,pick_loop_orders", *arguments[6:]]
    code, events, errors = config(*three)
    assert code == 1, errors
    (of_three,) = named(events, "finding")
    code, events, errors = config("bisect", of_three["id"], "--out", out)
    assert code == 0, errors
    summary = events[-1]
    assert summary["event"] == "summary"
    assert summary["turns"] == "on"
    assert summary["of"] == 3
    assert summary["values"] == FAULTY
    assert {event["event"] for event in events[:-1]} == {"tried"}
    assert [e["holds"] for e in events[:-1] if e["values"] == FAULTY] == [True]
    assert not any(event["holds"] for event in events[:-1] if len(event["values"]) < 2)

    result = eqfuzz("config", "bisect", of_three["id"], "--out", out)
    assert result.returncode == 0, result.stderr
    assert "inductor.split_reductions = False  (torch: True)" in result.stdout


@pytest.mark.long
def test_finding_under_default_options_is_counted_once_and_turned_off(tmp_path):
    seed, preload, out = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", WRONG_UNLESS), tmp_path / "out"
    only = "permute_fusion,max_fusion_size,pick_loop_orders"
    arguments = ["tuples", seed, "-n", 1, "--only", only, "--preload", preload, "--out", out, "--steps", 0]
    code, events, errors = config(*arguments)
    assert code == 1, errors
    (finding,) = named(events, "finding")
    assert (finding["config"], finding["also"]) == ("inductor", 2)
    state = {record["config"]: record for record in json.loads((out / "config-state.json").read_text())["judged"]}
    assert state.pop("permute_fusion=True")["kind"] == "agree"
    assert {record["finding"] for record in state.values()} == {finding["id"]}
    code, events, errors = config(*arguments)
    assert code == 1, errors
    assert named(events, "configs")[0]["known"] == [finding["id"]], errors
    assert not named(events, "cell")
    tries = ["--only", only, "--attempts", 8, "--p", 0.6]
    code, events, errors = config("bisect", finding["id"], "--out", out, *tries)
    assert code == 0, errors
    assert events[-1]["turns"] == "off"
    assert events[-1]["values"] == [{"module": "inductor", "option": "permute_fusion", "value": True, "default": False}]


DEADLY_WITH_ONE = """
    import os, signal, torch
    from torch._inductor import config, lowering
    relu = lowering.lowerings[torch.ops.aten.relu.default]
    def deadly(x):
        if not config.pick_loop_orders:
            os.kill(os.getpid(), signal.SIGSEGV)
        return relu(x)
    lowering.lowerings[torch.ops.aten.relu.default] = deadly
"""


@pytest.mark.long
def test_crashing_option_affects_only_its_cell(tmp_path):
    seed, preload = write(tmp_path, "seed.py", SEED), write(tmp_path, "plant.py", DEADLY_WITH_ONE)
    only = "pick_loop_orders,permute_fusion,dynamo.specialize_int"
    arguments = ["tuples", seed, "-n", 1, "--only", only, "--preload", preload, "--out", tmp_path / "out", "--steps", 0]
    code, events, errors = config(*arguments)
    assert code == 1, errors
    kinds = {event["config"]: event["verdict"]["kind"] for event in named(events, "cell")}
    assert kinds.pop("pick_loop_orders=False") == "process-crash"
    assert kinds == dict.fromkeys(["inductor", "permute_fusion=True", "dynamo.specialize_int=True"], "agree")
    (finding,) = named(events, "finding")
    code, events, errors = config("bisect", finding["id"], "--out", tmp_path / "out")
    assert code == 0, errors
    assert [value["option"] for value in events[-1]["values"]] == ["pick_loop_orders"], errors
