"""Options of ``eqfuzz campaign`` and ``eqfuzz corpus``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ExecutorName(StrEnum):
    """What runs the items of a campaign."""

    LOCAL = "local"
    RAY = "ray"


CampaignName = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name of the campaign; an existing campaign is resumed.")
]
_NAME = typer.Argument(metavar="NAME", help="Name of the campaign.")
NamedCampaign = Annotated[str, _NAME]
ConfigurationFile = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="Configuration of the campaign (default: ./eqfuzz.toml if it exists)."),
]
Init = Annotated[bool, typer.Option("--init", help="Write a commented ./eqfuzz.toml and stop.")]
SeedSources = Annotated[
    list[Path] | None,
    typer.Option(
        "--seeds", metavar="PATH", help="Seed files and folders; repeatable, 'none' (default: the shipped seeds)."
    ),
]
Templates = Annotated[
    list[str] | None,
    typer.Option("--template", metavar="NAME", help="Template of generated seeds; repeatable, comma lists, 'none'."),
]
Catalogues = Annotated[
    list[str] | None,
    typer.Option(
        "--catalogue",
        metavar="NAME",
        help="opinfo, modules, optimizers, numpy, python, refused; comma lists, 'none' (default: all, no --seeds).",
    ),
]
CpuTime = Annotated[
    str | None, typer.Option("--cpu", metavar="TIME", help="Stop after this much CPU time in total: 90, 10m, 1h30m.")
]
MostCells = Annotated[int | None, typer.Option("--cells", min=1, help="Stop after this many compiled cells in total.")]
MostFindings = Annotated[
    int | None, typer.Option("--findings", min=1, help="Stop after this many buckets of new findings.")
]
Feedback = Annotated[
    bool | None,
    typer.Option("--feedback/--no-feedback", help="Prefer what reached new code in the compiler, or choose uniformly."),
]
Executor = Annotated[ExecutorName, typer.Option("--executor", help="local: this machine; ray: a Ray cluster.")]
RayAddress = Annotated[
    str,
    typer.Option(metavar="ADDRESS", help="Existing Ray cluster: 'auto', HOST:PORT (default: start a local one)."),
]
Database = Annotated[
    str,
    typer.Option(
        "--db", metavar="URL", help="Database: sqlite:///FILE or postgresql://… (default: a file below --out)."
    ),
]
CampaignsFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder of all campaigns and of their database.")
]
ExportFolder = Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder to write to.")]
CheckDamage = Annotated[
    bool, typer.Option("--check", help="Look for damage: an inconsistent database, missing programs.")
]
