"""Former names of shipped rules: selections and derivations that were written down with them still work."""

from __future__ import annotations

from functools import cache

FORMER_NAMES = {
    "higher-order/choice_to_cond": "conditions/choice_to_cond",
    "higher-order/loop_to_while_loop": "loops/loop_to_while_loop",
    "made-in-place/calls_in_a_sequential": "containers/calls_in_a_sequential",
    "outlining/outlined_rest": "statements/outlined_rest",
    "outlining/outlined_statements": "statements/outlined_statements",
    "pairs/pairs_by_number": "comprehensions/pairs_by_number",
}
"""Former name → present name. The rule ``…_back`` of a rule that goes both ways is renamed with it."""

_BACK = "_back"


def present_name(name: str) -> str:
    """The name that the rule called ``name`` has now, which may be the same."""
    base = name.removesuffix(_BACK)
    if name in FORMER_NAMES or base not in FORMER_NAMES:
        return FORMER_NAMES.get(name, name)
    return FORMER_NAMES[base] + _BACK


def former_names(name: str) -> tuple[str, ...]:
    """All names that the rule called ``name`` had before."""
    base = name.removesuffix(_BACK)
    backwards = tuple(former + _BACK for former in _by_present_name().get(base, ())) if base != name else ()
    return (*_by_present_name().get(name, ()), *backwards)


@cache
def _by_present_name() -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for former, present in FORMER_NAMES.items():
        names[present] = (*names.get(present, ()), former)
    return names
