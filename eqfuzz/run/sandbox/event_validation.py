"""What a case that is not trusted may say: events of a known shape, about its own cells, in bounded numbers.

Its process could write anything on its pipe. What passes here may still be untrue, but it is about its own case alone.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.protocol import BadEvent, Event, one_line

LINE_BYTES = 16 * 2**20
EVENTS = 2000
"""That a case may send, and besides as many for each cell."""

EVENTS_OF_CELL = 20
FEATURES = 100_000

_FAR = 86_400.0
_LONG_STAGE = 1800.0

Seconds = Annotated[FiniteFloat, Field(ge=0, le=_FAR)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Name = Annotated[str, StringConstraints(max_length=1000, pattern=r"^[^\n\r]*$")]
Identifier = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\W\d]\w*$")]
Text = Annotated[str, StringConstraints(max_length=4 * 2**20)]
Words = Annotated[str, StringConstraints(max_length=100_000)]


class _Exact(BaseModel):
    """Nothing is converted, and nothing may be there besides."""

    model_config = ConfigDict(strict=True, extra="forbid")


class _Evidence(_Exact):
    call: Count
    path: Name
    index: list[Count] | None
    eager: JsonValue
    compiled: JsonValue
    reference: JsonValue
    allowed: float | None
    wrong_elements: Count
    elements: Count
    unstable_elements: Count
    frames: list[Name]


_KINDS = frozenset(map(str, VerdictKind))


class _Verdict(_Exact):
    kind: str
    message: Words
    evidence: _Evidence | None
    cause: Name = ""

    @field_validator("kind")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value not in _KINDS:
            raise ValueError(f"no kind of verdict: {one_line(value, 40)}")
        return value


class _Step(_Exact):
    rule: Name
    line: Count
    before: Text
    after: Text
    start: Count


class _Told(_Exact):
    source: Text
    derivation: list[_Step]
    exactness: Name


class _Event(_Exact):
    event: str


class _Stage(_Event):
    stage: Name
    seconds: float
    variant: Count = 0
    device: Name = ""
    config: Name = ""


class _Invalid(_Event):
    reason: Words
    line: int | None


class _Rewritten(_Event):
    sites: Count
    cells: Count
    variants: list[_Told]
    found: list[_Step]


class _Cell(_Event):
    variant: Count
    device: Name
    config: Name
    verdict: _Verdict
    seconds: Seconds
    compiled: dict[Name, Count] | None
    erased: bool
    features: list[int] = Field(default_factory=list[int], max_length=FEATURES)


class _Lines(_Event):
    files: dict[Name, Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[0-9a-f]+$")]]


class _Timings(_Event):
    seconds: dict[Name, Seconds]
    peak_mb: Count
    kernels: dict[Name, Count] = Field(default_factory=dict[str, int])


class _Match(_Exact):
    step: _Step
    source: Text


class _Miss(_Exact):
    line: Count
    text: Text
    bindings: dict[Name, Text]
    reason: Words


class _Explained(_Event):
    rule: Name
    matches: list[_Match]
    misses: list[_Miss]
    looked_at: Count


class _Suspects(_Event):
    suspects: list[Name]


class _Audited(_Event):
    audit: dict[str, JsonValue]


class _Bisection(_Exact):
    backend: Name
    subsystem: Name | None = None
    bisect_number: Count | None = None
    debug_info: Words | None = None


class _Bisected(_Event):
    verdict: _Verdict
    found: _Bisection | None
    problem: Words


class _Same(_Event):
    found: dict[Name, dict[Name, bool]]


class _Described(_Event):
    calls: Annotated[str, StringConstraints(max_length=LINE_BYTES)]
    state: Annotated[str, StringConstraints(max_length=LINE_BYTES)] | None
    packs: bool
    changes: list[Annotated[list[Text], Field(min_length=3, max_length=3)]]
    globals: list[Identifier]
    functions: list[Identifier]
    problem: Words


class _Judged(_Event):
    verdict: _Verdict


class _Reached(_Event):
    parts: list[Name]


class _Rederived(_Told, _Event):
    pass


_SHAPES: dict[str, TypeAdapter[Any]] = {
    name: TypeAdapter(shape)
    for name, shape in {
        "stage": _Stage,
        "invalid": _Invalid,
        "rewritten": _Rewritten,
        "cell": _Cell,
        "lines": _Lines,
        "timings": _Timings,
        "explained": _Explained,
        "audited": _Suspects | _Audited,
        "bisected": _Bisected,
        "same": _Same,
        "described": _Described,
        "judged": _Judged,
        "rederived": _Rederived,
        "reached": _Reached,
    }.items()
}


class EventValidator:
    """Checks the events of one ``case``, one after the other.

    ``seconds`` is what the case may take in all, ``line_bytes`` how long one event may be.
    """

    line_bytes = LINE_BYTES

    def __init__(self, case: dict[str, Any]) -> None:
        devices, configs = case.get("devices", ()), case.get("configs", ())
        self._places = {(device, config["name"]) for device in devices for config in configs} | {("", "")}
        self._variants: int = case.get("variants", 0)
        self._cells: set[tuple[int, str, str]] = set()
        self._rewritten = False
        self._told = 1  # the program that a job about one finding looks at
        self._count = 0
        cells = (1 + min(self._most_variants(), 1000)) * max(1, len(configs) * len(devices))
        self._most = EVENTS + EVENTS_OF_CELL * cells
        compile_seconds, eager_seconds = case.get("compile_seconds", 90.0), case.get("eager_seconds", 10.0)
        self._longest = max(_LONG_STAGE, 5 * compile_seconds)
        self.seconds = 600.0 + 40 * eager_seconds + cells * (2 * compile_seconds + 10 * eager_seconds)

    def _most_variants(self) -> int:
        """With the strategy ``each``, 0 stands for every one."""
        return self._variants or 1000

    def check(self, event: Event) -> None:
        """Raises BadEvent where this case has no business to say so."""
        self._count += 1
        if self._count > self._most:
            raise BadEvent(f"more than {self._most} events")
        name = event["event"]
        shape = _SHAPES.get(name)
        if shape is None:
            raise BadEvent(f"no event of a case: {one_line(repr(name), 80)}")
        try:
            # What has no form in UTF-8 could not be written down later.
            json.dumps(event, ensure_ascii=False).encode()
            shape.validate_python(event)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise BadEvent(f"a false {name} event: {one_line(words, 200)}") from None
        except (ValueError, RecursionError) as error:
            raise BadEvent(f"a false {name} event: {one_line(str(error), 200)}") from None
        if name in ("stage", "cell"):
            self._check_place(event)
        if name == "rewritten":
            self._take_variants(event)

    def _check_place(self, event: Event) -> None:
        place = event.get("device", ""), event.get("config", "")
        if place not in self._places:
            raise BadEvent(f"a cell that the case does not have: {one_line(repr(place), 80)}")
        if event.get("variant", 0) > self._told:
            raise BadEvent("a variant that the case does not have")
        if event["event"] == "stage" and not event["seconds"] <= self._longest:
            raise BadEvent(f"a stage of more than {self._longest:g} seconds")
        if event["event"] == "cell":
            cell = event["variant"], *place
            if cell in self._cells:
                raise BadEvent("a cell told twice")
            self._cells.add(cell)

    def _take_variants(self, event: Event) -> None:
        if self._rewritten:
            raise BadEvent("told twice how it is rewritten")
        if len(event["variants"]) > self._most_variants():
            raise BadEvent("more variants than were asked for")
        self._rewritten = True
        self._told = len(event["variants"])
