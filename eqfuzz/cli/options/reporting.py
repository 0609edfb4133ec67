"""Options of ``eqfuzz report``: the run, and the files to write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ReportedRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of the run: what it was called with as --out.")
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write one HTML file, which opens in any browser.")
]
