"""The list of operators and structures behind ``eqfuzz generate ops``, which loads their declarations where it must."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.generate import dag
from eqfuzz.generate.dag.values.spec import BOOL, COMPLEX, FLOATS, INTEGERS
from eqfuzz.program.derived import derived
from eqfuzz.program.suggestions import did_you_mean

_GROUPS = {"floats": FLOATS, "integers": INTEGERS, "complex": COMPLEX, "bool": BOOL}


def listed(plugins: Iterable[Path] = ()) -> list[dict[str, Any]]:
    """One JSON object for each operator and structure, by family and name. Raises InvalidOperators for ``plugins``."""
    files = tuple(plugins)
    if files:
        return _declared(files)
    return derived("operators", sorted(Path(dag.__file__).parent.rglob("*.py")), _declared)


def _declared(plugins: Iterable[Path] = ()) -> list[dict[str, Any]]:
    from eqfuzz.generate.dag.catalogue.operator import operators
    from eqfuzz.generate.dag.flow import STRUCTURES

    entries = [
        {
            "name": one.name,
            "family": one.family,
            "dtypes": sorted(one.dtypes),
            "ranks": [rank for rank in one.ranks if rank >= 0],
            "spellings": [*one.forms, *one.inplace, *one.out],
            "exact": one.exact,
            "gradient": bool(one.grad),
            "about": " ".join(one.doc.split()),
        }
        for one in operators(plugins).values()
    ]
    entries += [
        {
            "name": one.name,
            "family": one.family,
            "dtypes": sorted(one.dtypes),
            "ranks": list(one.ranks),
            "spellings": [],
            "exact": one.exact,
            "gradient": True,
            "about": " ".join(one.doc.split()),
        }
        for one in STRUCTURES.values()
    ]
    return sorted(entries, key=lambda entry: (entry["family"], entry["name"]))


def matching(entries: Sequence[Mapping[str, Any]], pattern: str) -> list[Mapping[str, Any]]:
    """The entries that ``pattern`` selects, a glob of names and families, or a part of a name, in any case.

    Raises ValueError with a suggestion where it selects none.
    """
    folded = pattern.lower()
    if any(mark in pattern for mark in "*?["):
        matches = [e for e in entries if any(fnmatch.fnmatchcase(e[key].lower(), folded) for key in ("name", "family"))]
    else:
        matches = [e for e in entries if folded in e["name"].lower() or folded == e["family"]]
    if not matches:
        names = {key: [entry[key] for entry in entries] for key in ("name", "family")}
        hint = did_you_mean(pattern.strip("*"), [*names["name"], *dict.fromkeys(names["family"])])
        raise ValueError(f"no operator fits {pattern!r}{hint}")
    return matches


def ranks_in_words(entry: Mapping[str, Any]) -> str:
    """``0–4``, ``2``; ``number`` for an operator whose result is a Python number."""
    ranks = entry["ranks"]
    if not ranks:
        return "number"
    return f"{ranks[0]}–{ranks[-1]}" if len(ranks) > 1 else f"{ranks[0]}"


def dtypes_in_words(entry: Mapping[str, Any]) -> str:
    """The names of the groups of dtypes that are complete, then the other dtypes."""
    names, left = [], set(entry["dtypes"])
    for name, group in _GROUPS.items():
        if left >= set(group):
            names.append(name)
            left -= set(group)
    return ", ".join([*names, *sorted(left)])
