"""Writes generated programs to a folder."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Protocol

from eqfuzz.events.event import Handler
from eqfuzz.events.generate import GenerationEnded, GenerationSummary, ProgramGenerated
from eqfuzz.generate.dag.generate import GeneratedProgram
from eqfuzz.generate.dag.graph.graphviz import dot
from eqfuzz.generate.dag.step_timer import StepTimer


class ProgramSource(Protocol):
    """`eqfuzz.generate.dag.generate.ProgramGenerator`, or several of them."""

    def generate(self, seed: int) -> GeneratedProgram: ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all operators that it may use."""
        ...


def generate_programs(
    source: ProgramSource,
    template: str,
    seeds: range,
    out: Path,
    handler: Handler,
    *,
    artifacts: bool,
    runs: bool,
) -> GenerationEnded:
    """Write the programs of ``seeds`` to ``out``/programs and return the last event.

    Ctrl-C ends it early. With ``artifacts`` their graphs are written too; ``runs``: the programs will be run. Raises
    OSError.
    """
    began = time.monotonic()
    uses: Counter[str] = Counter()
    count = 0
    interrupted = False
    folder = out / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for number, seed in enumerate(seeds):
            program = source.generate(seed)
            timer = StepTimer(program.timings)
            file = folder / f"{program.name}.py"
            with timer.step("write"):
                file.write_text(program.source, encoding="utf-8")
            if artifacts:
                with timer.step("artifacts"):
                    write_artifacts(program, out / "artifacts" / program.name)
            uses.update(program.operators)
            count += 1
            operators = list(program.operators)
            handler(
                ProgramGenerated(
                    number=number,
                    seed=seed,
                    template=program.template,
                    file=str(file),
                    operators=operators,
                    seconds=round(sum(program.timings.values()), 6),
                    timings={step: round(seconds, 6) for step, seconds in timer.seconds.items()},
                )
            )
    except KeyboardInterrupt:
        interrupted = True
    event = (GenerationEnded if runs and not interrupted else GenerationSummary)(
        start=seeds.start,
        count=len(seeds),
        template=template,
        programs=count,
        operators=dict(uses.most_common()),
        unused=sorted(set(source.names) - set(uses)),
        interrupted=interrupted,
        seconds=round(time.monotonic() - began, 3),
        out=str(out),
    )
    handler(event)
    return event


def write_artifacts(program: GeneratedProgram, folder: Path) -> None:
    """Write ``summary.txt``, ``operators.txt``, ``program.py``, ``graph.dot``, and with graphviz ``graph.svg``."""
    folder.mkdir(parents=True, exist_ok=True)
    uses = Counter(program.operators)
    inputs = [leaf for leaf in program.graph.leaves if leaf.kind == "input"]
    lines = [
        f"program    {program.name}",
        f"template   {program.template}",
        f"seed       {program.seed}",
        f"inputs     {', '.join(str(leaf.value.spec) for leaf in inputs)}",
        f"returns    {', '.join(str(value.spec) for value in program.graph.result.inputs)}",
        f"operators  {len(program.operators)}, {len(uses)} different",
    ]
    (folder / "summary.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    listed = "".join(f"{name}\n" for name in program.operators)
    (folder / "operators.txt").write_text(listed, encoding="utf-8")
    (folder / "program.py").write_text(program.source, encoding="utf-8")
    (folder / "graph.dot").write_text(dot(program.graph, program.name), encoding="utf-8")
    if shutil.which("dot") is not None:
        command = ["dot", "-Tsvg", str(folder / "graph.dot"), "-o", str(folder / "graph.svg")]
        subprocess.run(command, check=True, capture_output=True)


def seeds_of(seed: int | None, start: int, count: int) -> range:
    """The one seed, or ``count`` from ``start`` on."""
    return range(seed, seed + 1) if seed is not None else range(start, start + count)
