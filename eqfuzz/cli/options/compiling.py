"""Options about compiling and comparing: devices, configurations, checks, sampled options of the compiler."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Device(StrEnum):
    """Where programs run."""

    CPU = "cpu"
    CUDA = "cuda"


class Runner(StrEnum):
    """How compiled cells are run."""

    FAST = "fast"
    STOCK = "stock"
    SPAWN = "spawn"


class Module(StrEnum):
    """Whose options are sampled."""

    INDUCTOR = "inductor"
    DYNAMO = "dynamo"
    BOTH = "both"


Devices = Annotated[list[Device] | None, typer.Option("--device", help="Device to run on; repeatable (default: cpu).")]
SweepDevices = Annotated[
    list[Device] | None,
    typer.Option("--device", help="Device to sweep on; repeatable (default: cpu, and cuda where there is one)."),
]
ConfigNames = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="NAME",
        help="Compile configuration; repeatable, comma lists, 'all', NAME@3: three threads (default: inductor).",
    ),
]
SweepConfig = Annotated[
    str | None, typer.Option("--config", metavar="NAME", help="Compile configuration (default: inductor).")
]
OneConfig = Annotated[str, typer.Option("--config", metavar="NAME", help="Compile configuration that uses Inductor.")]
ConfigsFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TOML file with more configurations ([configs.NAME] tables); used when none is named.",
    ),
]
GraphsFirst = Annotated[
    bool,
    typer.Option(
        "--graphs-first",
        help="Compile to code only programs whose graphs, before lowering, give other values than eager.",
    ),
]
Threaded = Annotated[
    float,
    typer.Option(min=0, max=1, metavar="SHARE", help="Share of seeds also compiled for several threads, from 0 to 1."),
]
RunnerOption = Annotated[
    Runner,
    typer.Option(
        "--runner",
        help="fast: kernels of many cells are built together; stock: one by one, as torch does; "
        "spawn: as stock, without forks (what CUDA needs).",
    ),
]
AddedChecks = Annotated[
    list[str] | None, typer.Option("--check", metavar="NAME", help="Extra check (speed); repeatable, comma lists.")
]
RemovedChecks = Annotated[
    list[str] | None,
    typer.Option("--no-check", metavar="NAME", help="Check to skip (prints, guards, …); repeatable, comma lists."),
]
Steps = Annotated[
    int,
    typer.Option(
        min=0, help="Number of further calls per compiled original, each with other sizes, dtypes, flags or modes."
    ),
]
InputSets = Annotated[int, typer.Option(min=0, help="Number of input sets used per seed, from the first; 0: all.")]

# Sampled options of the compiler
ModuleOption = Annotated[Module, typer.Option("--module", help="Whose options are sampled.")]
OnlyOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="OPTION",
        help="Sample only this option; repeatable, comma lists; Dynamo's: dynamo.NAME.",
    ),
]
TupleSize = Annotated[int, typer.Option("-n", min=1, help="Number of options changed together.")]
MostConfigs = Annotated[int, typer.Option("--max", min=1, help="Maximum number of configurations.")]
Attempts = Annotated[int, typer.Option(min=1, help="Number of random configurations.")]
Probability = Annotated[
    float, typer.Option("--p", min=0.0, max=1.0, help="Probability of changing each option, from 0 to 1.")
]
