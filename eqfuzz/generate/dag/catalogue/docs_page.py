"""The reference page of operators in the documentation.

``python -m eqfuzz.generate.dag.catalogue.docs_page > docs/reference/operators.md`` writes it.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

from eqfuzz.generate.dag.catalogue.listing import dtypes_in_words, listed, ranks_in_words

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
    marks = ["yes" if entry[key] else "" for key in ("exact", "gradient")]
    about = entry["about"].replace("|", "\\|")
    cells = [f"`{entry['name']}`", dtypes_in_words(entry), ranks_in_words(entry), *marks, about]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(page())
