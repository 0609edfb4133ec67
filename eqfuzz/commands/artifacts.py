"""Artifacts of generated programs: a summary, the operators with what they depend on, and the graph as a picture."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from eqfuzz.generate.dag.generate import GeneratedProgram
from eqfuzz.generate.dag.graph.graphviz import dot
from eqfuzz.generate.dag.graph.nodes import NodeGraph

ARTIFACTS = "artifacts"
"""Folder of a run's artifacts, with one folder for each program."""

_SUMMARY = "summary.txt"
_STATUS = re.compile(r"(?m)^(status +).*$")


def write_artifacts(program: GeneratedProgram, folder: Path) -> None:
    """Write ``summary.txt``, ``operators.txt``, ``program.py``, ``graph.dot``, and with graphviz ``graph.svg``.

    Raises OSError, and CalledProcessError where graphviz fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graph = NodeGraph.of(program.graph)
    uses = Counter(program.operators)
    inputs = [f"{node.name}: {node.specs[0]}" for node in graph.nodes.values() if node.kind == "input"]
    lines = [
        f"program    {program.name}",
        f"template   {program.template}",
        f"seed       {program.seed}",
        "status     not run",
        f"depth      {program.max_depth} at most; the longest chain of operators has {graph.depth}",
        f"inputs     {'; '.join(inputs) or 'none'}",
        f"returns    {', '.join(str(value.spec) for value in program.graph.result.inputs)}",
        f"operators  {len(program.operators)}, {len(uses)} different",
    ]
    (folder / _SUMMARY).write_text("\n".join(lines) + "\n", encoding="utf-8")
    listed = "".join(f"{'  ' * len(node.blocks)}{node}\n" for node in graph.nodes.values())
    (folder / "operators.txt").write_text(listed, encoding="utf-8")
    (folder / "program.py").write_text(program.source, encoding="utf-8")
    (folder / "graph.dot").write_text(dot(graph, program.name), encoding="utf-8")
    if shutil.which("dot") is not None:
        command = ["dot", "-Tsvg", str(folder / "graph.dot"), "-o", str(folder / "graph.svg")]
        subprocess.run(command, check=True, capture_output=True)


def note_status(folder: Path, status: str) -> None:
    """Write ``status`` into the summary in ``folder``; nothing where there are no artifacts. Raises OSError."""
    file = folder / _SUMMARY
    if file.is_file():
        file.write_text(_STATUS.sub(rf"\g<1>{status}", file.read_text(encoding="utf-8")), encoding="utf-8")
