"""Program slicing: what no result depends on, by the names that statements read and bind.

Aliases and effects are only approximated (``x.add_(1)`` matters where ``x`` does): a slice is a candidate, not a proof.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from eqfuzz.program.program import Program
from eqfuzz.rewrite.source.edit import Edit, edited
from eqfuzz.triage.reduce.source_tree import Function, SourceTree, is_docstring, loads, stores, walk

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def swept(program: Program) -> Program:
    """``program`` without statements, attributes of self, definitions and imports that no result depends on.

    Unchanged where its source is not Python.
    """
    for _ in range(9):
        try:
            parsed = SourceTree(program)
        except (SyntaxError, ValueError):
            return program
        edits = [e for f in parsed.functions if f.name != "__init__" for e in _dead_statements(parsed, f)]
        if not edits:
            edits = _unread_attributes(parsed)
        if not edits:
            edits = unused_definitions(parsed)
        if not edits:
            break
        program = program.with_source(edited(parsed.text, _disjoint(edits)))
    return program


def unused_definitions(parsed: SourceTree) -> list[Edit]:
    """Edits that remove module-level statements on which neither entry nor inputs depend."""
    dead = unreached(parsed)
    edits = parsed.cut(parsed.tree.body, dead) if dead else []
    alive = [s for s in parsed.tree.body if s not in dead]
    names = parsed.named.union(*(loads(s) for s in alive))
    for statement in alive:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and len(statement.names) > 1:
            aliases = [a for a in statement.names if _bound_by(a) in names]
            if aliases and len(aliases) < len(statement.names):
                line = _import_line(statement, aliases)
                edits.append(Edit(parsed.span(statement), line))
    return edits


def _import_line(statement: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> str:
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import(names))
    return ast.unparse(ast.ImportFrom(statement.module, names, statement.level))


def unreached(parsed: SourceTree) -> list[ast.stmt]:
    """Module-level statements, in order, whose names no needed statement reads."""
    wanted = set(parsed.named)
    body = parsed.tree.body
    reached: set[int] = set()
    changed = True
    while changed:
        changed = False
        for statement in body:
            if id(statement) not in reached and (_acts(statement) or _binds(statement) & wanted):
                reached.add(id(statement))
                wanted |= loads(statement) | _roots(statement)
                changed = True
    return [s for s in body if id(s) not in reached]


def _acts(statement: ast.stmt) -> bool:
    """Whether a module-level statement has effects besides binding names."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    if isinstance(statement, ast.Assign):
        return not all(isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets)
    if isinstance(statement, ast.AnnAssign):
        return False
    return not is_docstring(statement) and not isinstance(statement, ast.Pass)


def _binds(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {_bound_by(alias) for alias in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if is_docstring(statement):
        return {"__doc__"}
    return stores(statement)


def _bound_by(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def _roots(node: ast.AST) -> set[str]:
    """Names whose objects are written to: ``x`` of ``x[0] = 1``, ``x.y = 1``, ``x.z(...)`` as a statement."""
    roots = set()
    for inner in walk(node):
        if isinstance(inner, (ast.Subscript, ast.Attribute)) and isinstance(inner.ctx, (ast.Store, ast.Del)):
            roots.add(_root(inner))
        elif isinstance(inner, ast.AugAssign):
            roots.add(_root(inner.target))
        elif isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            call = inner.value
            roots.add(_root(call.func))
    return roots - {""}


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _dead_statements(parsed: SourceTree, function: Function) -> list[Edit]:
    """Edits that remove statements of a function on which its results do not depend."""
    body = function.body
    if not any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) for n in walk(function)):
        return []
    for_effects = returns_nothing(function)
    dead: list[ast.stmt] = []
    end = next((i for i, s in enumerate(body) if isinstance(s, _ENDS)), len(body))
    dead += body[end + 1 :]
    declared = (node.names for node in _own_nodes(function) if isinstance(node, (ast.Global, ast.Nonlocal)))
    needed: set[str] = set().union(*declared)
    for statement in reversed(body[: end + 1]):
        if not is_docstring(statement) and not _needs(statement, needed, parsed.imported, for_effects):
            dead.append(statement)
    edits = parsed.cut(body, dead) if dead else []
    if edits:
        return edits
    read = loads(function)
    for block in parsed.blocks(function):  # in the inner blocks, what is read nowhere in the function
        unread = [
            s for s in block if isinstance(s, ast.Assign) and _plain(s) and not stores(s) & read and not _may_write(s)
        ]
        last = next((i for i, s in enumerate(block) if isinstance(s, _ENDS)), len(block))
        if block is not body and len(unread := [*unread, *block[last + 1 :]]):
            edits += parsed.cut(block, unread)
    return edits


def _plain(statement: ast.Assign) -> bool:
    names = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.Store)
    return all(isinstance(n, names) for t in statement.targets for n in walk(t))


def returns_nothing(function: Function) -> bool:
    """Whether the function returns only None: it is called for its effects."""
    returned = [node.value for node in _own_nodes(function) if isinstance(node, ast.Return)]
    return all(value is None or (isinstance(value, ast.Constant) and value.value is None) for value in returned)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The descendants of a function, except for those of functions and classes that it defines."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_DEFINES, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _may_write(statement: ast.stmt) -> bool:
    """Whether it may change an object: a store into one, ``x.add_(1)``, ``out=``, a call whose result is not used, or a
    call of a function of the program.
    """
    for node in walk(statement):
        match node:
            case ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Delete():
                return True
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name.endswith("_") and not name.endswith("__"):
                return True
            case ast.Call(keywords=keywords) if any(keyword.arg == "out" for keyword in keywords):
                return True
            case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
                return True
            case _:
                pass
    return False


def _needs(statement: ast.stmt, needed: set[str], imported: frozenset[str], for_effects: bool) -> bool:
    """Whether ``needed`` names depend on the statement; updates ``needed`` to the names that are needed before it.

    With ``for_effects``, statements that may write to an object are needed, too.
    """
    if for_effects and not isinstance(statement, _DEFINES) and _may_write(statement):
        needed |= loads(statement) | _roots(statement)
        return True
    match statement:
        case ast.Return() | ast.Raise() | ast.Global() | ast.Nonlocal() | ast.Break() | ast.Continue():
            needed |= loads(statement)
            return True
        case ast.Assign() if _plain(statement):
            bound = stores(statement)
            if not bound & needed:
                return False
            needed -= bound
        case ast.AugAssign(target=ast.Name(id=name)):
            if name not in needed:
                return False
        case ast.Expr(value=ast.Call(func=called)):
            root = _root(called)
            roots = {root} if root and root not in imported else loads(statement) - imported
            if root != "self" and not roots & needed and not _yields(statement):
                return False
        case ast.Assert() | ast.Pass():
            return False
        case ast.Import() | ast.ImportFrom():
            return bool(_binds(statement) & needed)
        case ast.FunctionDef() | ast.ClassDef():
            if statement.name not in needed:
                return False
        case _:
            acts = any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) for n in walk(statement))
            if not acts and not (stores(statement) | _roots(statement)) & (needed | {"self"}):
                return False
    needed |= loads(statement) | _roots(statement)
    return True


def _yields(statement: ast.stmt) -> bool:
    return any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.NamedExpr)) for n in walk(statement))


def _unread_attributes(parsed: SourceTree) -> list[Edit]:
    """Edits that remove ``self.name = …`` and ``self.register_buffer("name", …)`` where the name is not read."""
    edits: list[Edit] = []
    read = {n.attr for n in walk(parsed.tree) if isinstance(n, ast.Attribute) and _is_read(parsed, n)}
    for function in (f for f in parsed.functions if f.name == "__init__"):
        dead = [s for s in function.body if (name := _attribute_made(s)) and name not in read]
        cls = parsed.parents[function]
        if isinstance(cls, ast.ClassDef) and len(cls.body) > 1 and _only_inherits(parsed, function):
            edits += parsed.cut(cls.body, [function])
        else:
            edits += parsed.cut(function.body, dead) if dead else []
    return edits


def _is_read(parsed: SourceTree, attribute: ast.Attribute) -> bool:
    return not isinstance(attribute.ctx, ast.Store) or isinstance(parsed.parents[attribute], ast.AugAssign)


def _only_inherits(parsed: SourceTree, function: Function) -> bool:
    """Whether an ``__init__`` without parameters only calls the inherited one."""
    body = [s for s in function.body if not is_docstring(s)]
    arguments = function.args
    plain = len(arguments.args) == 1 and not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs)
    return plain and len(body) == 1 and parsed.text_of(body[0]).endswith("__init__()")


def _attribute_made(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)]):
            return name
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(
                    value=ast.Name(id="self"), attr="register_buffer" | "register_parameter" | "add_module"
                ),
                args=[ast.Constant(value=str(name)), *_],
            )
        ):
            return name
        case _:
            return None


def _disjoint(edits: Sequence[Edit]) -> list[Edit]:
    """The outermost of nested edits."""
    outer: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.span[0], -e.span[1])):
        if not outer or edit.span[0] >= outer[-1].span[1]:
            outer.append(edit)
    return outer
