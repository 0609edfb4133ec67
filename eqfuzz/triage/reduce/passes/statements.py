"""Passes over statements: definitions, outputs, chunks of blocks, control flow."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from eqfuzz.program.program import Program
from eqfuzz.rewrite.source.edit import Edit
from eqfuzz.triage.reduce.reduction_pass import Change, applied, reduction_pass
from eqfuzz.triage.reduce.slicing import returns_nothing, swept, unreached, unused_definitions
from eqfuzz.triage.reduce.source_tree import Function, SourceTree, fewer, is_docstring, loads, stores, walk


@reduction_pass
def drop_unused(parsed: SourceTree) -> Iterator[Change]:
    """Remove what neither entry nor inputs depend on: dead statements and definitions, then definitions alone."""
    yield swept(parsed.program)
    yield unused_definitions(parsed)
    body = parsed.tree.body
    docstring = body[:1] if body and is_docstring(body[0]) else []
    dead = [s for s in unreached(parsed) if s not in docstring]
    yield parsed.cut(body, dead)
    for indices in fewer(len(dead)):
        yield parsed.cut(body, [s for i, s in enumerate(dead) if i not in indices])


@reduction_pass
def fewer_outputs(parsed: SourceTree) -> Iterator[Change]:
    """Return a part of the outputs, without the statements that only the others need.

    A returned variable that holds a tuple, a list or a dict counts as its items.
    """
    for function, returned in _returns(parsed):
        for flat in (True, False):
            outputs = _outputs(function, returned.value, flat)
            for indices in fewer(len(outputs)):
                yield _returning(parsed, returned, [outputs[i] for i in indices])
            if len(outputs) == 1 and returned.value is not None and outputs[0] is not returned.value:
                yield _returning(parsed, returned, outputs)


@reduction_pass
def fewer_outputs_alone(parsed: SourceTree) -> Iterator[Change]:
    """Return a part of the outputs and keep all statements, which may write to what is returned."""
    for function, returned in _returns(parsed):
        outputs = _outputs(function, returned.value, flat=False)
        if returned.value is not None:
            for indices in fewer(len(outputs)):
                yield [parsed.put(returned.value, _return_text(parsed, [outputs[i] for i in indices]))]


@reduction_pass
def return_earlier(parsed: SourceTree) -> Iterator[Change]:
    """Return the value of an earlier statement, by bisection from the middle."""
    if parsed.entry is None:
        return
    body = parsed.entry.body
    returned = next((s for s in body if isinstance(s, ast.Return)), None)
    places = [i for i, s in enumerate(body) if _target(s) or _appended(s)]
    for place in _bisected(places):
        name, appended = _target(body[place]), _appended(body[place])
        line = parsed.whole_lines(body[place], body[place])
        if appended is not None:
            after = parsed.cut(body, body[place + 1 :]) if place + 1 < len(body) else []
            edit = Edit(parsed.span(body[place]), f"return {_return_text(parsed, [appended])}")
            yield swept(applied(parsed.program, [*after, edit]))
            continue
        if name is None or line is None:
            continue
        if isinstance(returned, ast.Return) and body[place + 1 :] == [returned] and parsed.text_of(returned) == name:
            continue
        after = parsed.cut(body, body[place + 1 :]) if place + 1 < len(body) else []
        text = f"{parsed.indent(body[place])}return {name}\n"
        yield swept(applied(parsed.program, [*after, Edit((line[1], line[1]), text)]))


@reduction_pass
def return_nothing(parsed: SourceTree) -> Iterator[Change]:
    """Return None: only what the program writes to is left."""
    if parsed.entry is None or returns_nothing(parsed.entry):
        return
    returns = [n for n in walk(parsed.entry) if isinstance(n, ast.Return) and parsed.function_of(n) is parsed.entry]
    yield swept(applied(parsed.program, [Edit(parsed.span(n), "return None") for n in returns]))


@reduction_pass
def drop_statements(parsed: SourceTree) -> Iterator[Change]:
    """Remove chunks of each list of statements, halves before single ones.

    Later statements that read a removed variable read what it was computed from.
    """
    blocks = [b for f in _ordered_functions(parsed) for b in parsed.blocks(f) if parsed.function_of(b[0]) is f]
    sizes = sorted({len(b) >> k for b in blocks for k in range(8) if len(b) >> k}, reverse=True)
    for count in sizes:
        for block in blocks:
            droppable = [s for s in block if not _needed(parsed, block, s)]
            if count > max(1, len(block) // 2) and len(block) > 1:
                continue
            for first in range(0, len(droppable), count):
                chunk = droppable[first : first + count]
                yield _without(parsed, block, chunk)


@reduction_pass
def drop_top_level(parsed: SourceTree) -> Iterator[Change]:
    """Remove single statements with effects from the module level: settings, seeds, patches."""
    body = parsed.tree.body
    for statement in reversed(body):
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) and not is_docstring(statement):
            yield parsed.cut(body, [statement])


@reduction_pass
def simplify_control_flow(parsed: SourceTree) -> Iterator[Change]:
    """Replace a compound statement by one of its blocks: ``if`` and ``try`` by a branch, a loop by one iteration."""
    for block in list(parsed.blocks()):
        for statement in block:
            for lines, header in _branches(parsed, statement):
                whole = parsed.whole_lines(statement, statement)
                if whole is None or parsed.text[parsed.span(statement)[0] :].startswith("elif"):
                    continue
                indent = parsed.indent(statement)
                text = "".join(f"{indent}{line}\n" for line in header) + parsed.moved(lines, indent)
                yield swept(applied(parsed.program, [Edit(whole, text)]))
                yield [Edit(whole, text)]
            if isinstance(statement, (ast.For, ast.While)) and statement.orelse:
                yield parsed.cut(statement.orelse, statement.orelse)
            if isinstance(statement, ast.For):
                yield from _fewer_iterations(parsed, statement)


@reduction_pass
def inline_helpers(parsed: SourceTree) -> Iterator[Change]:
    """Inline functions without control flow; a definition that is no longer called is removed."""
    for function in parsed.functions:
        if function is parsed.entry or function.decorator_list or not _simple_parameters(function):
            continue
        body = [s for s in function.body if not is_docstring(s)]
        if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
            continue
        calls = [
            n
            for n in walk(parsed.tree)
            if isinstance(n, ast.Call) and _calls(n, function) and function not in _around(parsed, n)
        ]
        if not calls or any(isinstance(n, ast.Return) for s in body[:-1] for n in walk(s)):
            continue
        edits = _expanded(parsed, function, body, calls[0]) if len(body) > 1 else _folded(parsed, function, calls)
        if edits:
            yield swept(applied(parsed.program, edits))


def _ordered_functions(parsed: SourceTree) -> list[Function]:
    return [*parsed.functions, *([parsed.hook] if parsed.hook is not None else [])]


def _returns(parsed: SourceTree) -> Iterator[tuple[Function, ast.Return]]:
    """The returns of the code under test, those of the entry's own body first."""
    returns = []
    for function in parsed.functions:
        for node in walk(function):
            if isinstance(node, ast.Return) and node.value is not None and parsed.function_of(node) is function:
                returns.append((function, node))
    yield from sorted(returns, key=lambda pair: (pair[0] is not parsed.entry, pair[1] not in pair[0].body))


def _outputs(function: Function, value: ast.expr | None, flat: bool) -> list[ast.expr]:
    if isinstance(value, ast.Name) and flat:
        bound = [
            s
            for s in walk(function)
            if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == value.id for t in s.targets)
        ]
        if len(bound) == 1 and isinstance(bound[0].value, (ast.Tuple, ast.List, ast.Dict)):
            return _outputs(function, bound[0].value, flat) or [value]
    if isinstance(value, (ast.Tuple, ast.List)):
        items = [e for e in value.elts if not isinstance(e, ast.Starred)]
    elif isinstance(value, ast.Dict):
        items = value.values
    else:
        return [value] if value is not None else []
    return [o for item in items for o in (_outputs(function, item, flat) if flat else [item])]


def _return_text(parsed: SourceTree, outputs: Sequence[ast.expr]) -> str:
    texts = []
    for output in outputs:
        text = parsed.text_of(output)
        loose = "\n" in text or isinstance(output, ast.NamedExpr)
        texts.append(f"({text})" if loose and not text.endswith(")") else text)
    return ", ".join(texts)


def _returning(parsed: SourceTree, returned: ast.Return, outputs: Sequence[ast.expr]) -> Program:
    edit = Edit(parsed.span(returned), f"return {_return_text(parsed, outputs)}")
    return swept(applied(parsed.program, [edit]))


def _bisected(places: Sequence[int]) -> Iterator[int]:
    """The middle, then the middle of what follows it, and so on; then the others."""
    middles = []
    first = 0
    while first < len(places):
        middle = (first + len(places)) // 2
        middles.append(places[middle])
        first = middle + 1
    yield from middles
    yield from (p for p in places if p not in middles)


def _target(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.AugAssign):
        return statement.target.id if isinstance(statement.target, ast.Name) else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Tuple) and all(isinstance(e, ast.Name) for e in target.elts):
            return ", ".join(e.id for e in target.elts if isinstance(e, ast.Name))
        return target.id if isinstance(target, ast.Name) else None
    return None


def _appended(statement: ast.stmt) -> ast.expr | None:
    """The item that a statement appends to a list."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[item])):
            return item
        case _:
            return None


def _needed(parsed: SourceTree, block: Sequence[ast.stmt], statement: ast.stmt) -> bool:
    """Whether the program cannot run without it: the return of a function, ``super().__init__()``."""
    last = block[-1] is statement and isinstance(statement, ast.Return)
    top = isinstance(parsed.parents[block[0]], Function)
    return (
        (last and top)
        or is_docstring(statement)
        or isinstance(statement, ast.Pass)
        or ("super" in loads(statement) and parsed.text_of(statement).endswith("__init__()"))
    )


def _without(parsed: SourceTree, block: Sequence[ast.stmt], chunk: Sequence[ast.stmt]) -> Program:
    """The program without ``chunk``; names that it bound are replaced by those that they were computed from."""
    edits = parsed.cut(block, chunk)
    function = parsed.function_of(chunk[0])
    if function is None:
        return applied(parsed.program, edits)
    inside = {n for s in chunk for n in walk(s)}
    bound_elsewhere = {
        n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n not in inside
    } | {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    stands_for: dict[str, str] = {}
    for statement in chunk:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple):
                values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
                pairs = list(zip(target.elts, values, strict=False))
            for left, right in pairs:
                source = _first_local(parsed, function, right)
                if isinstance(left, ast.Name) and left.id not in bound_elsewhere and source:
                    stands_for[left.id] = stands_for.get(source, source)
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in inside:
            name = stands_for.get(node.id)
            if name and not _in_string(parsed, node):
                edits.append(Edit(parsed.span(node), name))
    return swept(applied(parsed.program, edits))


def _first_local(parsed: SourceTree, function: Function, value: ast.expr) -> str | None:
    local = stores(function) | {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    names = [n for n in walk(value) if isinstance(n, ast.Name) and n.id in local and n.id != "self"]
    return min(names, key=lambda n: parsed.span(n)).id if names else None


def _in_string(parsed: SourceTree, node: ast.AST) -> bool:
    """Whether it is inside an f-string, whose parts have no positions of their own in Python 3.11."""
    while node in parsed.parents:
        node = parsed.parents[node]
        if isinstance(node, ast.JoinedStr):
            return True
    return False


def _branches(parsed: SourceTree, statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], list[str]]]:
    """Blocks that may replace a compound statement, with the lines to put before them."""
    match statement:
        case ast.If():
            yield statement.body, []
            if statement.orelse and not parsed.text[parsed.span(statement.orelse[0])[0] :].startswith("elif"):
                yield statement.orelse, []
        case ast.While() | ast.With() if not _jumps(statement):
            yield statement.body, _named_items(parsed, statement)
        case ast.Try():
            yield [*statement.body], []
            for handler in statement.handlers:
                yield handler.body, []
        case ast.For() if not _jumps(statement):
            yield statement.body, _first_iteration(parsed, statement)
        case _:
            return


def _named_items(parsed: SourceTree, statement: ast.While | ast.With) -> list[str]:
    if isinstance(statement, ast.While):
        return []
    return [
        f"{parsed.text_of(item.optional_vars)} = {parsed.text_of(item.context_expr)}"
        for item in statement.items
        if item.optional_vars is not None and stores(item.optional_vars) & loads(statement)
    ]


def _jumps(loop: ast.stmt) -> bool:
    """Whether a ``break`` or ``continue`` anywhere inside might belong to the statement."""
    return any(isinstance(n, (ast.Break, ast.Continue)) for n in walk(loop))


def _first_iteration(parsed: SourceTree, loop: ast.For) -> list[str]:
    """Lines that bind the variables of a loop as its first iteration does."""
    if not stores(loop.target) & set().union(*(loads(s) for s in loop.body)):
        return []
    target = parsed.text_of(loop.target)
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[_]):
            return [f"{target} = 0"]
        case ast.Call(func=ast.Name(id="range"), args=[start, _, *_]):
            return [f"{target} = {parsed.text_of(start)}"]
        case ast.Tuple(elts=[first, *_]) | ast.List(elts=[first, *_]) if not isinstance(first, ast.Starred):
            return [f"{target} = {parsed.text_of(first)}"]
        case ast.Call(func=ast.Name(id="zip"), args=args) if isinstance(loop.target, ast.Tuple):
            if all(isinstance(a, (ast.Name, ast.Attribute)) for a in args):
                return [f"{target} = {', '.join(f'{parsed.text_of(a)}[0]' for a in args)}"]
        case ast.Name() | ast.Attribute():
            return [f"{target} = {parsed.text_of(loop.iter)}[0]"]
        case _:
            pass
    return [f"{target} = next(iter({parsed.text_of(loop.iter)}))"]


def _fewer_iterations(parsed: SourceTree, loop: ast.For) -> Iterator[Change]:
    """The loop with fewer iterations."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[bound]) if parsed.text_of(bound) not in ("1", "2"):
            yield [parsed.put(bound, "1")]
            yield [parsed.put(bound, "2")]
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for indices in fewer(len(elements)):
                comma = "," if len(indices) == 1 else ""
                items = ", ".join(parsed.text_of(elements[i]) for i in indices)
                yield [parsed.put(loop.iter, f"({items}{comma})" if isinstance(loop.iter, ast.Tuple) else f"[{items}]")]
        case _:
            return


def _simple_parameters(function: Function) -> bool:
    arguments = function.args
    inner = any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in walk(function))
    return not (inner or arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs)


def _calls(call: ast.Call, function: Function) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == function.name


def _around(parsed: SourceTree, node: ast.AST) -> list[ast.AST]:
    ancestors = []
    while node in parsed.parents:
        node = parsed.parents[node]
        ancestors.append(node)
    return ancestors


def _arguments(parsed: SourceTree, function: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """The argument for each parameter of a simple function; None where that depends on values."""
    names = [a.arg for a in function.args.args]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
    arguments: dict[str, ast.expr] = {**defaults, **dict(zip(names, call.args, strict=False))}
    arguments |= {k.arg: k.value for k in call.keywords if k.arg}
    return arguments if set(arguments) == set(names) else None


def _folded(parsed: SourceTree, function: Function, calls: Sequence[ast.Call]) -> list[Edit] | None:
    """Edits that replace each call by the returned expression."""
    returned = function.body[-1]
    edits: list[Edit] = []
    if not isinstance(returned, ast.Return) or returned.value is None:
        return None
    value = returned.value
    for call in calls:
        arguments = _arguments(parsed, function, call)
        if arguments is None or any(other in walk(call) for other in calls if other is not call):
            continue
        uses = [n for n in walk(value) if isinstance(n, ast.Name) and n.id in arguments]
        many = {n.id for n in uses if sum(n.id == m.id for m in uses) > 1}
        if any(not isinstance(arguments[name], (ast.Name, ast.Constant, ast.Attribute)) for name in many):
            continue
        if any(_in_string(parsed, n) for n in uses):
            continue
        text, start = parsed.text_of(value), parsed.span(value)[0]
        for use in sorted(uses, key=parsed.span, reverse=True):
            put = parsed.put(use, arguments[use.id])
            text = text[: put.span[0] - start] + put.text + text[put.span[1] - start :]
        try:
            edits.append(parsed.put(call, text))
        except SyntaxError:
            continue
    return edits


def _expanded(parsed: SourceTree, function: Function, body: Sequence[ast.stmt], call: ast.Call) -> list[Edit] | None:
    """Edits that insert the statements of ``function`` before the statement that calls it."""
    arguments = _arguments(parsed, function, call)
    statement = parsed.statement_of(call)
    outer = parsed.function_of(call)
    lines = parsed.whole_lines(statement, statement)
    returned = body[-1]
    if (
        arguments is None
        or outer is None
        or lines is None
        or not isinstance(statement, (ast.Assign, ast.Return, ast.Expr))
    ):
        return None
    if not isinstance(returned, ast.Return) or returned.value is None or parsed.whole_lines(body[0], body[-1]) is None:
        return None
    local = stores(function)
    taken = stores(outer) | {a.arg for a in walk(outer.args) if isinstance(a, ast.arg)}
    bindings = [(name, parsed.text_of(value)) for name, value in arguments.items() if parsed.text_of(value) != name]
    if (local | {name for name, _ in bindings}) & taken:
        return None
    indent = parsed.indent(statement)
    text = "".join(f"{indent}{name} = {value}\n" for name, value in bindings) + parsed.moved(body[:-1], indent)
    return [Edit((lines[0], lines[0]), text), parsed.put(call, returned.value)]
