"""Options of ``eqfuzz self-check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Full = Annotated[bool, typer.Option("--full", help="Measure recall and precision as tables: takes hours.")]
SelfCheckFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for kernels, and with --full for results, to resume.")
]
FaultDraws = Annotated[
    int, typer.Option("--draws", min=1, help="With --full: planted faults of each kind per program and dtype.")
]
EagerPairs = Annotated[
    int, typer.Option("--eager", min=0, help="With --full: pairs of a program and its rewrite, both in eager.")
]
CompiledPrograms = Annotated[
    int, typer.Option("--compiled", min=0, help="With --full: compiled programs, 3 in 10 of them ill-conditioned.")
]
ThreadedPrograms = Annotated[
    int, typer.Option("--threaded", min=0, help="With --full: programs compiled for several threads.")
]
