"""Passes inside statements: operands for operations, fewer items and arguments, variables put where they are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from eqfuzz.rewrite.source.edit import Edit
from eqfuzz.triage.reduce.reduction_pass import Change, applied, reduction_pass
from eqfuzz.triage.reduce.slicing import swept
from eqfuzz.triage.reduce.source_tree import Function, SourceTree, fewer, loads, stores, walk

_LONG = 100
"""Characters of a line beyond which a variable stays one."""

_CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "ParameterList"})


@reduction_pass
def inline_variables(parsed: SourceTree) -> Iterator[Change]:
    """Inline variables that are bound once and read once: all of them, then one by one."""
    singles = [pair for f in parsed.functions for pair in _single_uses(parsed, f)]
    first_of_statement: dict[ast.stmt, list[Edit]] = {}
    bound = {id(statement) for statement, _ in singles}
    for statement, use in singles:
        user = parsed.statement_of(use)
        if id(user) not in bound and user not in first_of_statement:
            first_of_statement[user] = _inlined(parsed, statement, use)
    if len(first_of_statement) > 1:
        yield [e for edits in first_of_statement.values() for e in edits]
    for statement, use in reversed(singles):
        yield _inlined(parsed, statement, use)


@reduction_pass
def drop_items(parsed: SourceTree) -> Iterator[Change]:
    """Remove items of tuples, lists, dicts, sets, indices and ``nn.Sequential``, and operands of ``and`` and ``or``."""
    for node in [*_expressions(parsed), *_input_displays(parsed)]:
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                pass
            case ast.Call(args=items) if _last_name(node.func) in _CONTAINERS and len(items) > 1:
                pass
            case ast.BoolOp(values=items):
                pass
            case ast.Dict():
                yield from _fewer_entries(parsed, node)
                continue
            case ast.Slice():
                yield [Edit(parsed.span(node), "0")]
                continue
            case _:
                continue
        if isinstance(getattr(node, "ctx", None), ast.Store):
            yield from _fewer_targets(parsed, node)
            continue
        if _is_index(parsed, node):
            for item in (item for item in items if not isinstance(item, ast.Starred)):
                yield [Edit(parsed.span(node), parsed.text_of(item))]
            continue
        if parsed.statement_of(node) is None:
            continue
        for indices in fewer(len(items)):
            yield swept(applied(parsed.program, [_with_items(parsed, node, [items[i] for i in indices])]))


@reduction_pass
def replace_by_operand(parsed: SourceTree) -> Iterator[Change]:
    """Replace an operation by a variable in it or by one of its operands, the largest operations first."""
    for node in sorted(_expressions(parsed), key=_weight, reverse=True):
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.Set)) or _is_layer(node):
            continue
        operands = _operands(parsed, node)
        leaf = _leaf(parsed, node)
        for operand in [*([leaf] if leaf is not None else []), *operands]:
            if not (isinstance(operand, ast.Constant) and _is_whole(parsed, node)):
                yield swept(applied(parsed.program, [parsed.put(node, operand)]))


@reduction_pass
def simplify_choices(parsed: SourceTree) -> Iterator[Change]:
    """Replace a conditional expression by a branch, a comprehension by its element or by what it iterates over."""
    for node in _expressions(parsed):
        match node:
            case ast.IfExp(body=body, orelse=orelse):
                yield [parsed.put(node, body)]
                yield [parsed.put(node, orelse)]
            case ast.ListComp(generators=[generator]) | ast.GeneratorExp(generators=[generator]):
                if isinstance(generator.target, ast.Name) and generator.target.id not in loads(node.elt):
                    yield [parsed.put(node, f"[{parsed.text_of(node.elt)}]")]
                yield [parsed.put(node, generator.iter)]
                for test in generator.ifs:
                    start = parsed.text.rfind("if", 0, parsed.span(test)[0])
                    yield [Edit((start, parsed.span(test)[1]), "")]
                yield from _shorter_range(parsed, generator.iter)
            case ast.Call(func=ast.Lambda(body=body, args=ast.arguments(args=parameters)), args=arguments):
                yield _called_at_once(parsed, node, body, [p.arg for p in parameters], arguments)
            case _:
                continue


@reduction_pass
def drop_arguments(parsed: SourceTree) -> Iterator[Change]:
    """Remove arguments of calls: all keyword arguments, then one by one from the last."""
    for node in _expressions(parsed):
        if not isinstance(node, ast.Call) or _last_name(node.func) in _CONTAINERS:
            continue
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if len(node.keywords) > 1:
            yield [_with_arguments(parsed, node, node.args)]
        least = 1 if isinstance(node.func, ast.Attribute) and _imported_root(parsed, node.func) else 0
        for index in reversed(range(least, len(arguments))):
            optional = isinstance(arguments[index], ast.keyword) or index == len(node.args) - 1
            if optional and not (isinstance(arguments[index], ast.Starred) and len(arguments) == 1):
                yield [_with_arguments(parsed, node, [a for i, a in enumerate(arguments) if i != index])]


@reduction_pass
def replace_variables(parsed: SourceTree) -> Iterator[Change]:
    """Replace a parameter everywhere by another parameter, or by 1."""
    for function in parsed.functions:
        parameters = [a.arg for a in function.args.args if a.arg != "self"]
        uses = {
            name: [
                n
                for n in walk(function)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and parsed.has_span(n)
            ]
            for name in parameters
        }
        for name in reversed(parameters):
            if not uses[name] or name in stores(function):
                continue
            others = [p for p in parameters if p != name and uses[p]]
            for other in others[:2]:
                yield [Edit(parsed.span(n), other) for n in uses[name]]
            if not any(isinstance(parsed.parents[n], (ast.Subscript, ast.Attribute)) for n in uses[name]):
                yield [parsed.put(n, "1") for n in uses[name]]


def _expressions(parsed: SourceTree) -> list[ast.expr]:
    """Expressions of the code under test in source order, except in f-strings, annotations and decorators."""
    expressions: list[ast.expr] = []
    seen: set[int] = set()
    for function in parsed.functions:
        pending: list[ast.AST] = list(reversed([*function.body, *function.args.defaults]))
        while pending:
            node = pending.pop()
            if id(node) in seen or isinstance(node, (ast.JoinedStr, ast.expr_context)):
                continue
            seen.add(id(node))
            if isinstance(node, ast.expr):
                expressions.append(node)
            skipped = getattr(node, "annotation", None), *getattr(node, "decorator_list", ())
            pending += reversed([c for c in ast.iter_child_nodes(node) if c not in skipped])
    return expressions


def _input_displays(parsed: SourceTree) -> list[ast.expr]:
    """Displays in the inputs hook, except for the tuples of positional arguments."""
    if parsed.hook is None:
        return []
    nodes = [n for n in walk(parsed.hook) if isinstance(n, (ast.Tuple, ast.List, ast.Dict))]
    return [n for n in nodes if not isinstance(parsed.parents[n], (ast.Yield, ast.Return)) or isinstance(n, ast.Dict)]


def _weight(node: ast.AST) -> int:
    return sum(not isinstance(n, ast.expr_context) for n in walk(node))


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _imported_root(parsed: SourceTree, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in parsed.imported


def _is_layer(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_value(parsed: SourceTree, node: ast.expr) -> bool:
    """Whether a node is an operand: not a starred item, a slice or a part of a module's path."""
    if isinstance(node, (ast.Starred, ast.Slice)) or (isinstance(node, ast.Name) and node.id in ("self", "super")):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(e, (ast.Slice, ast.Starred)) for e in node.elts):
        return False
    return not _imported_root(parsed, node)


def _operands(parsed: SourceTree, node: ast.expr) -> list[ast.expr]:
    """The operands of an operation, the largest first."""
    operands: list[ast.expr] = []
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            if isinstance(func, ast.Attribute):
                operands.append(func.value)
            operands += [a.value if isinstance(a, ast.Starred) else a for a in args]
            operands += [k.value for k in keywords]
        case ast.BinOp(left=left, right=right):
            operands += [left, right]
        case ast.UnaryOp(operand=operand):
            operands.append(operand)
        case ast.Compare(left=left, comparators=comparators):
            operands += [left, *comparators]
        case ast.BoolOp(values=values):
            operands += values
        case ast.Subscript(value=value, ctx=ast.Load()) | ast.Attribute(value=value, ctx=ast.Load()):
            if not _is_called(node, value):
                operands.append(value)
        case ast.NamedExpr(value=value):
            operands.append(value)
        case _:
            pass
    chosen = [f for f in operands if _is_value(parsed, f) and not isinstance(f, ast.Constant)]
    chosen.sort(key=_weight, reverse=True)
    if not isinstance(node, (ast.Call, ast.Subscript)):
        chosen += [f for f in operands if isinstance(f, ast.Constant)]
    return chosen if not _called(parsed, node) else []


def _is_called(node: ast.expr, value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "self" and isinstance(node, ast.Attribute)


def _called(parsed: SourceTree, node: ast.expr) -> bool:
    """Whether the node is the function of a call."""
    parent = parsed.parents[node]
    return isinstance(parent, ast.Call) and parent.func is node


def _is_whole(parsed: SourceTree, node: ast.expr) -> bool:
    """Whether a node is the whole value of a statement."""
    return isinstance(parsed.parents[node], ast.stmt)


def _leaf(parsed: SourceTree, node: ast.expr) -> ast.expr | None:
    """The first variable in an operation of several operations."""
    if _weight(node) < 4 or not _operands(parsed, node):
        return None
    function = parsed.function_of(node)
    if function is None:
        return None
    local = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)} | stores(function)
    names = [n for n in walk(node) if isinstance(n, ast.Name) and n.id in local - {"self"} and parsed.has_span(n)]
    inner = {n for c in walk(node) if isinstance(c, (ast.comprehension, ast.Lambda)) for n in stores(c)}
    names = [n for n in names if n.id not in inner]
    return min(names, key=parsed.span) if names else None


def _is_index(parsed: SourceTree, node: ast.expr) -> bool:
    """Whether it is an index tuple with slices, which is not a value."""
    return isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts)


def _with_items(parsed: SourceTree, node: ast.expr, items: Sequence[ast.expr]) -> Edit:
    """The edit that leaves ``items`` in a display; the only item of a tuple that is a whole value replaces it."""
    texts = [parsed.text_of(item) for item in items]
    joined = ", ".join(texts)
    match node:
        case ast.Tuple():
            if len(items) == 1 and not isinstance(items[0], ast.Starred):
                return parsed.put(node, items[0] if _is_whole(parsed, node) else f"({joined},)")
            bare = not parsed.text_of(node).startswith("(") or parsed.span(node)[0] == parsed.span(node.elts[0])[0]
            return Edit(parsed.span(node), joined if bare else f"({joined})")
        case ast.BoolOp():
            if len(items) == 1:
                return parsed.put(node, items[0])
            word = " and " if isinstance(node.op, ast.And) else " or "
            return parsed.put(node, word.join(texts))
        case ast.Call():
            return Edit(parsed.span(node), f"{parsed.text_of(node.func)}({joined})")
        case ast.Set():
            return Edit(parsed.span(node), f"{{{joined}}}")
        case _:
            return Edit(parsed.span(node), f"[{joined}]")


def _fewer_entries(parsed: SourceTree, node: ast.Dict) -> Iterator[Change]:
    for indices in fewer(len(node.keys)):
        pairs = []
        for index in indices:
            key = node.keys[index]
            value = parsed.text_of(node.values[index])
            pairs.append(f"{parsed.text_of(key)}: {value}" if key is not None else f"**{value}")
        yield swept(applied(parsed.program, [Edit(parsed.span(node), "{" + ", ".join(pairs) + "}")]))


def _fewer_targets(parsed: SourceTree, target: ast.expr) -> Iterator[Change]:
    """``a, b = x, y`` with fewer targets, first with those that are read."""
    statement = parsed.parents[target]
    if not isinstance(statement, ast.Assign) or not isinstance(target, (ast.Tuple, ast.List)):
        return
    function = parsed.function_of(statement)
    value = statement.value
    if function is None or len(statement.targets) > 1:
        return
    read = loads(function)
    used = [i for i, e in enumerate(target.elts) if not isinstance(e, ast.Name) or e.id in read]
    choices = [used] if used and len(used) < len(target.elts) else []
    if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        for indices in [*choices, *fewer(len(target.elts))]:
            left = ", ".join(parsed.text_of(target.elts[i]) for i in indices)
            right = ", ".join(parsed.text_of(value.elts[i]) for i in indices)
            yield swept(applied(parsed.program, [Edit(parsed.span(statement), f"{left} = {right}")]))
    elif choices and len(used) == 1:
        left, end = parsed.text_of(target.elts[used[0]]), parsed.span(value)[1]
        yield [Edit(parsed.span(target), left), Edit((end, end), f"[{used[0]}]")]
        yield [Edit(parsed.span(target), left)]


def _called_at_once(
    parsed: SourceTree, call: ast.Call, body: ast.expr, names: Sequence[str], arguments: Sequence[ast.expr]
) -> list[Edit]:
    """Edits that replace the call of a lambda by its body with the arguments in it."""
    bound = dict(zip(names, arguments, strict=False))
    text, start = parsed.text_of(body), parsed.span(body)[0]
    uses = [n for n in walk(body) if isinstance(n, ast.Name) and n.id in bound and parsed.has_span(n)]
    for use in sorted(uses, key=parsed.span, reverse=True):
        put = parsed.put(use, bound[use.id])
        text = text[: put.span[0] - start] + put.text + text[put.span[1] - start :]
    return [parsed.put(call, text)]


def _shorter_range(parsed: SourceTree, iterated: ast.expr) -> Iterator[Change]:
    match iterated:
        case ast.Call(func=ast.Name(id="range"), args=[bound]) if parsed.text_of(bound) != "1":
            yield [parsed.put(bound, "1")]
        case _:
            return


def _with_arguments(parsed: SourceTree, call: ast.Call, arguments: Sequence[ast.expr | ast.keyword]) -> Edit:
    """``call`` with only these of its arguments."""
    start = parsed.span(call.func)[1]
    opening = parsed.text.index("(", _after_parentheses(parsed, start))
    return Edit((opening, parsed.span(call)[1]), f"({', '.join(parsed.text_of(a) for a in arguments)})")


def _after_parentheses(parsed: SourceTree, position: int) -> int:
    """The position behind the closing parentheses around the function of a call."""
    while parsed.text[position] in ") \t\n":
        position += 1
    return position


def _single_uses(parsed: SourceTree, function: Function) -> Iterator[tuple[ast.Assign, ast.Name]]:
    """Assignments to a variable with the only read of it, where no loop or function is between them."""
    for block in parsed.blocks(function):
        for index, statement in enumerate(block):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)]) if parsed.function_of(statement) is function:
                    use = _only_use(parsed, function, block, index, name)
                case _:
                    continue
            if use is not None and _length(parsed, parsed.statement_of(use)) + len(
                parsed.text_of(statement.value)
            ) <= _LONG + len(name):
                yield statement, use


def _only_use(
    parsed: SourceTree, function: Function, block: Sequence[ast.stmt], index: int, name: str
) -> ast.Name | None:
    same = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
    end = len(block)
    is_parameter = name in {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    rebound = is_parameter or sum(isinstance(n.ctx, ast.Store) for n in same) > 1
    if rebound:  # as far as the next statement that binds it
        if block is not function.body or any(parsed.function_of(n) is not function for n in same):
            return None
        end = next((i for i in range(index + 1, end) if name in stores(block[i])), end)
        if end < len(block) and not isinstance(block[end], ast.Assign):
            return None
    inside = {n for s in block[index + 1 : end + 1] for n in walk(s)}
    used = [n for n in same if isinstance(n.ctx, ast.Load) and n in inside]
    if len(used) != 1 or not parsed.has_span(used[0]) or (not rebound and len(same) > 2):
        return None
    user = parsed.statement_of(used[0])
    if user not in block or parsed.function_of(used[0]) is not function:
        return None
    if isinstance(user, (ast.While, ast.For)) and getattr(user, "iter", None) is not used[0]:
        return None
    return used[0]


def _length(parsed: SourceTree, statement: ast.stmt) -> int:
    text = parsed.text_of(statement)
    return max(len(line) for line in text.splitlines())


def _inlined(parsed: SourceTree, statement: ast.Assign, use: ast.Name) -> list[Edit]:
    block = next(b for b in parsed.blocks(parsed.parents[statement]) if statement in b)
    return [*parsed.cut(block, [statement]), parsed.put(use, statement.value)]
