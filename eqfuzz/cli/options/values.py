"""Values of options from their text: durations, amounts, comma lists, configurations, checks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.run.configs.named import Config


class BadOption(UsageError):
    """An option's value that cannot be used; ``str()`` is one line: which option, what is wrong, what to do."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(f"{option}: {message}")


@contextlib.contextmanager
def value_of(option: str) -> Iterator[None]:
    """Raises BadOption for a ValueError inside the block."""
    try:
        yield
    except ValueError as error:
        raise BadOption(option, str(error)) from None


def seconds_of(text: str, option: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``1h``, ``1h30m``. Raises BadOption."""
    from eqfuzz.campaign.durations import seconds

    with value_of(option):
        return seconds(text)


def time_limit(text: str | None) -> float | None:
    """Seconds of ``--time``, None for no limit. Raises BadOption."""
    return None if text is None else seconds_of(text, "--time")


def dollars_of(text: str, option: str) -> Decimal | None:
    """Dollars of ``1``, ``0.25``, ``$1.00``; None for an empty text. Raises BadOption."""
    if not text:
        return None
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise BadOption(option, f"{text!r} is no amount of dollars: write 1.00")
    return amount


def split_names(texts: Sequence[str] | None) -> list[str]:
    """``["a,b", "c"]`` as ``["a", "b", "c"]``."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def job_count(jobs: int | None) -> int:
    """``--jobs``, or one for each core that this process may use."""
    return jobs or len(os.sched_getaffinity(0))


def configs_of(names: Sequence[str] | None, file: Path | None = None) -> tuple[Config, ...]:
    """The configurations of ``--config``; none named: those of ``file``, else ``inductor``. Raises BadOption."""
    from eqfuzz.run.configs.named import choose, known_configs

    with value_of("--configs-from"):
        configs = known_configs(file)
    with value_of("--config"):
        return choose(split_names(names), configs)


def seed_configs_of(names: Sequence[str] | None, file: Path | None = None) -> dict[str, Config]:
    """The configurations that a seed may name for itself: none where the user chose some. Raises BadOption."""
    from eqfuzz.run.configs.named import known_configs, open_to_seeds

    with value_of("--configs-from"):
        return open_to_seeds(split_names(names), known_configs(file))


def checks_of(added: Sequence[str] | None, removed: Sequence[str] | None) -> tuple[str, ...]:
    """The default checks with those of ``--check`` and without those of ``--no-check``. Raises BadOption."""
    from eqfuzz.oracle.compare.checks import choose_checks, require_checks

    for option, texts in (("--check", added), ("--no-check", removed)):
        with value_of(option):
            require_checks(split_names(texts))
    return choose_checks(split_names(added), split_names(removed))


def require_writable_file(option: str, path: Path | None) -> None:
    """Raises BadOption where ``path`` is a folder or lies in no folder."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise BadOption(option, f"{path}: " + ("a folder" if path.is_dir() else f"no folder {path.parent}"))


def known_issues_of(files: list[Path] | None, none: bool) -> tuple[Path, ...]:
    """The lists of known issues that --known-issues and --no-known-issues select."""
    from eqfuzz.triage.findings.known_issues import known_issue_files

    return () if none else known_issue_files(files or [])


def require_cuda() -> None:
    """Raises BadOption where torch finds no device."""
    if not has_cuda():
        raise BadOption("--device cuda", "torch finds no CUDA device here; leave it out, or see `eqfuzz doctor`")


def has_cuda() -> bool:
    """Whether torch finds a CUDA device."""
    import torch

    return torch.cuda.is_available()
