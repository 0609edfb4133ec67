"""Twelve planted faults that do not interfere, active at once, which note that they are reached and triggered.

As in Magma, a fault is reached where its code runs, triggered where that code does what is wrong, and detected where a
bucket of a campaign names its place.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from eqfuzz.program.parsing import parse
from tools.fault_detection.fault import BLIND, FOLDER

REACHED, TRIGGERED = "reached", "triggered"


@dataclasses.dataclass(frozen=True)
class PlantedFault:
    """``place`` is a pattern of the fingerprints of its findings, ``wrong`` when its code is wrong, an expression."""

    place: str
    wrong: str


PLANTED = {
    "argmax_of_a_transposed": PlantedFault(
        r"lowerings: argmax", "axis is None and isinstance(x.data, ir.PermuteView | ir.ReinterpretView)"
    ),
    "average_over_padding": PlantedFault(r"lowerings: avg_pool2d", "padding and not count_include_pad"),
    "bytes_and_back": PlantedFault(
        r"joint_graph_passes: pass_pattern", "dtype1 in (torch.int8, torch.uint8) and dtype2.itemsize > 1"
    ),
    "celu_of_a_factor": PlantedFault(r"aten\.celu", "alpha != 1.0"),
    "flip_of_two_dimensions": PlantedFault(
        r"lowerings: rev", "len(dims) == 2 and len({str(x.get_size()[d]) for d in dims}) == 1"
    ),
    "group_norm_of_small_values": PlantedFault(r"native_group_norm", "True"),
    "guard_of_strides": PlantedFault(r"guard on strides", "True"),
    "guard_of_training": PlantedFault(
        r"guard on train or eval", "'_modules' in guard.name and 'training' in guard.name"
    ),
    "halves_swapped": PlantedFault(r"post_grad_passes: pass_pattern", "not original(match)"),
    "lerp_past_the_middle": PlantedFault(r"aten\.lerp", "weight > 0.5"),
    "roll_without_dimensions_by_rows": PlantedFault(r"aten\.roll", "not dims and a.dim() > 1"),
    "times_zero_is_zero": PlantedFault(
        r"constant_fold_uniform_value",
        "any(isinstance(a, float) and a == 0.0 for node in self.module.graph.nodes"
        " if node.target is torch.ops.aten.mul.Tensor for a in node.args)",
    ),
}

_MARKING = """
import pathlib

def _mark(fault, event):
    (pathlib.Path({folder!r}) / f"{{fault}}.{{event}}").touch()
"""


def write_preload(path: Path, marks: Path) -> None:
    """Write the preload with all faults to ``path``; each leaves a file in the folder ``marks`` for what it notes."""
    marks.mkdir(parents=True, exist_ok=True)
    parts = [_MARKING.format(folder=str(marks))]
    for name in PLANTED:
        compiled = f"compile({_marked(name)!r}, {name + '.py'!r}, 'exec')"
        parts.append(f"exec({compiled}, {{'_mark': _mark, '__name__': __name__}})\n")
    path.write_text("".join(parts), encoding="utf-8")


def noted(marks: Path, event: str) -> set[str]:
    """Names of the faults that have noted it."""
    return {file.stem for file in marks.glob(f"*.{event}")}


def detected(fingerprints: Iterable[str]) -> set[str]:
    """Names of the faults that one of the fingerprints is about."""
    texts = list(fingerprints)
    return {name for name, fault in PLANTED.items() if any(re.search(fault.place, text) for text in texts)}


def _marked(name: str) -> str:
    """The source of the fault's file, whose replaced functions note it."""
    path = next(folder / f"{name}.py" for folder in (FOLDER, BLIND) if (folder / f"{name}.py").exists())
    module = parse(path.read_text(encoding="utf-8"))
    plant = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "plant")
    functions = [node for node in plant.body if isinstance(node, ast.FunctionDef)]
    marks = f"_mark({name!r}, {REACHED!r})\nif {PLANTED[name].wrong}:\n    _mark({name!r}, {TRIGGERED!r})"
    for function in functions:
        function.body[:0] = parse(marks).body
    return ast.unparse(ast.fix_missing_locations(module))
