"""Options of ``eqfuzz seeds``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODELS",
        help="ONNX files, .pt2 archives of torch.export, modules of torch.save, folders of these, or one class: "
        "package.module:Class.",
    ),
]
Construct = Annotated[
    str,
    typer.Option(
        "--construct", metavar="EXPR", help="How the class is made, in the names of its module (default: Class())."
    ),
]
InputSets = Annotated[
    list[str] | None,
    typer.Option(
        "--inputs",
        metavar="EXPR",
        help="An input set of a class or a .pt file, such as 'rng.normal(2, 3, 32, 32)', or package.module:function, "
        "which returns one; repeatable.",
    ),
]
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
PoolName = Annotated[
    str, typer.Option("--pool", metavar="NAME", help="A pool: conv1x1, conv3x3, conv5x5, small, big, basic.")
]
Where = Annotated[
    str,
    typer.Option("--where", metavar="EXPR", help='A pool of your own, such as "kernels(3) and parameters < 10000".'),
]
SelectedFolder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Copy the seeds, with their weights, into this folder.")
]
