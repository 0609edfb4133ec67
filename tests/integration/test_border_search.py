"""Faults planted in passes, decompositions, the partitioner and AOTAutograd: the first wrong graph names them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from eqfuzz.oracle.compare.checks import ORACLES
from eqfuzz.program.formats import recognise
from eqfuzz.program.release import this_release
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.finding_jobs import BisectJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.stage import Blame
from tools.fault_detection.fault import BLIND, FOLDER, read_fault

DECOMPOSITION = "decompositions and partitioner, decomposition: aten."

FAULTS = {
    "bytes_and_back": "Inductor, joint_graph_passes: pass_pattern",
    "times_zero_is_zero": "Inductor, joint_graph_passes: constant_fold_uniform_value",
    "zeros_minus_something": "Inductor, joint_graph_passes: constant_fold_uniform_value",
    "padding_that_shifts": "Inductor, joint_graph_passes: remove_noop_ops",
    "power_of_minus_one": "Inductor, joint_graph_passes: remove_noop_ops",
    "permutes_cancelled_by_shape": "Inductor, joint_graph_passes: pattern_matcher (pointless_permute_pair)",
    "scale_of_softmax_taken_as_constant": "Inductor, joint_graph_passes: pass_pattern",
    "softmax_of_scaled_columns": "Inductor, joint_graph_passes: pass_pattern",
    "halves_swapped": "Inductor, post_grad_passes: pass_pattern",
    "diagonal_written_without_a_copy": "Inductor, post_grad_passes: reinplace_inplaceable_ops",
    "celu_of_a_factor": f"{DECOMPOSITION}celu",
    "group_norm_of_small_values": f"{DECOMPOSITION}native_group_norm",
    "lerp_past_the_middle": f"{DECOMPOSITION}lerp",
    "first_row_is_never_padding": f"{DECOMPOSITION}embedding_dense_backward",
    "padding_of_sequences_trained": f"{DECOMPOSITION}embedding_dense_backward",
    "roll_without_dimensions_by_rows": f"{DECOMPOSITION}roll",
    "subexpressions_shared_despite_keywords": "decompositions and partitioner",
    "mutation_of_a_strided_argument": "AOTAutograd",
    "mutation_under_no_grad": "AOTAutograd",
    "row_returned_from_an_argument": "AOTAutograd",
    "tangent_reinterpreted": "AOTAutograd",
}
"""What the search names by the planted fault's file."""

USUAL = ("bytes_and_back", "halves_swapped", "celu_of_a_factor", "mutation_under_no_grad")
"""One of each kind, for runs of tests that leave the long ones out."""

CUSTOM = '''
import torch
import torch._inductor.config as config

def program(x, y):
    z = x * 3.0 - y.sin()
    return torch.relu(z - y), z.sum(-1)

def inputs(rng):
    yield rng.normal(4, 5).requires_grad_(), rng.normal(4, 5)

def swapped(graph):
    """Subtracts the other way round."""
    graph = getattr(graph, "graph", graph)
    for node in graph.nodes:
        if getattr(node.target, "__name__", "") in ("sub", "sub.Tensor"):
            node.args = node.args[::-1]
            return
'''
"""A program, and a change of its graphs that ``PLANTED`` puts somewhere."""

BACKWARD_ONLY = """
def backward_only(graph):
    if not any(node.name.startswith("tangents") for node in graph.nodes):
        return
    for node in graph.nodes:
        if node.target is torch.ops.aten.mul.Tensor:
            node.target = torch.ops.aten.add.Tensor
"""

PLANTED = {
    "config.pre_grad_custom_pass = swapped": "Inductor, pre_grad_passes: pre_grad_custom_pass",
    "config.joint_custom_pre_pass = swapped": "Inductor, joint_graph_passes: joint_custom_pre_pass",
    "config.joint_custom_post_pass = swapped": "Inductor, joint_graph_passes: joint_custom_post_pass",
    "config.post_grad_custom_pre_pass = swapped": "Inductor, post_grad_passes: post_grad_custom_pre_pass",
    "config.post_grad_custom_post_pass = swapped": "Inductor, post_grad_passes: post_grad_custom_post_pass",
    f"{BACKWARD_ONLY}\nconfig.post_grad_custom_post_pass = backward_only": (
        "Inductor, post_grad_passes: post_grad_custom_post_pass (mul)"
    ),
    f"""{BACKWARD_ONLY}
from torch._inductor import compile_fx
if not hasattr(torch, "_planted"):
    torch._planted = partition = compile_fx.min_cut_rematerialization_partition
    def partitioned(*args, **more):
        forward, backward = partition(*args, **more)
        backward_only(backward.graph)
        return forward, backward
    compile_fx.min_cut_rematerialization_partition = partitioned
""": "decompositions and partitioner",
}
"""What the search names by the code that plants a fault."""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    environment = Environment(tmp_path_factory.mktemp("run"))
    environment.caches().mkdir(parents=True)
    with Pool(environment, Limits(), jobs=1) as pool:
        yield pool


def blamed(pool: Pool, source: str) -> str:
    """What is named for a seed, whose child alone has its fault."""
    job = BisectJob(program=recognise(source, "seed.py"), checks=ORACLES, steps=0)
    answer = pool.ask(job).answer
    assert answer is not None
    assert answer.verdict.is_finding, "the witness does not show the fault"
    assert answer.result is not None, answer.problem
    return Blame.of(answer.result).in_words()


def seed_of(path: Path) -> str:
    """The witness of a fault as a seed that plants the fault once."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    module.body.pop()
    return f"""{ast.unparse(module)}

if not hasattr(torch, "_planted"):
    torch._planted = True
    plant()

witness_program, calls = witness()

def program(*args):
    return witness_program(*args)

def inputs(rng):
    yield from calls
"""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in USUAL else [pytest.mark.long]) for name in FAULTS]
)
def test_planted_fault_is_named(name: str, pool: Pool):
    path = next(folder / f"{name}.py" for folder in (FOLDER, BLIND) if (folder / f"{name}.py").exists())
    if not read_fault(path).is_plantable(this_release()):
        pytest.skip(f"cannot be planted in torch {this_release()}")
    assert blamed(pool, seed_of(path)).startswith(FAULTS[name])


@pytest.mark.long
@pytest.mark.parametrize("plant", PLANTED, ids=PLANTED.values())
def test_custom_pass_and_partitioner_are_named(plant: str, pool: Pool):
    assert blamed(pool, f"{CUSTOM}\n{plant}") == PLANTED[plant]
