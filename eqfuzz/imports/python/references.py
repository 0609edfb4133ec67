"""References of a statement to names of its module, by Python's rules for scopes."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclasses.dataclass(frozen=True)
class GlobalReference:
    """A global name and the attributes that are read from it: the ``root`` and two ``chain`` nodes for ``a.b.c``."""

    root: ast.Name
    chain: tuple[ast.Attribute, ...]

    @property
    def name(self) -> str:
        """The global name."""
        return self.root.id

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, in order."""
        return tuple(node.attr for node in self.chain)


def references(node: ast.AST) -> list[GlobalReference]:
    """All references in a statement or expression of a module's top level, in the order of the text."""
    return list(_references(node, frozenset()))


def bound_names(statement: ast.stmt) -> list[str]:
    """The names that a statement binds in its scope."""
    return list(dict.fromkeys(_bound_in_scope(statement)))


def changed_names(statement: ast.stmt) -> list[str]:
    """The names whose values a statement may change: by an item, an attribute or a call of a method."""
    names: dict[str, None] = {}
    for node in _without_inner_scopes(statement):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                names.update(dict.fromkeys(_root(node)))
            case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
                names.update(dict.fromkeys(_root(method)))
            case _:
                pass
    return list(names)


def _references(node: ast.AST, local: frozenset[str]) -> Iterator[GlobalReference]:
    match node:
        case ast.Name() | ast.Attribute():
            reference = _reference(node)
            if reference is None:
                yield from _of_children(node, local)
            elif reference.name not in local:
                yield reference
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _of_function(node, local)
        case ast.ClassDef():
            for outer in (*node.decorator_list, *node.bases, *node.keywords):
                yield from _references(outer, local)
            own = frozenset(name for statement in node.body for name in _bound_in_scope(statement))
            for statement in node.body:
                # Names of the class body are not seen by the functions in it.
                inner = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from _references(statement, local if inner else local | own)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            targets = frozenset(
                inner.id
                for generator in node.generators
                for inner in ast.walk(generator.target)
                if isinstance(inner, ast.Name)
            )
            yield from _references(node.generators[0].iter, local)
            yield from _of_children(node, local | targets, but=node.generators[0].iter)
        case _:
            yield from _of_children(node, local)


def _of_children(node: ast.AST, local: frozenset[str], but: ast.AST | None = None) -> Iterator[GlobalReference]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from _of_children(child, local, but)
        elif child is not but:
            yield from _references(child, local)


def _of_function(node: _Function, local: frozenset[str]) -> Iterator[GlobalReference]:
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    outside: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
    body: list[ast.AST]
    if isinstance(node, ast.Lambda):
        body = [node.body]
    else:
        outside += [*node.decorator_list, node.returns, *(one.annotation for one in parameters)]
        body = [*node.body]
    for one in outside:
        if one is not None:
            yield from _references(one, local)
    own = {one.arg for one in parameters} | {name for inner in body for name in _bound_in_scope(inner)}
    globals_ = {name for inner in body for name in _declared_global(inner)}
    for inner in body:
        yield from _references(inner, (local | own) - globals_)


def _bound_in_scope(node: ast.AST) -> Iterator[str]:
    for inner in _without_inner_scopes(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from _imported_names(inner)
            case _:
                yield from _captured_names(inner)


def _captured_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            pass


def _declared_global(node: ast.AST) -> Iterator[str]:
    for inner in _without_inner_scopes(node):
        if isinstance(inner, ast.Global):
            yield from inner.names


def _without_inner_scopes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, but for bodies of functions and classes, and targets of comprehensions."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, _Comprehension) and isinstance(child, ast.comprehension):
            for part in (child.iter, *child.ifs):
                yield from _without_inner_scopes(part)
        else:
            yield from _without_inner_scopes(child)


def _imported_names(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)


def _reference(node: ast.Name | ast.Attribute) -> GlobalReference | None:
    """None where something else than a name is at the root."""
    chain: list[ast.Attribute] = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        chain.append(value)
        value = value.value
    return GlobalReference(value, tuple(reversed(chain))) if isinstance(value, ast.Name) else None


def _root(node: ast.AST) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
