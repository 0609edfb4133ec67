"""Option values from text: durations, comma lists, compile configurations."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.program.suggestions import did_you_mean

if TYPE_CHECKING:
    from eqfuzz.run.configs.named import Config


class OutputFormat(StrEnum):
    """How a verb tells what it found."""

    TEXT = "text"
    JSON = "json"


class BadOption(Exception):
    """An option's value that cannot be used; ``str()`` is one line: which option, what is wrong, what to do."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(f"{option}: {message}")


def seconds_of(text: str, option: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``1h``, ``1h30m``. Raises BadOption."""
    from eqfuzz.campaign.durations import seconds

    try:
        return seconds(text)
    except ValueError as error:
        raise BadOption(option, str(error)) from None


def split_names(given: Sequence[str]) -> list[str]:
    """``["a,b", "c"]`` as ``["a", "b", "c"]``."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def configs_of(given: Sequence[str], file: Path | None) -> tuple[Config, ...]:
    """The configurations named in ``given`` (``all``: every known one; none named: ``inductor`` or those of ``file``).

    Raises BadOption with a did-you-mean, or naming file and place.
    """
    from eqfuzz.run.configs.named import BUILT_IN, DEFAULT_CONFIG, choose, find, in_words, read_configs

    try:
        known = read_configs(file) if file is not None else dict(BUILT_IN)
    except ValueError as error:
        raise BadOption("--configs-from", str(error)) from None
    names = split_names(given)
    if "all" in names:
        return tuple(known.values())
    if not names:
        own = [config for name, config in known.items() if name not in BUILT_IN or config != BUILT_IN[name]]
        return tuple(own) or (DEFAULT_CONFIG,)
    for name in names:
        if find(name, known) is None:
            hint = did_you_mean(name, list(known))
            raise BadOption("--config", f"no configuration {name!r}{hint}; known: {in_words(known)}")
    return choose(names, known)


def checks_of(wanted: Sequence[str], unwanted: Sequence[str]) -> tuple[str, ...]:
    """The default checks, with some added and some left out. Raises BadOption with a did-you-mean."""
    from eqfuzz.oracle.compare.checks import CHECKS, DEFAULT_CHECKS

    added, removed = split_names(wanted), split_names(unwanted)
    for option, names in (("--check", added), ("--no-check", removed)):
        for name in names:
            if name not in CHECKS:
                raise BadOption(option, f"no check {name!r}{did_you_mean(name, CHECKS)}; known: {', '.join(CHECKS)}")
    return tuple(name for name in CHECKS if name not in removed and (name in DEFAULT_CHECKS or name in added))


def new_file(option: str, path: Path | None) -> None:
    """Raises BadOption where a file ``path`` cannot be written."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise BadOption(option, f"{path}: " + ("a folder" if path.is_dir() else f"no folder {path.parent}"))
