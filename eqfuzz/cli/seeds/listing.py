"""``eqfuzz seeds list``: seeds with their formats and sources."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from eqfuzz.cli.exit_codes import complain
from eqfuzz.cli.options.common import LinesFormat, OptionalSeedPaths, OutputFormat


def list_seeds(paths: OptionalSeedPaths = None, format: LinesFormat = OutputFormat.TEXT) -> None:
    """List seeds: format, source, title.

    Files that are no seeds have a line on stderr.

    Exit codes: 0 listed, 2 no such file.
    """
    from eqfuzz.program.pools.seed_files import seed_files
    from eqfuzz.program.formats import read_program
    from eqfuzz.program.parsing import parse
    from eqfuzz.program.program import InvalidSeed
    from eqfuzz.program.provenance import provenance_of
    from eqfuzz.program.shipped import folder

    rows: list[tuple[Path, str, str, str]] = []
    for path in sorted(seed_files(paths or [folder("seeds")])):
        try:
            program = read_program(path, str(path))
        except InvalidSeed as error:
            complain(str(error))
            continue
        provenance = provenance_of(program.source)
        title = (ast.get_docstring(parse(program.source)) or "").split("\n")[0]
        rows.append((path, str(program.format), provenance.source if provenance is not None else "", title))
    if format is OutputFormat.JSON:
        for row in rows:
            print(json.dumps(dict(zip(("path", "format", "source", "title"), map(str, row), strict=True))))
        return

    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.seeds import print_seeds

    print_seeds(make_console(), rows)
