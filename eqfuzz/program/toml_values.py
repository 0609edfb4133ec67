"""Values of TOML files, as they are written on one line."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

TomlValue = str | int | float | bool | datetime.date | Sequence[str]


def toml_value(value: TomlValue) -> str:
    """``value`` in TOML. A string with backslashes (a regular expression) is a literal string where it can be one."""
    import tomlkit  # here: files are read without it

    if isinstance(value, str) and "\\" in value and "'" not in value and value.isprintable():
        return tomlkit.string(value, literal=True).as_string()
    return tomlkit.item(value).as_string()
