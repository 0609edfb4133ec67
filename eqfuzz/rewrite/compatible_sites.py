"""Many sites of one program that are rewritten at once."""

from __future__ import annotations

import ast
import re

from eqfuzz.program.parsing import parse
from eqfuzz.rewrite.site import DRAWN_IN_PLACE, GRADIENT_READERS, STRIDE_READERS, Site

_WORD = re.compile(r"[^\W\d]\w*")


class SiteSet:
    """Admits sites of ``source`` one after the other, if they are compatible with those admitted before.

    All sites were found in the unchanged program. Besides the conflicts of ``Site.clashes``, a site may not mention a
    variable that another renames, deletes or removes, nor change strides or gradients where another begins to read
    them. Of a rule that only inserts statements, one site is admitted.
    """

    def __init__(self, source: str) -> None:
        self.sites: list[Site] = []
        self._source = source
        self._variables = _variables(source)
        self._mentioned: set[str] = set()
        self._gone: set[str] = set()
        self._changed: set[str] = set()
        self._read: set[str] = set()
        self._inserting: set[str] = set()

    def admit(self, site: Site) -> bool:
        """Whether ``site`` goes with the others; then it is one of them."""
        inserts = all(start == end for start, end in (edit.span for edit in site.edits))
        if inserts and site.rule.name in self._inserting:
            return False
        written = _words(" ".join(edit.text for edit in site.edits))
        new = written & self._variables
        changes, reads = _properties(site, written)
        if changes & self._read or reads & self._changed:
            return False
        old = _words(" ".join(self._source[slice(*edit.span)] for edit in site.edits)) & self._variables
        removed = (old - new) | _deleted(site)
        if removed & self._mentioned or new & self._gone or any(site.clashes(other) for other in self.sites):
            return False
        self.sites.append(site)
        self._changed |= changes
        self._read |= reads
        self._mentioned |= new
        self._gone |= removed
        if inserts:
            self._inserting.add(site.rule.name)
        return True


def _properties(site: Site, written: set[str]) -> tuple[set[str], set[str]]:
    """What the site changes, and what it reads, of that which an equation leaves open."""
    tellers = {"strides": STRIDE_READERS | DRAWN_IN_PLACE, "gradients": GRADIENT_READERS}
    changes = {name for name, does in (("strides", site.rule.layout), ("gradients", not site.rule.gradients)) if does}
    return changes, {name for name, words in tellers.items() if written & words}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _variables(source: str) -> set[str]:
    """Names that the program binds somewhere."""
    nodes = list(ast.walk(parse(source)))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in nodes if isinstance(n, ast.arg)}


def _deleted(site: Site) -> set[str]:
    return {name for edit in site.edits for name in re.findall(r"(?m)^\s*del (\w+)$", edit.text)}
