"""Which variables a text reads and stores, against Python's own symbol tables."""

from __future__ import annotations

import ast
import symtable

import pytest

from eqfuzz.rewrite.source.names import names_in

TEXTS = [
    "a = b + c",
    "a += b",
    "a.x = b[c]",
    "a: int = b",
    "for i in range(n):\n    total = total + x[i]\nelse:\n    total = 0",
    "y = [i * k for i in xs if i > k]",
    "y = {k: v for k, v in pairs}",
    "y = [x for x in x if x], (b for a in c for b in a)",
    "y = (last := f(x)) + [z := i for i in xs][0]",
    "f = lambda a, b=c: a + b + d",
    "def g(a, *rest, key=default, **more):\n    t = a + outer\n    return t + key",
    "def g():\n    def h():\n        return deep\n    return h",
    "class K(Base):\n    y = x\n    def m(self):\n        return z",
    "with open(name) as handle, other:\n    text = handle.read()",
    "try:\n    risky(x)\nexcept ValueError as error:\n    note(error)",
    "import torch.nn as nn, math\nfrom a import b as c",
    "match command:\n    case [first, *rest]:\n        go(first, rest)",
    "match command:\n    case {'k': v, **more}:\n        go(v, more)",
    "del a\nglobal_name(b)",
    "(a, [b, *c]), d.e = value",
]


@pytest.mark.parametrize("text", TEXTS)
def test_names_agree_with_the_symbol_table(text: str) -> None:
    """As a function body: what it binds is stored; what it or what is inside it takes from outside is read."""
    body = "\n".join(f"    {line}" for line in text.splitlines())
    (function,) = symtable.symtable(f"def scope():\n{body}\n", "<test>", "exec").get_children()
    stored = {s.get_name() for s in function.get_symbols() if s.is_assigned() or s.is_imported()}
    taken = {s.get_name() for s in function.get_symbols() if s.is_referenced()} | _free(function)
    names = names_in(text)
    # From Python 3.12 on, the table of a function has what its comprehensions bind as well.
    assert names.stores == {n for n in stored - _bound_by_comprehensions(text) if not n.startswith(".")}
    assert taken - stored <= names.reads
    assert names.reads <= taken | stored


def _bound_by_comprehensions(text: str) -> set[str]:
    targets = [node.target for node in ast.walk(ast.parse(text)) if isinstance(node, ast.comprehension)]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _free(table: symtable.SymbolTable) -> set[str]:
    inner: set[str] = set()
    for child in table.get_children():
        bound = {s.get_name() for s in child.get_symbols() if s.is_local()}
        own = {s.get_name() for s in child.get_symbols() if s.is_referenced()}
        inner |= (own | _free(child)) - bound
    return inner


def test_nonlocal_is_read_and_stored_outside() -> None:
    names = names_in("def g():\n    nonlocal t\n    t = t + y\ng()")
    assert names.stores == {"g", "t"}
    assert {"t", "y", "g"} <= names.reads
