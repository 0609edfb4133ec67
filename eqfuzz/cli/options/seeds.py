"""Options of ``eqfuzz seeds``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelPaths = Annotated[list[Path], typer.Argument(metavar="MODELS", help="ONNX files, and folders of ONNX files.")]
SeedFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the seeds.")]
Drawn = Annotated[
    bool,
    typer.Option("--drawn", help="Draw large weights in the text, with the same spread, instead of storing them."),
]
Gradients = Annotated[
    bool, typer.Option("--gradients", help="Make weights parameters, so that the backward pass is compared too.")
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="NAME=N", help="Size of a symbolic dimension; repeatable (default: small sizes)."),
]
