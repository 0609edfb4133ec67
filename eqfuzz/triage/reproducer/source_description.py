"""Inputs and state of a program as Python source, made in a child."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it needs torch, which showing findings does not
    from eqfuzz.run.messages.finding_jobs import CallsDescribed


@dataclasses.dataclass(frozen=True)
class SourceDescription:
    """A program's inputs and state as Python source, made in a child: ``calls`` is a function body.

    ``changes`` are ``(label, before, within)`` of each call (see ``Call``), ``globals`` the names of the plain globals
    that the program may change or make, ``functions`` those of its functions and classes that hold on to what a call
    may change.
    """

    calls: str
    state: str | None
    packs: bool
    changes: tuple[tuple[str, str, str], ...] = ()
    globals: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: CallsDescribed) -> SourceDescription:
        """From a child's answer."""
        return cls(answer.calls, answer.state, answer.packs, answer.changes, answer.globals, answer.functions)

    @property
    def invocation(self) -> str:
        """The expression that makes call ``number``."""
        changed = any(before or within for _, before, within in self.changes)
        return "call(model, number, args, kwargs)" if changed else "model(*args, **kwargs)"
