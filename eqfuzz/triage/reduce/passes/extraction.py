"""Passes that extract a part of the program: an expression from its loop, the body of a module."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from itertools import islice
from typing import TypeGuard

from eqfuzz.rewrite.source.edit import Edit
from eqfuzz.triage.reduce.reduction_pass import Change, applied, reduction_pass
from eqfuzz.triage.reduce.slicing import swept
from eqfuzz.triage.reduce.source_tree import Function, SourceTree, is_docstring, loads, stores, walk

_MOST = 40
"""How many expressions of a large program are tried at most."""

_COMPUTES = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)
_PARTS = (ast.Name, ast.Attribute, ast.Subscript)
_OPENS_NAMES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@reduction_pass
def return_part(parsed: SourceTree) -> Iterator[Change]:
    """Return one expression of a statement in place of it and of all that follows, the largest first.

    A variable of a comprehension or a loop around it is replaced by what that iterates over.
    """
    if parsed.entry is None:
        return
    body = [s for s in parsed.entry.body if not is_docstring(s)]
    parts = [(s, e) for s in body for e in walk(s) if isinstance(e, _COMPUTES) and _is_own(parsed, e)]
    parts.sort(key=lambda pair: len(walk(pair[1])), reverse=True)
    for statement, part in islice(parts, _MOST):
        if isinstance(statement, ast.Return) and statement.value is part:
            continue
        after = body[body.index(statement) + 1 :]
        edits = parsed.cut(parsed.entry.body, after) if after else []
        for text in dict.fromkeys(_over_whole_iterables(parsed, parsed.entry, part, item) for item in ("", "[0]")):
            if text is not None:
                returned = f"return ({text})" if "\n" in text else f"return {text}"
                yield swept(applied(parsed.program, [*edits, Edit(parsed.span(statement), returned)]))


@reduction_pass
def start_from_parameter(parsed: SourceTree) -> Iterator[Change]:
    """Replace a variable, an item or an attribute by a parameter wherever it is read, and remove what computed it."""
    if parsed.entry is None:
        return
    parameters = [a.arg for a in parsed.entry.args.args if a.arg != "self"][:2]
    places: dict[str, list[ast.expr]] = {}
    for node in walk(parsed.entry):
        if _is_part(node, parsed) and _is_built(node, parsed.entry):
            places.setdefault(parsed.text_of(node), []).append(node)
    for nodes in islice(places.values(), _MOST // 2):
        for parameter in parameters:
            yield swept(applied(parsed.program, [Edit(parsed.span(node), parameter) for node in nodes]))


@reduction_pass
def module_as_function(parsed: SourceTree) -> Iterator[Change]:
    """Turn a module whose ``forward`` does not use ``self`` into a function."""
    program, forward = parsed.program, parsed.entry
    cls = parsed.parents.get(forward) if forward is not None else None
    if not isinstance(forward, ast.FunctionDef) or not isinstance(cls, ast.ClassDef) or "self" in loads(forward):
        return
    name = "program"
    is_named = {name, cls.name} & loads(parsed.tree) or "super" in loads(forward) or name in stores(parsed.tree)
    is_plain = not (forward.decorator_list or forward.args.posonlyargs) and program.construct == f"{cls.name}()"
    if program.format != "eqfuzz" or is_named or not is_plain:
        return
    arguments = ast.arguments(**{field: getattr(forward.args, field) for field in ast.arguments._fields})
    arguments.args = forward.args.args[1:]
    head = f"def {name}({ast.unparse(arguments)}):\n"
    text = (head + parsed.moved(forward.body, "    ")).rstrip("\n")
    source = applied(program, [Edit(parsed.span(cls), text)]).source
    yield swept(dataclasses.replace(program, source=source, entry=name, construct=name))


def _is_own(parsed: SourceTree, node: ast.AST) -> bool:
    """Whether it is computed in the entry itself: not in a definition, an f-string or an annotation."""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    while not isinstance(node, Function) and node in parsed.parents:
        parent = parsed.parents[node]
        if isinstance(node, (ast.Lambda, ast.JoinedStr, ast.ClassDef, ast.pattern)):
            return False
        if isinstance(parent, ast.AnnAssign) and parent.annotation is node:
            return False
        node = parent
    return node is parsed.entry


def _is_part(node: ast.AST, parsed: SourceTree) -> TypeGuard[ast.expr]:
    """Whether it is a name, an item or an attribute that is read, and not part of a longer such expression."""
    if not isinstance(node, _PARTS) or not isinstance(node.ctx, ast.Load) or not _is_own(parsed, node):
        return False
    inside = parsed.parents[node]
    if isinstance(inside, ast.Call) and inside.func is node:
        return False
    return not (
        isinstance(inside, (ast.Attribute, ast.Subscript)) and inside.value is node and _is_part(inside, parsed)
    )


def _is_built(node: ast.expr, function: Function) -> bool:
    """Whether it begins with a variable that ``function`` binds, or with ``self``."""
    root = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    parameters = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)} - {"self"}
    if not isinstance(root, ast.Name) or (root is node and root.id == "self"):
        return False
    return root.id in (stores(function) | {"self"}) - parameters


def _over_whole_iterables(parsed: SourceTree, function: Function, part: ast.expr, item: str) -> str | None:
    """The text of ``part`` with each loop variable replaced by the first local name that its loop iterates over.

    ``item`` is appended to that name. None where there is none.
    """
    run_over: dict[str, str] = {}
    inside: ast.AST = part
    while inside is not function:
        around = parsed.parents[inside]
        loops = around.generators if isinstance(around, _OPENS_NAMES) else [around]
        for loop in loops:
            if isinstance(loop, (ast.For, ast.comprehension)) and part not in walk(loop.iter):
                source = _first_name(parsed, function, loop.iter)
                run_over = {**dict.fromkeys(stores(loop.target) if source else (), source or ""), **run_over}
        inside = around
    inner = {name for n in walk(part) if isinstance(n, ast.comprehension) for name in stores(n.target)}
    text, start = parsed.text_of(part), parsed.span(part)[0]
    uses = [n for n in walk(part) if isinstance(n, ast.Name) and n.id in run_over and n.id not in inner]
    for use in sorted(uses, key=parsed.span, reverse=True):
        source, seen = use.id, set[str]()
        while source in run_over and run_over[source] != source and source not in seen:
            seen.add(source)
            source = run_over[source]
        if source in seen:
            return None
        first, last = parsed.span(use)
        text = text[: first - start] + source + item + text[last - start :]
    return text


def _first_name(parsed: SourceTree, function: Function, iterated: ast.expr) -> str | None:
    inner = {name for n in walk(iterated) if isinstance(n, ast.comprehension) for name in stores(n.target)}
    bound = stores(function) | {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    names = [n for n in walk(iterated) if isinstance(n, ast.Name) and n.id in bound - inner - {"self"}]
    return min(names, key=parsed.span).id if names else None
