"""What an audit found: operators that are wrong by themselves. Imports no torch."""

from __future__ import annotations

import dataclasses
from typing import Any

from eqfuzz.oracle.compare.verdict import Evidence

_STORED = ("index", "eager", "compiled", "reference", "allowed", "wrong_elements", "elements")
"""The fields of ``evidence`` that are stored; the others do not apply to one operator."""


@dataclasses.dataclass(frozen=True)
class SourceLocation:
    """``text`` is the source line. All empty, with line 0, if torch has no stack trace."""

    file: str = ""
    line: int = 0
    function: str = ""
    text: str = ""


@dataclasses.dataclass(frozen=True)
class Disagreement:
    """A wrong compiled result of an operator.

    ``part`` is its position among several results. ``evidence`` has the numbers of the worst element; it has none where
    dtype or shape are wrong.
    """

    message: str
    dtype: str
    shape: tuple[int, ...]
    part: int = 0
    evidence: Evidence = dataclasses.field(default_factory=Evidence)

    def to_json(self) -> dict[str, Any]:
        numbers = {name: getattr(self.evidence, name) for name in _STORED}
        return {"message": self.message, "dtype": self.dtype, "shape": self.shape, "part": self.part, **numbers}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Disagreement:
        numbers = {name: data[name] for name in _STORED}
        numbers["index"] = None if numbers["index"] is None else tuple(numbers["index"])
        return cls(data["message"], data["dtype"], tuple(data["shape"]), data["part"], Evidence(**numbers))


@dataclasses.dataclass(frozen=True)
class Suspect:
    """An operator whose compiled value is wrong for its operands in the compiled run.

    Attributes:
        operator: Its ATen name.
        expression: The call with its operands written out.
        graph: Number of its graph in the order of compilation.
        kind: ``forward``, ``backward`` or ``inference``.
        node: Name of its node in the graph.
        place: The statement of the program that it stems from.
        half: Whether an operand or result has a half-precision dtype.
        disagreement: The wrong value.
    """

    operator: str
    expression: str
    graph: int
    kind: str
    node: str
    place: SourceLocation
    half: bool
    disagreement: Disagreement

    def in_words(self) -> str:
        """One line: the operator, its statement, the wrong value."""
        where = f"line {self.place.line} `{self.place.text}`" if self.place.line else "an unknown line"
        return f"{self.operator} at {where}: {self.disagreement.message}"

    def to_json(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name != "disagreement"}
        return {**plain, "place": dataclasses.asdict(self.place), "found": self.disagreement.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Suspect:
        plain = {name: value for name, value in data.items() if name != "found"}
        plain["place"] = SourceLocation(**data["place"])
        return cls(**plain, disagreement=Disagreement.from_json(data["found"]))


@dataclasses.dataclass(frozen=True)
class Audit:
    """The result of an audit. ``audited`` counts the operators judged, ``skipped`` those that were not, by reason."""

    suspects: tuple[Suspect, ...]
    graphs: int
    audited: int
    skipped: dict[str, int]
    raised: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "suspects": [suspect.to_json() for suspect in self.suspects]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Audit:
        return cls(**{**data, "suspects": tuple(Suspect.from_json(suspect) for suspect in data["suspects"])})
