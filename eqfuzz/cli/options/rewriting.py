"""Options about rules and rewrites."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Strategy(StrEnum):
    """How rewrites are chosen."""

    EACH = "each"
    RANDOM = "random"
    ALL = "all"
    NONE = "none"


_STRATEGY = typer.Option(
    help="each: one rewrite per variant; random: up to --depth rewrites; all: every match at once; "
    "none: seeds as they are."
)
_DEPTH = typer.Option(min=1, help="Maximum number of rewrites per variant (--strategy random).")
_VARIANTS = typer.Option(min=0, help="Maximum number of variants per seed; 0 with --strategy each: no maximum.")
_RULES = typer.Option(metavar="SELECTION", help="Rules to use: 'shapes/*,-shapes/flip*' (default: all).")

StrategyOption = Annotated[Strategy, _STRATEGY]
OptionalStrategy = Annotated[Strategy | None, _STRATEGY]
Depth = Annotated[int, _DEPTH]
OptionalDepth = Annotated[int | None, _DEPTH]
Variants = Annotated[int, _VARIANTS]
OptionalVariants = Annotated[int | None, _VARIANTS]
Rules = Annotated[str, _RULES]
OptionalRules = Annotated[str | None, _RULES]

RulesFrom = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="Rule file, or folder of rule files, beside the shipped rules; repeatable."),
]
RuleSelection = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SELECTION", help="Families and names: 'shapes/*', add_function, '-shapes/flip*' (default: all)."
    ),
]
RuleName = Annotated[str, typer.Argument(metavar="NAME", help="The rule, with or without its family.")]
SeedFile = Annotated[Path, typer.Argument(metavar="FILE", help="A seed file.")]
KeepVariants = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write variants that equal their seed in eager to this folder, as seed files."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Compile nothing: run seeds, then their variants, in eager.")]
ShowDiff = Annotated[
    bool,
    typer.Option("--diff", help="With --dry-run: show every site, and each variant as a diff; no variant is run."),
]
Draws = Annotated[int, typer.Option(min=10, help="Number of operand sets drawn for each rule.")]
DepthData = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="Write the stages as JSON (rewrites/survival.json).")
]
DepthPage = Annotated[Path | None, typer.Option("--page", metavar="FILE", help="Write the tables as a Markdown page.")]
