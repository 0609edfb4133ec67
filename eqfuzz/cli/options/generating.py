"""Options of ``eqfuzz generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProgramSeed = Annotated[int | None, typer.Option("--seed", min=0, help="Generate the one program of this random seed.")]
FirstSeed = Annotated[int | None, typer.Option("--start", min=0, help="First random seed, with --count (default: 0).")]
ProgramCount = Annotated[
    int | None, typer.Option("--count", min=1, help="Number of programs, one per random seed (default: 1).")
]
Template = Annotated[
    str,
    typer.Option(metavar="NAME|FILE", help="Kind of programs; 'mixed': of every kind; a .toml or .py file of yours."),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=20,
        help="Maximum depth of the recursion that builds a result; reused values add to it (default: the template's).",
    ),
]
SupportedOps = Annotated[
    str, typer.Option(metavar="LIST", help="Use only these operators, with weights: 'torch.add,torch.matmul=5'.")
]
OperatorWeights = Annotated[
    str, typer.Option("--op-weights", metavar="LIST", help="Weights of single operators: 'torch.sum=3'.")
]
OperatorsFrom = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Python file that declares more operators; repeatable."),
]
OperatorPattern = Annotated[
    str,
    typer.Argument(metavar="PATTERN", help="Part of a name, as in 'pool'; or a glob of names and families: 'unb*'."),
]
Processes = Annotated[
    int | None,
    typer.Option("--processes", "-p", min=1, help="With --run: number of parallel jobs (default: 75 % of the cores)."),
]
ProgramFolder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write programs to DIR/programs (default: print one, else eqfuzz-out)."),
]
ThenRun = Annotated[bool, typer.Option("--run", help="Then compare eager with compiled, as `eqfuzz mutate` does.")]
Artifacts = Annotated[
    bool, typer.Option("--artifacts", help="Also write a summary, the operators and the graph as SVG per program.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print every program, and all operators.")]

# PyTorch's own catalogue
CatalogueOperators = Annotated[
    list[str] | None,
    typer.Option("--operators", metavar="LIST", help="Operators as OpInfo names them; comma lists (default: all)."),
]
CatalogueModules = Annotated[
    list[str] | None,
    typer.Option("--modules", metavar="LIST", help="Classes of torch.nn: Conv2d, LSTM; comma lists (default: all)."),
]
CatalogueOptimizers = Annotated[
    list[str] | None,
    typer.Option("--optimizers", metavar="LIST", help="Classes of torch.optim: Adam; comma lists (default: all)."),
]
CatalogueFunctions = Annotated[
    list[str] | None,
    typer.Option("--functions", metavar="LIST", help="np_cumsum, np_linalg_norm; comma lists (default: all)."),
]
CataloguePythonNames = Annotated[
    list[str] | None,
    typer.Option(
        "--names", metavar="LIST", help="deque_rotate, py_sorted, statement_generators; comma lists (default: all)."
    ),
]
MostSamples = Annotated[
    int,
    typer.Option(
        "--most",
        min=0,
        help="Samples of each entry and dtype at most, and as many with other arguments; 0: all.",
        show_default=False,
    ),
]
ThenSweep = Annotated[
    bool, typer.Option("--run", help="Compare eager with compiled, sample by sample, in place of writing programs.")
]
CatalogueDtypes = Annotated[
    list[str] | None,
    typer.Option("--dtypes", metavar="LIST", help="Dtypes of operands: float32, bool …; comma lists (default: nine)."),
]
