"""What seeds are generated from: ``eqfuzz generate ops``, ``templates``, ``prompts`` and ``parts``."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
from typing import TYPE_CHECKING, Any

from eqfuzz.cli.options.common import LinesFormat, OutputFormat
from eqfuzz.cli.options.generating import OperatorPattern, OperatorsFrom
from eqfuzz.cli.options.model import PartPattern
from eqfuzz.cli.options.values import BadOption
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def ops(
    pattern: OperatorPattern = "*", operators_from: OperatorsFrom = None, format: LinesFormat = OutputFormat.TEXT
) -> None:
    """List the operators of generated programs.

    Exit codes: 0 listed, 2 no such operator, or a file with operators that cannot be used.
    """
    from eqfuzz.generate.dag.catalogue.listing import listed, matching

    try:
        entries = matching(_listed_with(operators_from) if operators_from else listed(), pattern)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if format is OutputFormat.JSON:
        for entry in entries:
            print(json.dumps(entry))
        return
    from eqfuzz.report.generate.operators import print_operators
    from eqfuzz.report.terminal import make_console

    print_operators(make_console(), entries)


def _listed_with(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The operators with those of ``files``. Raises BadOption."""
    from eqfuzz.generate.dag.catalogue.listing import listed
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators

    try:
        return listed(files)
    except InvalidOperators as error:
        raise BadOption("--operators-from", str(error)) from None


def templates() -> None:
    """List the templates of generated programs."""
    from eqfuzz.generate.dag.template import shipped_templates

    for name, template in shipped_templates().items():
        print(f"{name:16} {template.about}")
    print(f"{'mixed':16} each program of one of these")


def prompts(format: LinesFormat = OutputFormat.TEXT) -> None:
    """List the prompts for language models."""
    from eqfuzz.generate.llm.prompt import shipped_prompts

    for name, prompt in shipped_prompts().items():
        if format is OutputFormat.JSON:
            print(json.dumps(dataclasses.asdict(prompt)))
        else:
            print(f"{name:16} {prompt.about}")


def parts(glob: PartPattern = "*", format: LinesFormat = OutputFormat.TEXT) -> None:
    """List the compiler's parts for prompts.

    Exit codes: 0 listed, 2 no such part.
    """
    from eqfuzz.generate.llm.white_box import parts
    from eqfuzz.program.suggestions import did_you_mean

    every = parts()
    matching = {name: part for name, part in every.items() if fnmatch.fnmatchcase(name, glob) or part.label == glob}
    if not matching:
        hint = did_you_mean(glob.strip("*"), [*every, *(part.label for part in every.values())])
        raise UsageError(f"no part of the compiler fits {glob!r}{hint}")
    for name, part in matching.items():
        if format is OutputFormat.JSON:
            print(json.dumps({**part.to_json(), "place": part.place}))
        else:
            print(f"{name:60} {part.place}")
