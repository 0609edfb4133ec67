"""Provenance of seeds: TOML in the comments at the top of a file, in the form of inline metadata (PEP 723).

    # /// eqfuzz
    # source = "llm"
    # model = "some-model"
    # dollars = 0.0004
    # ///

``configs = "inductor-scalar-outputs"`` names the compile configurations that the seed is for, separated by commas;
``weights = "NAME.safetensors"`` the file beside the seed with the tensors that it reads as ``weights["…"]``;
``private = true`` keeps the values of its inputs out of reproducers.

A file without the block belongs to the user. Seeds of language models, and variants of seeds that ran as untrusted
(``unknown``), are untrusted: they run in the sandbox.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from types import MappingProxyType

from eqfuzz.program.toml_values import toml_value

LLM = "llm"
TEMPLATE = "template"
UNKNOWN = "unknown"
UNTRUSTED_SOURCES = frozenset({LLM, UNKNOWN})

_BLOCK = re.compile(r"\A(?:#!.*\n)?# /// eqfuzz\n(?P<lines>(?:#(?: .*)?\n)*?)# ///(?:\n|\Z)")


class InvalidProvenance(ValueError):
    """The block at the top of a seed is not TOML, or what it says cannot be used; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class Provenance:
    """``source`` says who wrote the seed (``llm``, ``person``, ``onnx``, …); ``details`` are whatever else is known.

    ``configs`` are names of the compile configurations that it is for; empty: the usual ones. ``weights`` is the name
    of a file beside it; empty: it has none. ``private``: whether reproducers have its inputs in a file of their own.
    """

    source: str
    details: Mapping[str, str | int | float | bool] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    configs: tuple[str, ...] = ()
    weights: str = ""
    private: bool = False

    @property
    def untrusted(self) -> bool:
        """Whether the seed runs in the sandbox."""
        return self.source in UNTRUSTED_SOURCES

    def header(self) -> str:
        """The block of comments, which ends with a newline."""
        configs = {"configs": ",".join(self.configs)} if self.configs else {}
        weights = {"weights": self.weights} if self.weights else {}
        private = {"private": True} if self.private else {}
        fields = {"source": self.source, **configs, **self.details, **weights, **private}
        lines = (f"# {key} = {toml_value(value)}\n" for key, value in fields.items())
        return "".join(["# /// eqfuzz\n", *lines, "# ///\n"])


def provenance_of(text: str) -> Provenance | None:
    """The provenance in the ``text`` of a seed; None where it has no block. Raises InvalidProvenance."""
    match = _BLOCK.match(text)
    if match is None:
        return None
    lines = (line[2:] for line in match["lines"].split("\n"))
    try:
        fields = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise InvalidProvenance(f"the block `# /// eqfuzz` is not TOML: {error}") from None
    source = fields.pop("source", None)
    if not isinstance(source, str):
        raise InvalidProvenance('the block `# /// eqfuzz` does not say `source = "..."`')
    configs = fields.pop("configs", "")
    if not isinstance(configs, str):
        raise InvalidProvenance('the block `# /// eqfuzz` has no text as configs: write `configs = "NAME,NAME"`')
    weights = fields.pop("weights", "")
    if not isinstance(weights, str) or weights in (".", "..") or "/" in weights or "\\" in weights:
        raise InvalidProvenance(
            'the block `# /// eqfuzz` has no name of a file beside it as weights: write `weights = "NAME"`'
        )
    private = fields.pop("private", False)
    if not isinstance(private, bool):
        raise InvalidProvenance("the block `# /// eqfuzz` has no truth value as private: write `private = true`")
    names = tuple(name.strip() for name in configs.split(",") if name.strip())
    return Provenance(source, fields, names, weights, private)


def split_provenance(text: str) -> tuple[str, str]:
    """The block of comments at the top of a seed, empty where it has none, and the rest of its ``text``."""
    match = _BLOCK.match(text)
    return (text[: match.end()], text[match.end() :]) if match else ("", text)
