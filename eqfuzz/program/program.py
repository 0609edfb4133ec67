"""Programs: source text, an expression for the callable, an expression for the inputs."""

from __future__ import annotations

import dataclasses
import hashlib
from enum import StrEnum
from typing import Any


class SeedFormat(StrEnum):
    """The seed formats that eqfuzz recognises by content."""

    EQFUZZ = "eqfuzz"
    PTMODULE = "ptmodule"
    TORCHFUZZ = "torchfuzz"
    KERNELBENCH = "kernelbench"
    WHITEFOX = "whitefox"


class InvalidSeed(Exception):
    """A file that cannot be a seed. ``str()`` is one line: where, what is wrong, what to do."""

    def __init__(self, name: str, reason: str, line: int | None = None) -> None:
        self.name = name
        self.reason = reason
        self.line = line
        super().__init__(f"{name}:{line}: {reason}" if line else f"{name}: {reason}")


@dataclasses.dataclass(frozen=True)
class Program:
    """A runnable program.

    Attributes:
        name: What reports call it, such as the path of its file.
        source: Its text with the line numbers of the file it came from: statements that must not run are blanked.
        format: How it was recognised.
        entry: Name of the function or class under test.
        construct: Expression that gives the callable (``program``, ``Model()``), evaluated in the module's namespace.
        inputs: Expression that gives the arguments, evaluated there with ``rng`` in scope.
        untrusted: Whether it runs in the sandbox.
        configs: Names of the compile configurations that it is for; empty: the usual ones.
        weights: Absolute path of a safetensors file whose tensors the text reads as ``weights["…"]``; empty: none.
        private: Whether reproducers have the values of inputs in a file of their own.
    """

    name: str
    source: str
    format: SeedFormat
    entry: str
    construct: str
    inputs: str
    untrusted: bool = False
    configs: tuple[str, ...] = ()
    weights: str = ""
    private: bool = False

    @property
    def digest(self) -> str:
        """Sixteen hex digits that name this program's text and entry."""
        text = "\0".join((self.source, self.construct, self.inputs))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def is_module(self) -> bool:
        """Whether the entry is an ``nn.Module`` class (else a function)."""
        return self.construct != self.entry

    def with_source(self, source: str) -> Program:
        """The same program with other text: how a variant is made."""
        return dataclasses.replace(self, source=source)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Program:
        values = {**data, "format": SeedFormat(data["format"]), "configs": tuple(data.get("configs", ()))}
        return cls(**values)
