"""Options of verbs that measure: speed, coverage, pools."""

from __future__ import annotations

from typing import Annotated

import typer

TimedRules = Annotated[
    str,
    typer.Option(
        "--rules",
        metavar="SELECTION",
        help="Rules to use: 'shapes/*,-shapes/flip*', '*' for all; paper: the ten transforms of Jin & Wan 2025.",
    ),
]
TimedSeconds = Annotated[float, typer.Option("--seconds", min=0.1, help="Seconds of timing for each seed.")]
OneJob = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Only 1 is accepted: programs that run at once slow each other.")
]
CoverageTemplates = Annotated[
    list[str] | None,
    typer.Option(
        "--template", metavar="NAME|FILE", help="Template of random programs; 'mixed': all; repeatable, comma lists."
    ),
]
CoverageCatalogues = Annotated[
    list[str] | None,
    typer.Option(
        "--catalogue",
        metavar="NAME",
        help="Catalogue: opinfo, refused, modules, optimizers, numpy, python; repeatable, comma lists.",
    ),
]
TemplateCount = Annotated[
    int, typer.Option("--count", min=1, help="Number of programs of each template and catalogue.")
]
ComparedPools = Annotated[
    list[str],
    typer.Option(
        "--pool", metavar="PATH", help="A pool: a folder of seeds, or default for the shipped ones; two or more."
    ),
]
PoolTime = Annotated[str, typer.Option("--time", metavar="TIME", help="CPU time of each pool: 90, 10m, 1h30m.")]
