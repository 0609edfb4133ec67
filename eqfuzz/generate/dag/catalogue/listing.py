"""The list of operators and structures behind ``eqfuzz generate ops``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import operators
from eqfuzz.generate.dag.flow import STRUCTURES


def listed(plugins: Iterable[Path] = ()) -> list[dict[str, Any]]:
    """One JSON object for each operator and structure, by family and name. Raises InvalidOperators."""
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
            "exact": False,
            "gradient": True,
            "about": " ".join(one.doc.split()),
        }
        for one in STRUCTURES.values()
    ]
    return sorted(entries, key=lambda entry: (entry["family"], entry["name"]))
