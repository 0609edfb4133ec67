"""The reference page of operators in the documentation.

``python -m eqfuzz.generate.dag.catalogue.docs_page > docs/reference/operators.md`` writes it.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

from eqfuzz.generate.dag.catalogue.listing import listed
from eqfuzz.generate.dag.values.spec import BOOL, COMPLEX, FLOATS, INTEGERS

_GROUPS = {"floats": FLOATS, "integers": INTEGERS, "complex": COMPLEX, "bool": BOOL}

_HEAD = """\
# Operators of the generator

{count} operators and structures in {families} families, from their declarations. *Exact*: exact inputs give an exact
result, so that it may be used where rounding is not allowed. *Gradient*: gradients flow through it.
"""


def page() -> str:
    """The page's text."""
    entries = listed()
    families = {entry["family"] for entry in entries}
    parts = [_HEAD.format(count=len(entries), families=len(families))]
    for family, members in itertools.groupby(entries, key=lambda entry: entry["family"]):
        rows = [_row(entry) for entry in members]
        heading = [f"## {family.capitalize()}", "", "| operator | result | ranks | exact | gradient | description |"]
        parts.append("\n".join([*heading, "|---|---|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _row(entry: dict[str, Any]) -> str:
    ranks = f"{entry['ranks'][0]}–{entry['ranks'][-1]}" if entry["ranks"] else "number"
    marks = ["yes" if entry[key] else "" for key in ("exact", "gradient")]
    about = entry["about"].replace("|", "\\|")
    return f"| `{entry['name']}` | {_dtypes(entry['dtypes'])} | {ranks} | {marks[0]} | {marks[1]} | {about} |"


def _dtypes(dtypes: list[str]) -> str:
    """The names of the groups that are complete, then the other dtypes."""
    names, left = [], set(dtypes)
    for name, group in _GROUPS.items():
        if left >= set(group):
            names.append(name)
            left -= set(group)
    return ", ".join([*names, *sorted(left)])


if __name__ == "__main__":
    sys.stdout.write(page())
