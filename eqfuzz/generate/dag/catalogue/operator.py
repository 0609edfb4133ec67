"""What an operator is: what it can make, what it needs for that, and how it is written."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Range, Spec

Values = Callable[..., Range]


class InvalidOperators(Exception):
    """A file of operators that cannot be used; the message names it and says why."""


@dataclasses.dataclass(frozen=True)
class Needs:
    """What one use of an operator needs; ``Needs(first, second, dim=1)``.

    Positional: the specs of the inputs. ``values``: the range of the output, or a function that gives it from the
    inputs' ranges (without it: that of all inputs together). ``outputs``: the specs of all that the operator returns,
    where that is a tuple; the one asked for is number ``picked``. ``layers``: submodules by the name of the parameter
    that stands for them, as code that builds them. ``spellings``: how this use is written, where that is not how the
    operator is written elsewhere. All other keywords are what the spelling's other holes are filled with.
    """

    inputs: tuple[Spec, ...]
    values: Values | Range | None
    outputs: tuple[Spec, ...]
    picked: int
    layers: Mapping[str, str]
    spellings: tuple[str, ...]
    params: Mapping[str, Any]

    def __init__(
        self,
        *inputs: Spec,
        values: Values | Range | None = None,
        outputs: Iterable[Spec] = (),
        picked: int = 0,
        layers: Mapping[str, str] | None = None,
        spellings: Iterable[str] = (),
        **params: Any,
    ) -> None:
        given = {
            "inputs": inputs,
            "values": values,
            "outputs": tuple(outputs),
            "picked": picked,
            "layers": layers or {},
            "spellings": tuple(spellings),
            "params": params,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def range_of(self, ranges: list[Range]) -> Range:
        """The output's values. Raises Unfit as the declaration does."""
        if isinstance(self.values, Range):
            return self.values
        if self.values is not None:
            return self.values(*ranges)
        return ranges[0].over(*ranges[1:]) if ranges else Range(-1e4, 1e4)


@dataclasses.dataclass(frozen=True)
class Operator:
    """One short declaration, made by the decorator `operator`.

    ``name`` is how ``--supported-ops`` spells it. ``spellings`` are expressions with a hole for each input, ``{0}``,
    and for each parameter, ``{dim}``. ``dtypes`` and ``ranks`` are those of what it makes. ``exact``: exact inputs
    give an exact result. ``grad``: it can be differentiated, or does not depend on its inputs smoothly at all; or the
    dtypes for which that is so.
    ``saves``: its backward pass reads what went in or came out, so that neither may be written over. ``view``: what it
    makes may share the first input's memory. ``written``: such a view may be written to; not where its elements share
    memory, or where autograd forbids it. ``dense``: contiguous inputs give a contiguous result; where that is not said,
    they do unless it is a view. ``inplace``: statements that write the result over the first input.
    ``out``: calls that write it to a tensor ``{out}``. ``noun``: what a person would call the result.
    """

    name: str
    family: str
    spellings: tuple[str, ...]
    dtypes: frozenset[str]
    ranks: range
    needs: Callable[[Draw, Spec], Needs]
    exact: bool = False
    grad: bool | frozenset[str] = True
    saves: bool = True
    view: bool = False
    dense: bool | None = None
    written: bool = True
    inplace: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    noun: str = ""
    weight: float = 1.0
    doc: str = ""

    def differentiates(self, dtype: str) -> bool:
        """Whether gradients flow through it where the result is of this dtype."""
        return self.grad if isinstance(self.grad, bool) else dtype in self.grad

    def can_make(self, dtype: str, rank: int, exact: bool) -> bool:
        return dtype in self.dtypes and rank in self.ranks and (self.exact or not exact)


REGISTRY: dict[str, Operator] = {}


def operator(
    name: str,
    *spellings: str,
    dtypes: Iterable[str],
    rank: tuple[int, int] = (0, 5),
    family: str = "",
    exact: bool = False,
    grad: bool | Iterable[str] = True,
    saves: bool = True,
    view: bool = False,
    dense: bool | None = None,
    written: bool = True,
    inplace: Iterable[str] = (),
    out: Iterable[str] = (),
    noun: str = "",
    weight: float = 1.0,
) -> Callable[[Callable[[Draw, Spec], Needs]], Callable[[Draw, Spec], Needs]]:
    """Declare an operator; the function decorated says what one use needs to make a spec, or raises Unfit.

    ``rank`` gives the least and the most dimensions of what it makes. Raises ValueError for a second one of a name.
    """

    def declare(needs: Callable[[Draw, Spec], Needs]) -> Callable[[Draw, Spec], Needs]:
        if name in REGISTRY:
            raise ValueError(f"operator {name} is declared twice")
        REGISTRY[name] = Operator(
            name,
            family or needs.__module__.rsplit(".", 1)[-1].replace("_", " "),
            spellings,
            frozenset(dtypes),
            range(rank[0], rank[1] + 1),
            needs,
            exact,
            grad if isinstance(grad, bool) else frozenset(grad),
            saves,
            view,
            dense,
            written,
            tuple(inplace),
            tuple(out),
            noun,
            weight,
            (getattr(needs, "func", needs).__doc__ or "").strip(),  # a partial has the words of its class
        )
        return needs

    return declare


def operators(extra: Iterable[Path] = ()) -> dict[str, Operator]:
    """All operators by name: those that come with eqfuzz, and those that the files ``extra`` declare.

    Raises InvalidOperators.
    """
    package = importlib.import_module("eqfuzz.generate.dag.operators")
    # In the order of the last part of their names, whichever folder they are in: what is drawn depends on it.
    modules = pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
    for module in sorted((m.name for m in modules if not m.ispkg), key=lambda name: name.rpartition(".")[2]):
        importlib.import_module(module)
    found = dict(REGISTRY)
    for path in extra:
        if path.resolve() not in _LOADED:
            _LOADED[path.resolve()] = _load(path)
        found |= _LOADED[path.resolve()]
    return dict(sorted(found.items()))


_LOADED: dict[Path, dict[str, Operator]] = {}


def _load(path: Path) -> dict[str, Operator]:
    """What a user's file declares; it is kept apart from what others declare. Raises InvalidOperators."""
    before = dict(REGISTRY)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidOperators(f"{path}: no Python file")
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return {name: one for name, one in REGISTRY.items() if name not in before}
    except (Exception, SystemExit) as error:  # whatever the user's file does wrong
        raise InvalidOperators(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)
