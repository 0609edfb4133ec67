"""Options about language models: endpoint, key, price, budget, prompts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from eqfuzz.cli.options.values import BadOption

_MODEL = typer.Option(metavar="NAME", help="Language model that writes seeds, by the name its server uses.")
_BASE_URL = typer.Option(metavar="URL", help="OpenAI-compatible server, http://HOST:PORT/v1 (default: OpenAI's).")
_PRICE = typer.Option(
    metavar="IN,OUT", help="Price in dollars per million tokens, input and output (default: the list price)."
)
Model = Annotated[str, _MODEL]
OptionalModel = Annotated[str | None, _MODEL]
BaseUrl = Annotated[str, _BASE_URL]
OptionalBaseUrl = Annotated[str | None, _BASE_URL]
Price = Annotated[str, _PRICE]
OptionalPrice = Annotated[str | None, _PRICE]
KeyVariable = Annotated[
    str | None,
    typer.Option(
        "--key-env",
        metavar="VARIABLE",
        help="Environment variable that holds the API key (default, for OpenAI: OPENAI_API_KEY).",
    ),
]
KeyFile = Annotated[Path | None, typer.Option(metavar="FILE", help="File that holds the API key.")]
Prompts = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        metavar="LIST",
        help="Prompts, used in turn: names, 'all', .toml or text files; repeatable, comma lists (default: basic).",
    ),
]
Budget = Annotated[
    str, typer.Option(metavar="DOLLARS", help="Maximum cost in dollars, earlier runs with the same --out included.")
]
Dollars = Annotated[
    str, typer.Option(metavar="DOLLARS", help="Maximum cost of the model in dollars, over all runs of the campaign.")
]
SeedCount = Annotated[int, typer.Option("--count", min=1, help="Number of seeds to request, repairs not counted.")]
Repairs = Annotated[int, typer.Option(min=0, help="Maximum number of repairs per program.")]
MaxTokens = Annotated[int, typer.Option(min=64, help="Maximum number of tokens per response.")]
Temperature = Annotated[float | None, typer.Option(min=0, max=2, help="Sampling temperature (default: the server's).")]
Concurrency = Annotated[int, typer.Option(min=1, help="Number of concurrent requests.")]
RequestAttempts = Annotated[int, typer.Option("--attempts", min=1, help="Attempts per request if the server fails.")]
RequestTimeout = Annotated[
    str, typer.Option("--timeout", metavar="TIME", help="Wall-clock limit of one request, in seconds or 2m.")
]
ProgramTimeout = Annotated[
    str,
    typer.Option(metavar="TIME", help="Wall-clock limit of loading a program, and of running it in eager."),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="GLOB",
        help="Parts of the compiler to show in white-box prompts: see `eqfuzz generate parts`; repeatable.",
    ),
]
PromptCorpus = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="Seeds to show in the prompts evolve and fill-in; repeatable (default: the shipped seeds).",
    ),
]
ShowPrompts = Annotated[bool, typer.Option("--dry-run", help="Show the prompts and their cost; send nothing.")]
PartPattern = Annotated[str, typer.Argument(metavar="GLOB", help="Pattern of names: 'pass:*', 'lowering:*'.")]

_NAMES = {
    "model": "--model",
    "prompts": "--prompt",
    "base_url": "--base-url",
    "key_env": "--key-env",
    "key_file": "--key-file",
    "price": "--price",
    "targets": "--target",
}


@contextlib.contextmanager
def request_options() -> Iterator[None]:
    """Raises BadOption, with the option's name, for an InvalidRequest inside the block."""
    from eqfuzz.generate.llm.request import InvalidRequest

    try:
        yield
    except InvalidRequest as error:
        hint = "; or name another with --key-env or --key-file" if error.entry.startswith("key") else ""
        raise BadOption(_NAMES[error.entry], f"{error}{hint}") from None
