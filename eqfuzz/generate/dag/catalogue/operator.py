"""Operators of the generator: their declarations, and the registry that they are loaded into."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from eqfuzz.errors import error_line
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Range, Spec

Values = Callable[..., Range]


class InvalidOperators(Exception):
    """A file of operators that cannot be used; the message names the file and the reason."""


class Needs:
    """The requirements of one use of an operator: ``Needs(first, second, dim=1)``.

    ``inputs``, the positional arguments, are the specs of the inputs. ``values`` is the range of the output, or a
    function of the inputs' ranges (default: the smallest range that contains those of all inputs). ``outputs`` are the
    specs of a tuple of results, of which number ``picked`` is the result asked for. ``layers`` maps parameters to the
    code of the submodules that they stand for. ``forms`` are the forms of this call, where they are not those of the
    operator. All other keywords are parameters: they fill the holes of the form. ``spellings`` is the former name of
    ``forms``.
    """

    def __init__(
        self,
        *inputs: Spec,
        values: Values | Range | None = None,
        outputs: Iterable[Spec] = (),
        picked: int = 0,
        layers: Mapping[str, str] | None = None,
        forms: Iterable[str] = (),
        spellings: Iterable[str] = (),
        **params: Any,
    ) -> None:
        self.inputs = inputs
        self.values = values
        self.outputs = tuple(outputs)
        self.picked = picked
        self.layers = layers or {}
        self.forms = tuple(forms) or tuple(spellings)
        self.params = params

    def range_of(self, ranges: list[Range]) -> Range:
        """The range of the output, for inputs of these ``ranges``. Raises UnsatisfiableSpec as the declaration does."""
        if isinstance(self.values, Range):
            return self.values
        if self.values is not None:
            return self.values(*ranges)
        return ranges[0].over(*ranges[1:]) if ranges else Range(-1e4, 1e4)


@dataclasses.dataclass(frozen=True)
class Operator:
    """The declaration of an operator, as the decorator `operator` records it.

    - ``name``: as in ``--supported-ops``; ``family``: the group that templates weight it by.
    - ``forms``: equivalent expressions, with a hole for each input (``{0}``) and each parameter (``{dim}``).
    - ``dtypes``, ``ranks``: of its result.
    - ``needs``: the requirements of one use, for a given result.
    - ``exact``: exact inputs give an exact result.
    - ``grad``: it can be differentiated, or does not depend on its inputs continuously; or the dtypes for which that
      holds.
    - ``saves``: inputs or result are saved for backward, so neither may be overwritten.
    - ``view``: the result may share the memory of the first input; ``written``: such a view may be written to. It may
      not where its elements overlap, or where autograd forbids it.
    - ``dense``: contiguous inputs give a contiguous result; None: unless it is a view.
    - ``inplace``: statements that write the result over the first input; ``out``: calls that write it to a tensor
      ``{out}``.
    - ``name_hint``: the name of a variable that holds the result.
    - ``weight``: relative to the other operators of the family; ``doc``: a sentence that describes it.
    """

    name: str
    family: str
    forms: tuple[str, ...]
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
    name_hint: str = ""
    weight: float = 1.0
    doc: str = ""

    def differentiates(self, dtype: str) -> bool:
        """Whether gradients flow through it to a result of ``dtype``."""
        return self.grad if isinstance(self.grad, bool) else dtype in self.grad

    def can_make(self, dtype: str, rank: int, exact: bool) -> bool:
        return dtype in self.dtypes and rank in self.ranks and (self.exact or not exact)


REGISTRY: dict[str, Operator] = {}


def operator(
    name: str,
    *forms: str,
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
    name_hint: str = "",
    noun: str = "",
    weight: float = 1.0,
    doc: str = "",
) -> Callable[[Callable[[Draw, Spec], Needs]], Callable[[Draw, Spec], Needs]]:
    """Declare an operator, see `Operator`; the decorated function returns the `Needs` of one use for a result.

    It gets a `Draw` and the `Spec` of the result, and raises UnsatisfiableSpec where the operator cannot produce that.
    ``rank`` is the smallest and the largest rank of the result; ``doc`` describes the operator (default: the docstring
    of the function). ``noun`` is the former name of ``name_hint``. Raises ValueError where an operator of this name
    exists.
    """

    def declare(needs: Callable[[Draw, Spec], Needs]) -> Callable[[Draw, Spec], Needs]:
        if name in REGISTRY:
            raise ValueError(f"operator {name} is declared twice")
        REGISTRY[name] = Operator(
            name,
            family or needs.__module__.rsplit(".", 1)[-1].replace("_", " "),
            forms,
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
            name_hint or noun,
            weight,
            doc or (getattr(needs, "func", needs).__doc__ or "").strip(),  # of a partial: not that of its class
        )
        return needs

    return declare


def operators(extra: Iterable[Path] = ()) -> dict[str, Operator]:
    """All operators by name: the shipped ones, and those declared in the files ``extra``. Raises InvalidOperators."""
    package = importlib.import_module("eqfuzz.generate.dag.operators")
    # Sorted by the last part of their names, whichever folder they are in: what is drawn depends on the order.
    modules = pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
    for module in sorted((m.name for m in modules if not m.ispkg), key=lambda name: name.rpartition(".")[2]):
        importlib.import_module(module)
    declarations = dict(REGISTRY)
    for path in extra:
        if path.resolve() not in _LOADED:
            _LOADED[path.resolve()] = _load(path)
        declarations |= _LOADED[path.resolve()]
    return dict(sorted(declarations.items()))


_LOADED: dict[Path, dict[str, Operator]] = {}


def _load(path: Path) -> dict[str, Operator]:
    """The operators that a user's file declares; they do not enter the registry. Raises InvalidOperators."""
    if not path.is_file():
        raise InvalidOperators(f"{path}: no such file")
    before = dict(REGISTRY)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidOperators(f"{path}: no Python file")
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return {name: one for name, one in REGISTRY.items() if name not in before}
    except (Exception, SystemExit) as error:  # any error of the user's file
        raise InvalidOperators(f"{path}: {error_line(error)}") from error
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)
