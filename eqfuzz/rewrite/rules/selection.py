"""Rules chosen by pattern or by name, whether they are loaded or only declared."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from eqfuzz.program.suggestions import closest
from eqfuzz.rewrite.rules.former_names import former_names


class NamedRule(Protocol):
    """What a selection is about: ``name`` is ``family/function``."""

    @property
    def name(self) -> str: ...

    @property
    def family(self) -> str: ...


R = TypeVar("R", bound=NamedRule)

PAPER = "paper"
PAPER_RULES = tuple(
    f"operators/{name}"
    for name in (
        *("add_function", "sub_function", "mul_function", "div_function", "matmul_function"),
        *("pow_half_is_sqrt", "pow_function", "neg_function", "not_function", "invert_function"),
    )
)
"""The ten transforms of Jin & Wan 2025, §3.1."""


def select(rules: Sequence[R], selection: str) -> tuple[R, ...]:
    """The rules that ``selection`` names: comma-separated globs, a leading ``-`` takes away.

    A glob fits a whole name, a family, or the name without its family: ``"shapes/*,-shapes/flip*"``, ``"layout"``,
    ``"flip*"``; former names fit too, and ``paper`` stands for ``PAPER_RULES``. A selection that begins with ``-``
    starts from all. Raises ValueError with a did-you-mean when a pattern fits no rule.
    """
    families = {r.family for r in rules}
    patterns = [pattern for word in selection.split(",") if word.strip() for pattern in _patterns(word.strip())]
    chosen = {r.name for r in rules} if not patterns or patterns[0].startswith("-") else set()
    for pattern in patterns:
        takes_away = pattern.startswith("-")
        glob = pattern.removeprefix("-")
        hits = {r.name for r in rules if any(fnmatch.fnmatchcase(name, glob) for name in _all_names(r, families))}
        if not hits:
            raise ValueError(f"no rule fits {glob!r}{_hint(glob, rules)}")
        chosen = chosen - hits if takes_away else chosen | hits
    return tuple(r for r in rules if r.name in chosen)


def one(rules: Sequence[R], name: str) -> R:
    """The rule called ``name`` now or formerly, with or without its family. Raises ValueError with a did-you-mean."""
    fitting = [r for r in rules if name in (r.name, _bare(r.name))]
    fitting = fitting or [r for r in rules if name in {n for f in former_names(r.name) for n in (f, _bare(f))}]
    if not fitting:
        raise ValueError(f"no rule {name!r}{_hint(name, rules, families_too=False) or '; `eqfuzz rules` lists them'}")
    if len(fitting) > 1:
        raise ValueError(f"{name!r} is the name of {len(fitting)} rules: {', '.join(r.name for r in fitting)}")
    return fitting[0]


def _patterns(word: str) -> list[str]:
    """The patterns of a word of a selection: the word, or those that ``paper`` stands for."""
    sign, name = ("-", word[1:]) if word.startswith("-") else ("", word)
    return [sign + rule for rule in PAPER_RULES] if name == PAPER else [word]


def _bare(name: str) -> str:
    return name.partition("/")[2]


def _all_names(rule: NamedRule, families: Collection[str]) -> set[str]:
    """What a glob may fit: names now and formerly, whole and bare, and the family; a former one if it is gone."""
    names = (rule.name, *former_names(rule.name))
    former_families = {family for name in names if (family := name.partition("/")[0]) not in families}
    return {*names, *map(_bare, names), rule.family, *former_families}


def _hint(glob: str, rules: Sequence[NamedRule], *, families_too: bool = True) -> str:
    """``; did you mean 'shapes/*'?`` or nothing. A family that does not exist is corrected first."""
    families = sorted({r.family for r in rules})
    family, slash, rest = glob.partition("/")
    close: str | None = None
    if slash and family not in families:
        corrected = f"{closest(family, families, cutoff=0.6)}/{rest}"
        close = corrected if any(fnmatch.fnmatchcase(r.name, corrected) for r in rules) else None
    if slash and close is None:
        close = closest(glob, [r.name for r in rules if r.family == family] or [r.name for r in rules], cutoff=0.4)
    elif not slash:
        whole = {_bare(r.name): r.name for r in reversed(rules)} | (
            {name: name for name in (*families, PAPER)} if families_too else {}
        )
        close = whole.get(closest(glob, whole) or "")
    return f"; did you mean {close!r}?" if close else ""
