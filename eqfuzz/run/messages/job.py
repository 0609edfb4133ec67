"""Jobs and the events that every job has: a child's start of a stage, its end, and what the parent adds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, StringConstraints

from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.codec import Decoder, Message, decoder_of

_LONGEST = 86_400.0

Seconds = Annotated[float, Field(ge=0, le=_LONGEST, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Name = Annotated[str, StringConstraints(max_length=1000, pattern=r"^[^\n\r]*$")]
Identifier = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\W\d]\w*$")]
Text = Annotated[str, StringConstraints(max_length=4 * 2**20)]

MAX_STAGE_SECONDS = 1e6


class ChildEvent(Message):
    """What a child reports while it runs a job, and how it ended."""

    @property
    def cell(self) -> tuple[int, str, str] | None:
        """The variant, device and configuration that it is about; None where it is about no cell."""
        return None

    @property
    def unique_key(self) -> Hashable:
        """Equal for events of which one job sends at most one; None where there may be many."""
        return None

    @property
    def variant_count(self) -> int | None:
        """How many variants there are, where it says so."""
        return None


Emit = Callable[[ChildEvent], None]
"""Report an event to the parent."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class StageEntered(ChildEvent):
    """A stage begins, which may take so many ``seconds`` of wall time. Raises ValueError for seconds out of range."""

    event: Literal["stage"] = "stage"
    stage: Name
    seconds: float
    variant: Count = 0
    device: Name = ""
    config: Name = ""

    def __post_init__(self) -> None:
        if not 0 < self.seconds < MAX_STAGE_SECONDS:
            raise ValueError(f"a stage of {self.seconds:g} seconds")

    @property
    def cell(self) -> tuple[int, str, str]:
        return self.variant, self.device, self.config


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramInvalid(ChildEvent):
    """The program cannot be a seed; ``line`` is where in its text, if known."""

    event: Literal["invalid"] = "invalid"
    reason: Text
    line: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChildFinished(ChildEvent):
    """The last event that a child sends: the job has returned, or raised ``error`` (one line)."""

    event: Literal["finished"] = "finished"
    error: str | None = None
    traceback: str | None = None
    cpu_total: float = 0.0


Reason = Literal["done", "crash", "hang", "output", "memory", "error", "forbidden"]
"""Why a child ended; ``forbidden``: it was not trusted, and did what no job does."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChildExit(ChildEvent):
    """How a child ended: the last event of a job, added by the parent.

    Attributes:
        reason: Why it ended.
        detail: One line.
        stage: The last stage entered; None before the first.
        cpu_seconds: CPU seconds of the child and what it started.
        wall_seconds: Wall seconds from its start to its end.
        output: The end of what was printed, and the stack.
    """

    event: Literal["exit"] = "exit"
    reason: Reason
    detail: str = ""
    stage: str | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    output: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobRestarted(ChildEvent):
    """The process that children are forked from died: the job starts again, and earlier events are void."""

    event: Literal["restart"] = "restart"
    detail: str


A = TypeVar("A", bound=ChildEvent)


@dataclasses.dataclass(frozen=True)
class JobScope:
    """What an untrusted child may report about: cells of these devices and configurations, so many variants.

    With 0 ``variants`` there is no limit but the one that holds for every job.
    """

    devices: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    variants: int = 0
    limits: Limits = dataclasses.field(default_factory=Limits)


class Job(Message, Generic[A]):
    """One request to a child process. ``A`` is the event that answers it.

    A subclass is a frozen dataclass with a ``Literal`` field ``job``. ``EVENTS`` are the classes of what its child may
    report besides stages, ``ANSWER`` is ``A``. ``TARGET`` names the ``JobTarget`` that runs it: ``module:attribute``.
    """

    TAG = "job"
    TARGET: ClassVar[str] = "eqfuzz.run.jobs.dispatch:TARGET"
    EVENTS: ClassVar[tuple[type[ChildEvent], ...]]
    ANSWER: ClassVar[type[ChildEvent]]

    @property
    def is_untrusted(self) -> bool:
        """Whether the child must run in a sandbox."""
        return False

    @property
    def scope(self) -> JobScope:
        """What its child may report about, if it is untrusted."""
        return JobScope()

    @classmethod
    def decoder(cls) -> Decoder[ChildEvent]:
        """Decodes what its child sends."""
        return decoder_of(StageEntered, ChildFinished, *cls.EVENTS)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobReply(Generic[A]):
    """What came of a job: its last ``answer``, if any, and how the child ended.

    ``stage`` is the last stage that the child entered (``start`` before the first), ``invalid`` why the program is no
    seed, if it is none.
    """

    answer: A | None
    exit: ChildExit
    stage: str = "start"
    invalid: ProgramInvalid | None = None


class JobTarget:
    """What a child can do: a function for each class of job."""

    def __init__(self, functions: Mapping[type[Job[Any]], Callable[[Any, Emit], object]]) -> None:
        self._functions = functions
        self._decoder: Decoder[Job[Any]] = Decoder(*functions)

    def run(self, request: bytes, emit: Emit) -> None:
        """Run the job in ``request``. Raises ``BadMessage`` where that is none, and what the job raises."""
        job = self._decoder.decode(request)
        self._functions[type(job)](job, emit)
