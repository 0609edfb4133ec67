"""Rewrites of graphs in scripts: they stand alone, and apply the same steps."""

import subprocess
import sys

from eqfuzz.rewrite.graphs.graph_step import GraphPoint, GraphStep, graph_declarations
from eqfuzz.triage.reproducer.graph_passes import graph_passes_text

PROGRAM = """
import torch
import torch._inductor.graph

{passes}

aten = "a name of the program"
x = torch.arange(6.0).reshape(2, 3)
codes = []


def seen(code):
    codes.append(code)


torch._inductor.graph.GraphLowering.save_output_code = staticmethod(seen)
result = torch.compile(lambda x: x.sin() + 1)(x)
assert torch.allclose(result, x.sin() + 1)
assert aten == "a name of the program"
print("infinity" in codes[0], len(codes))
"""


def test_a_script_rewrites_graphs_without_eqfuzz(tmp_path):
    steps = [
        GraphStep(GraphPoint.PRE_GRAD, "padded"),
        GraphStep(GraphPoint.LOWERING, "clamped_to_infinities"),
        GraphStep(GraphPoint.POST_GRAD, "commuted_sum", 4),
    ]
    script = tmp_path / "script.py"
    counts = []
    for chosen in (steps, []):
        passes = graph_passes_text(chosen) if chosen else ""
        script.write_text(PROGRAM.format(passes=passes))
        ran = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, check=True)
        counts.append(ran.stdout)
    assert counts == ["True 1\n", "False 1\n"]


def test_every_rule_stands_alone():
    steps = [GraphStep(GraphPoint.JOINT, one.name) for one in graph_declarations()]
    compile(graph_passes_text(steps), "script", "exec")
    assert not [one.name for one in graph_declarations() if "eqfuzz" in one.text or "aten." in one.text]
