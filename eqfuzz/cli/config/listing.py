"""``eqfuzz config list``: the named compile configurations."""

from __future__ import annotations

import json

from eqfuzz.cli.options.common import LinesFormat, OutputFormat
from eqfuzz.cli.options.compiling import ConfigsFrom
from eqfuzz.cli.options.values import value_of


def list_configs(configs_from: ConfigsFrom = None, format: LinesFormat = OutputFormat.TEXT) -> None:
    """List the configurations of --config.

    Exit codes: 0 listed, 2 a file of configurations that cannot be read.
    """
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.config_list import print_configs
    from eqfuzz.run.configs.named import PURPOSES, known_configs

    with value_of("--configs-from"):
        configs = list(known_configs(configs_from).values())
    purposes = {config.name: PURPOSES.get(config.name, f"of {configs_from}") for config in configs}
    if format is OutputFormat.TEXT:
        print_configs(make_console(), configs, purposes)
        return
    for config in configs:
        settings = config.model_dump(exclude_defaults=True, exclude={"name"})
        print(json.dumps({"name": config.name, "about": purposes[config.name], "settings": settings}))
