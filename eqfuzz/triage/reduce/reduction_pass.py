"""The form of a reduction pass: a generator function that proposes changes, decorated with ``@reduction_pass``.

    @reduction_pass
    def drop_calls(parsed: SourceTree) -> Iterator[Change]:
        for node in walk(parsed.tree):
            if isinstance(node, ast.Call):
                yield [parsed.put(node, "1")]

The boldest changes come first. A pass may propose anything: candidates that do not compile, are not smaller, lose the
entry or read unbound names are dropped. ``eqfuzz.triage.reduce.passes`` lists all passes.
"""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

from eqfuzz.program.program import Program
from eqfuzz.rewrite.source.edit import Edit, edited
from eqfuzz.triage.reduce.size import size_of
from eqfuzz.triage.reduce.source_tree import Function, SourceTree, stores, walk

ReductionPass = Callable[[Program], Iterator[Program]]
"""Candidates that may replace a program, the boldest first; each is strictly smaller and compiles."""

Change = Sequence[Edit] | Program
"""What a pass proposes: edits of the text, or the whole program."""

_KNOWN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__class__"}


def reduction_pass(propose: Callable[[SourceTree], Iterator[Change]]) -> ReductionPass:
    """Make a pass of a function that proposes changes, the boldest first."""

    @functools.wraps(propose)
    def candidates(program: Program) -> Iterator[Program]:
        before = SourceTree(program)
        yield from worth_a_try(before, (applied(program, change) for change in propose(before)))

    return candidates


def applied(program: Program, change: Change) -> Program:
    """``program`` with ``change`` made."""
    return change if isinstance(change, Program) else program.with_source(edited(program.source, change))


def worth_a_try(before: SourceTree, candidates: Iterable[Program]) -> Iterator[Program]:
    """The candidates that compile, are smaller than ``before``, keep its entry and read no unbound name."""
    limit = size_of(before.tree, before.program)
    unbound_before = _unbound(before.text, before.tree)
    seen = set()
    for candidate in candidates:
        key = candidate.source, candidate.inputs
        if key in seen or key == (before.text, before.program.inputs):
            continue
        seen.add(key)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(candidate.source, candidate.name, "exec", dont_inherit=True)
            after = SourceTree(candidate)
        except (SyntaxError, ValueError):
            continue
        if size_of(after.tree, candidate) >= limit or not _keeps(before, after):
            continue
        if _unbound(candidate.source, after.tree) <= unbound_before:
            yield candidate


def _keeps(before: SourceTree, after: SourceTree) -> bool:
    """Whether the names of the harness are still bound, and entry and hook still return or yield a value."""
    if not (after.named & _bound_at_top(before.tree)) <= _bound_at_top(after.tree):
        return False
    for old, new in ((before.entry, after.entry), (before.hook, after.hook)):
        if old is not None and (new is None or (_gives(old) and not _gives(new))):
            return False
    return True


def _bound_at_top(tree: ast.Module) -> set[str]:
    return set().union(*(stores(s) for s in tree.body))


def _gives(function: Function) -> bool:
    return any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) for n in walk(function))


def _unbound(text: str, tree: ast.Module) -> set[str]:
    """Names and attributes of ``self`` that are read but never bound, or read before they are bound."""
    top = symtable.symtable(text, "", "exec")
    module = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    unbound: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        pending += table.get_children()
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if symbol.is_declared_global() and symbol.is_assigned():
                module.add(name)
            if symbol.is_referenced() and (table is top or symbol.is_global()) and name not in _KNOWN:
                unbound.add(name)
    unbound -= module | {"rng"}
    for node in walk(tree):
        if isinstance(node, ast.ClassDef):
            unbound |= {f"self.{name}" for name in _unset_attributes(node)}
        elif isinstance(node, Function):
            unbound |= {f"{node.name}:{name}" for name in _too_early(node)}
    return unbound


def _unset_attributes(cls: ast.ClassDef) -> set[str]:
    """Attributes of ``self`` that are read and that no store or string in the class may bind."""
    read, bound = set(), set()
    for node in walk(cls):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()):
                read.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                bound.add(name)
            case ast.Constant(value=str(name)) | ast.FunctionDef(name=name):
                bound.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Name(id=name, ctx=ast.Store()):
                bound.add(name)
            case _:
                pass
    return read - bound


def _too_early(function: Function) -> set[str]:
    """Local names that a statement of the body reads before one has bound them."""
    bound = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    local = stores(function) - {function.name}
    for statement in function.body:
        match statement:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr():
                inner = {n for s in walk(statement) if isinstance(s, _OWN_SCOPE) for n in walk(s)}
                here = {
                    n.id
                    for n in walk(statement)
                    if isinstance(n, ast.Name) and n not in inner and isinstance(n.ctx, ast.Load)
                }
                if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                    here.add(statement.target.id)
                walrus = {n.target.id for n in walk(statement) if isinstance(n, ast.NamedExpr)}
                early = (here & local) - bound - walrus
                if early:
                    return early
            case ast.Global() | ast.Nonlocal():
                bound |= set(statement.names)
            case _:
                pass
        bound |= stores(statement)
        bound |= {(a.asname or a.name).partition(".")[0] for a in walk(statement) if isinstance(a, ast.alias)}
        bound |= {h.name for h in walk(statement) if isinstance(h, ast.ExceptHandler) and h.name}
    return set()


_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
