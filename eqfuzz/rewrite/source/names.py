"""Which variables a piece of source text reads and which it stores."""

from __future__ import annotations

import ast
import dataclasses
import textwrap
from collections.abc import Iterable
from functools import lru_cache

from eqfuzz.program.parsing import parse


@dataclasses.dataclass(frozen=True)
class ScopeNames:
    """Variables of the scope that the text stands in; those of functions and comprehensions inside it are theirs."""

    reads: frozenset[str]
    stores: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.reads | self.stores


@lru_cache(maxsize=4096)
def names_in(code: str) -> ScopeNames:
    """The names in ``code``: statements or one expression, at any indentation. Raises SyntaxError."""
    reads, stores = _of(parse(textwrap.dedent(code)).body)
    return ScopeNames(frozenset(reads), frozenset(stores))


def _of(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    reads: set[str] = set()
    stores: set[str] = set()
    for node in nodes:
        more_reads, more_stores = _of_one(node)
        reads |= more_reads
        stores |= more_stores
    return reads, stores


def _of_one(node: ast.AST) -> tuple[set[str], set[str]]:
    match node:
        case ast.Name():
            return ({node.id}, set()) if isinstance(node.ctx, ast.Load) else (set(), {node.id})
        case ast.AugAssign(target=ast.Name(id=name)):
            reads, stores = _of_one(node.value)
            return reads | {name}, stores | {name}
        case ast.Global() | ast.Nonlocal():
            return set(node.names), set(node.names)
        case ast.ClassDef():
            reads, inner = _of(ast.iter_child_nodes(node))
            return reads - inner, {node.name}
        case ast.Import() | ast.ImportFrom():
            return set(), {(a.asname or a.name).split(".")[0] for a in node.names}
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            reads, stores = _of(ast.iter_child_nodes(node))
            return reads, stores | {node.name}
        case ast.MatchMapping(rest=str() as rest):
            reads, stores = _of(ast.iter_child_nodes(node))
            return reads, stores | {rest}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return _of_function(node)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            reads, _ = _of(ast.iter_child_nodes(node))
            _, targets = _of(g.target for g in node.generators)
            outside, _ = _of_one(node.generators[0].iter)  # evaluated before the targets exist
            walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            return (reads - targets) | outside, walrus
        case _:
            return _of(ast.iter_child_nodes(node))


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> tuple[set[str], set[str]]:
    own = node.args
    outside = [*own.defaults, *(d for d in own.kw_defaults if d is not None)]
    if not isinstance(node, ast.Lambda):
        outside += node.decorator_list
    parameters = [*own.posonlyargs, *own.args, *own.kwonlyargs, *(a for a in (own.vararg, own.kwarg) if a)]
    inside = [node.body] if isinstance(node, ast.Lambda) else node.body
    reads, stores = _of(inside)
    shared = {
        n for inner in inside for s in ast.walk(inner) if isinstance(s, ast.Nonlocal | ast.Global) for n in s.names
    }
    free = reads - (stores - shared) - {p.arg for p in parameters}
    outer_reads, outer_stores = _of(outside)
    bound = set() if isinstance(node, ast.Lambda) else {node.name}
    return free | outer_reads, outer_stores | bound | (stores & shared)
