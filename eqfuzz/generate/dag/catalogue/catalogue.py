"""The operators of a template, with their weights, indexed by dtype and rank of the result."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Mapping

from eqfuzz.generate.dag.catalogue.operator import InvalidOperators, Operator
from eqfuzz.generate.dag.template import InvalidTemplate, ProgramTemplate
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Spec, UnsatisfiableSpec
from eqfuzz.program.suggestions import did_you_mean

_OWN = 2.0
"""From this weight on a family is what the template is about. Programs begin with its operators first, then alternately
with one of few result types, which little else requires, and with any other."""


@dataclasses.dataclass(frozen=True)
class Structure:
    """A declaration of control flow or other statements that make one result: see `eqfuzz.generate.dag.flow`.

    ``name``, ``family``, ``weight`` and ``doc`` are as in `Operator`; ``dtypes`` and ``ranks`` are those of its result.
    ``exact``: it makes exact results where these are required.
    """

    name: str
    dtypes: frozenset[str]
    ranks: range
    family: str = "control flow"
    weight: float = 1.0
    doc: str = ""
    exact: bool = False

    def can_make(self, dtype: str, rank: int, exact: bool) -> bool:
        return dtype in self.dtypes and rank in self.ranks and (self.exact or not exact)


class Catalogue:
    """The operators and structures of a template, with their weights.

    The weight of a family is shared by its members; ``weights`` multiplies those of single operators, by name. ``only``
    excludes all others. An operator named in ``only`` or ``weights`` is included whatever the weight of its family.
    Raises InvalidTemplate and InvalidOperators.
    """

    def __init__(
        self,
        operators: Mapping[str, Operator],
        structures: Mapping[str, Structure],
        template: ProgramTemplate,
        *,
        only: Iterable[str] = (),
        weights: Mapping[str, float] | None = None,
    ) -> None:
        for name in sorted(operators.keys() & structures.keys()):
            raise InvalidOperators(f"operator {name}: a structure has this name")
        _require_known(operators, structures, template)
        chosen = set(only) or set(template.operators)
        factors = {**template.operators, **(weights or {})}
        every: dict[str, Operator | Structure] = {**operators, **structures}
        members = Counter(one.family for one in every.values())
        self.weights: dict[str, float] = {}
        for name, one in every.items():
            share = template.weight_of(one.family) / members[one.family] ** 0.5
            if (chosen or name in factors) and template.allows(one.family):
                share = 1.0
            weight = share * one.weight * factors.get(name, 1.0)
            if weight > 0 and (not chosen or name in chosen):
                self.weights[name] = weight
        self.operators = {name: one for name, one in operators.items() if name in self.weights}
        self.structures = {name: one for name, one in structures.items() if name in self.weights}
        own = {family for family, weight in template.families.items() if weight >= _OWN}
        names = sorted(self.weights)
        random.Random(template.name).shuffle(names)
        rest = [name for name in names if self.member(name).family not in own]
        narrow = sorted(rest, key=lambda name: len(self.member(name).dtypes) * len(self.member(name).ranks))
        self._turns = [name for name in names if self.member(name).family in own]
        self._turns += itertools.chain.from_iterable(zip(narrow, rest, strict=True))
        self._candidates: dict[tuple[str, int, bool], tuple[list[str], list[float]]] = {}

    def pick(self, draw: Draw, spec: Spec) -> str | None:
        """The name of a random operator or structure that can make ``spec``; None without any."""
        rank = -1 if spec.size is None else spec.rank
        names, weights = self._makers(spec.dtype, rank, spec.exact)
        if not names:
            return None
        return draw.rng.choices(names, cum_weights=weights)[0]

    def first(self, draw: Draw, turn: int | None) -> str:
        """The operator of an output: the one whose ``turn`` it is, so that each is used at some time, or one by weight.

        Raises UnsatisfiableSpec where there is none.
        """
        names = list(self.weights)
        if not names:
            raise UnsatisfiableSpec("no operators to make a program of")
        if turn is not None:
            return self._turns[turn % len(self._turns)]
        if draw.chance(0.5):
            return draw.choice(names)
        return draw.rng.choices(names, [self.weights[name] ** 0.5 for name in names])[0]

    def needs_module(self, name: str) -> bool:
        """Whether the operator ``name`` is a layer of ``torch.nn``."""
        return name.startswith("torch.nn.") and not name.startswith("torch.nn.functional.")

    def member(self, name: str) -> Operator | Structure:
        return self.operators[name] if name in self.operators else self.structures[name]

    def _makers(self, dtype: str, rank: int, exact: bool) -> tuple[list[str], list[float]]:
        key = dtype, rank, exact
        if key not in self._candidates:
            every = {**self.operators, **self.structures}
            names = [name for name, one in every.items() if one.can_make(dtype, rank, exact)]
            weights = list(itertools.accumulate(self.weights[name] for name in names))
            self._candidates[key] = names, weights
        return self._candidates[key]


def _require_known(
    operators: Mapping[str, Operator], structures: Mapping[str, Structure], template: ProgramTemplate
) -> None:
    """Raises InvalidTemplate for a family or an operator that does not exist."""
    families = sorted({one.family for one in (*operators.values(), *structures.values())})
    for field, weights, names in (
        ("families", template.families, families),
        ("operators", template.operators, [*operators, *structures]),
        ("required", template.required, families),
    ):
        for name in weights:
            if name not in names:
                hint = did_you_mean(name, names)
                raise InvalidTemplate(f"template {template.name}: {field}: there is no {name!r}{hint}")
