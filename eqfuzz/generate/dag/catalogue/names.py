"""Names of operators as users write them: of the declaration, or of the ATen operator behind it."""

from __future__ import annotations

from collections.abc import Collection

from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
from eqfuzz.program.suggestions import did_you_mean

_ATEN = ("torch.ops.aten.", "aten.", "aten::")
_HOMES = ("torch.", "torch.Tensor.", "torch.nn.functional.", "torch.special.", "torch.linalg.")
_FUNCTIONAL = "F."


def declared_name(name: str, names: Collection[str]) -> str:
    """The name in ``names`` that ``name`` stands for. Raises InvalidOperators with a suggestion where there is none.

    ``torch.ops.aten.unique`` and ``aten::unique`` stand for ``torch.unique``, ``aten.add.Tensor`` for ``torch.add``,
    ``torch.ops.aten.item`` for ``torch.Tensor.item``, ``F.relu`` for ``torch.nn.functional.relu``.
    """
    candidates = _candidates(name)
    for candidate in candidates:
        if candidate in names:
            return candidate
    hint = did_you_mean(candidates[:2][-1], sorted(names))
    raise InvalidOperators(f"no operator {name!r}{hint}; `eqfuzz generate ops` lists them")


def _candidates(name: str) -> list[str]:
    """What ``name`` may be declared as, itself first."""
    if name.startswith(_FUNCTIONAL):
        return [name, f"torch.nn.functional.{name.removeprefix(_FUNCTIONAL)}"]
    prefix = next((prefix for prefix in _ATEN if name.startswith(prefix)), None)
    if prefix is None:
        return [name]
    operator = name.removeprefix(prefix)
    ends = dict.fromkeys((operator, operator.partition(".")[0]))
    return [name, *(home + end for end in ends for home in _HOMES)]
