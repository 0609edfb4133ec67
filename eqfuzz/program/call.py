"""One call of a program: its arguments, and changes of state around it."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Call:
    """The arguments of one call, and the state it is made in.

    ``label`` says in words what is special about it ("new values"); empty for the seed's own input sets. ``before`` is
    Python text executed before the call, in the namespace of the program's module with ``torch`` and the callable as
    ``model`` (``model.eval()``, ``globals()['SCALE'] = 3``); what it changes stays changed. It imports nothing: the
    reproducer has it in a function, where a name that is bound once is local throughout. ``within`` is an expression
    for the context that the call is made in (``torch.no_grad()``).
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    label: str = ""
    before: str = ""
    within: str = ""

    def copy(self) -> Call:
        """A deep copy that keeps strides, offsets and aliasing between the arguments."""
        args, kwargs = copy.deepcopy((self.args, self.kwargs))
        return dataclasses.replace(self, args=args, kwargs=kwargs)
