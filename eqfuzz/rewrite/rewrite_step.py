"""One rewrite of a derivation, as it is on record; apart from derivations because reading a record needs no torch."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eqfuzz.rewrite.site import Site


@dataclasses.dataclass(frozen=True)
class RewriteStep:
    """One rewrite of a derivation: the rule, and what stood where before and after.

    ``start`` is the offset of ``before`` in the text that was rewritten, in characters.
    """

    rule: str
    line: int
    before: str
    after: str
    start: int = 0

    @classmethod
    def at(cls, site: Site) -> RewriteStep:
        """What applying ``site`` will be on record as."""
        return cls(site.rule.name, site.line, site.before, site.text, site.span[0])
