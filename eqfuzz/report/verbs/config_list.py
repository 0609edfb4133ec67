"""The named compile configurations, listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from eqfuzz.report.formatting import printable
from eqfuzz.run.configs.named import Config


def print_configs(console: Console, configs: Sequence[Config], purposes: Mapping[str, str]) -> None:
    """The name, what it is for and what it sets, a line each and unbroken: all can be copied."""
    for config in configs:
        console.print(Text(printable(config.name), style="bold"), soft_wrap=True)
        console.print(Text(f"  {printable(purposes[config.name])}"), soft_wrap=True)
        console.print(Text(f"  {printable(config.in_words)}", style="dim"), soft_wrap=True)
