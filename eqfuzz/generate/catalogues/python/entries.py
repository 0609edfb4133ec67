"""Entries of the catalogue of Python: expressions that do different things, next to a tensor operator."""

from __future__ import annotations

import dataclasses
import itertools
import random
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.eager import namespace
from eqfuzz.generate.catalogues.expression import WrittenCall
from eqfuzz.generate.catalogues.python import calls
from eqfuzz.generate.catalogues.python.helpers import STATEMENTS
from eqfuzz.generate.catalogues.sample import Sample
from eqfuzz.generate.catalogues.text import unnumbered
from eqfuzz.oracle.observe.leaves import leaves, structure

DTYPE = torch.float32

_MOST = 12
"""Samples of an entry that return."""

_MOST_RAISING = 3
"""Samples of an entry that raise, each another class."""

_RAISES = "raises"

_USES_OPERAND = re.compile(r"\$\{x\}(?!\.shape)")

_OPERAND = "${x}"
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, torch.Size)
_LONGEST = 2000
"""Characters of a result, written out."""

_FIRST = 7
"""Items of an iterator that are part of the result: it may be endless."""


@dataclasses.dataclass(frozen=True)
class PythonSample:
    """An expression of Python. Its result has a tensor too, as code without tensors is not compiled."""

    text: str

    @property
    def is_guess(self) -> bool:
        return True

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [_operand()]

    def ready(self) -> Callable[[], Any]:
        (operand,) = self.tensors
        return partial(eval, unnumbered(self._expression), {**namespace(), "x": operand})

    def written(self) -> WrittenCall:
        return WrittenCall(self._expression, {"x": _operand()})

    @property
    def _expression(self) -> str:
        return f"({_OPERAND}.neg(), {self.text})"


@dataclasses.dataclass(frozen=True)
class PythonEntry:
    """A method, function, operator or statement of Python. ``candidates`` are expressions that may be samples."""

    name: str
    candidates: Callable[[random.Random], Iterator[str]]

    def supports(self, dtype: torch.dtype) -> bool:
        """Operands of one dtype are enough: they are never computed with."""
        return dtype is DTYPE

    def samples(self, dtype: torch.dtype) -> Iterator[Sample]:
        """Expressions of different results, the types of results in turn."""
        scope = {**namespace(), "x": _operand()}
        kinds: dict[str, list[str]] = {}
        results: set[str] = set()
        for text in self.candidates(random.Random(f"eqfuzz python {self.name}")):
            outcome = _outcome(text, scope)
            if outcome is None:
                continue
            text, kind, result = outcome
            if result not in results:
                results.add(result)
                kinds.setdefault(kind, []).append(text)
        returning = _in_turn([texts for kind, texts in kinds.items() if not kind.startswith(_RAISES)])
        raising = _in_turn([texts for kind, texts in kinds.items() if kind.startswith(_RAISES)])
        yield from map(PythonSample, (*returning[:_MOST], *raising[:_MOST_RAISING]))


def _in_turn(groups: Sequence[Sequence[str]]) -> list[str]:
    """The first of each, then the second of each, and so on."""
    return [text for row in itertools.zip_longest(*groups) for text in row if text is not None]


def _outcome(text: str, scope: dict[str, Any]) -> tuple[str, str, str] | None:
    """The expression with a plain result, and kind and text of that; None where it has none."""
    try:
        value = _evaluated(text, scope)
        if hasattr(value, "__next__"):
            text = f"list(itertools.islice({text}, {_FIRST}))"
            value = _evaluated(text, scope)
        result = f"{structure(value)} {leaves(value, '')}"
    except SyntaxWarning:  # a reader would be warned of such a program
        return None
    except Exception as error:  # what Python raises is a result as good as another
        if _USES_OPERAND.search(text):  # operators of torch raise after the compiled statement
            return None
        kind = type(error).__name__
        return f"outcome(lambda: {text})", f"{_RAISES} {kind}", kind
    return (text, _kind(value), result) if _is_plain(value) and len(result) <= _LONGEST else None


def _evaluated(text: str, scope: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SyntaxWarning)
        return eval(unnumbered(text), dict(scope))


def _is_plain(value: Any) -> bool:
    """Whether it consists of numbers, texts, tensors and the containers that Python's own are subclassed from."""
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    if isinstance(value, (set, frozenset)):
        return all(_is_plain(one) and not isinstance(one, torch.Tensor) for one in value)
    if isinstance(value, (list, tuple)) or type(value).__module__ == "collections":
        return all(map(_is_plain, value))
    return isinstance(value, (*_PLAIN, torch.Tensor))


def _kind(value: Any) -> str:
    """The type, and that of the first item. The order of a set differs between processes."""
    items = iter(value) if isinstance(value, (list, tuple, dict)) else iter(())
    return " ".join([type(value).__name__, *(type(item).__name__ for item in itertools.islice(items, 1))])


def _operand() -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(3, 2)


def entries_of_python() -> list[PythonEntry]:
    """Methods by type, functions, operators, changes in place, statements."""
    return [
        *(
            PythonEntry(f"{owner.__name__.lower()}_{name}", partial(calls.calls_of_method, owner, name))
            for owner in calls.RECEIVERS
            for name in calls.methods(owner)
        ),
        *(
            PythonEntry(f"py_{name.replace('.', '_')}", partial(calls.calls_of_function, name))
            for name in calls.functions()
        ),
        *(PythonEntry(f"expression_{name}", partial(calls.calls_of_operator, name)) for name in calls.OPERATORS),
        *(PythonEntry(f"update_{name}", partial(calls.updates, name)) for name in calls.UPDATES),
        *(PythonEntry(f"statement_{name}", partial(_calls_of_statement, name)) for name in STATEMENTS),
    ]


def _calls_of_statement(name: str, rng: random.Random) -> Iterator[str]:
    return (f"{name}({arguments})" for arguments in STATEMENTS[name])
