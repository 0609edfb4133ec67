"""Prices of tokens in dollars: given by the user, or from the table of ``genai-prices``."""

from __future__ import annotations

import dataclasses
from decimal import Decimal, InvalidOperation
from typing import Protocol

from eqfuzz.generate.llm.model.endpoint import Endpoint

MILLION = Decimal(1_000_000)


class NoPrice(ValueError):
    """The price of the model is unknown; ``str()`` is one line with what to do."""


class Price(Protocol):
    def dollars(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        """``cached_tokens`` of the input were cached by the server, and may be cheaper."""
        ...


@dataclasses.dataclass(frozen=True)
class OwnPrice:
    """Dollars per million tokens of input and output."""

    input: Decimal
    output: Decimal

    def dollars(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


@dataclasses.dataclass(frozen=True)
class ListedPrice:
    """The price of ``model`` at the provider with the address ``url``, from the installed table."""

    model: str
    url: str

    def dollars(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        """Raises LookupError where the table has no such provider or model."""
        from genai_prices import Usage, calc_price

        usage = Usage(
            input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=min(cached_tokens, input_tokens)
        )
        return calc_price(usage, model_ref=self.model, provider_api_url=self.url).total_price


def price_of(endpoint: Endpoint, own: str) -> Price:
    """``own`` is ``IN,OUT`` in dollars per million tokens; empty: from the table. Raises NoPrice."""
    if own:
        parts = own.split(",")
        try:
            amounts = [Decimal(part.strip()) for part in parts]
        except InvalidOperation:
            amounts = []
        if len(amounts) != 2 or not all(amount.is_finite() and amount >= 0 for amount in amounts):
            raise NoPrice(f"{own!r}: write dollars per million tokens of input and output, as in 0.15,0.60")
        return OwnPrice(*amounts)
    listed = ListedPrice(endpoint.model, endpoint.base_url)
    try:
        listed.dollars(1, 1)
    except LookupError:
        raise NoPrice(
            f"no price is known for {endpoint.model!r} at {endpoint.host}: "
            "give it, in dollars per million tokens of input and output (0,0 for a local server)"
        ) from None
    return listed
