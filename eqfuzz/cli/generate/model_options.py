"""What options about a language model have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from eqfuzz.cli.options import BadOption

_OPTIONS = {
    "model": "--model",
    "prompts": "--prompt",
    "base_url": "--base-url",
    "key_env": "--key-env",
    "key_file": "--key-file",
    "price": "--price",
    "targets": "--target",
}


@contextlib.contextmanager
def named_as_options() -> Iterator[None]:
    """What is wrong with an order is told as a BadOption."""
    from eqfuzz.generate.llm.request import InvalidRequest

    try:
        yield
    except InvalidRequest as error:
        hint = "; or name another with --key-env or --key-file" if error.entry.startswith("key") else ""
        raise BadOption(_OPTIONS[error.entry], f"{error}{hint}") from None


def dollars_of(text: str, option: str) -> Decimal | None:
    """Dollars of ``1``, ``0.25``, ``$1.00``; None for nothing. Raises BadOption."""
    if not text:
        return None
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise BadOption(option, f"{text!r} is no amount of dollars: write 1.00")
    return amount
