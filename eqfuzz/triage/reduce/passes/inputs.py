"""Passes over inputs: input sets, parameters, draws, sizes and other literals."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Sequence

from eqfuzz.program.parsing import parse_expression
from eqfuzz.program.program import SeedFormat
from eqfuzz.rewrite.source.edit import Edit
from eqfuzz.triage.reduce.reduction_pass import Change, applied, reduction_pass
from eqfuzz.triage.reduce.slicing import swept
from eqfuzz.triage.reduce.source_tree import SourceTree, fewer, walk

_DRAWS = frozenset("normal uniform integers booleans special choice permutation".split())
_DTYPES = re.compile(r"\btorch\.(float64|double|float16|half|bfloat16|int\d+|uint\d+|long|complex\d+)$")


@reduction_pass
def fewer_input_sets(parsed: SourceTree) -> Iterator[Change]:
    """Keep one input set, then fewer: ``yield`` statements of the hook, or items of ``input_tensors``."""
    if parsed.hook is not None:
        yields = [
            s
            for b in parsed.blocks(parsed.hook)
            for s in b
            if isinstance(s, ast.Expr) and isinstance(s.value, (ast.Yield, ast.YieldFrom))
        ]
        blocks = {id(s): b for b in parsed.blocks(parsed.hook) for s in b}
        choices = [[i] for i in range(len(yields))] if len(yields) > 1 else []
        for indices in [*choices, *fewer(len(yields))]:
            dropped = [s for i, s in enumerate(yields) if i not in indices]
            yield [e for s in dropped for e in parsed.cut(blocks[id(s)], [s])]
        for loop in walk(parsed.hook):
            if isinstance(loop, ast.For) and isinstance(loop.iter, (ast.Tuple, ast.List)):
                items = loop.iter.elts
                for indices in [*([i] for i in range(len(items))), *fewer(len(items))]:
                    joined = ", ".join(parsed.text_of(items[i]) for i in indices)
                    yield [parsed.put(loop.iter, f"({joined},)" if len(indices) == 1 else f"({joined})")]
    if parsed.program.format is SeedFormat.PTMODULE:
        for statement in parsed.tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
                items = statement.value.elts
                if parsed.text_of(statement.targets[0]) == parsed.program.inputs:
                    for indices in [*([i] for i in range(len(items))), *fewer(len(items))]:
                        joined = ", ".join(parsed.text_of(items[i]) for i in indices)
                        yield [parsed.put(statement.value, f"[{joined}]")]


@reduction_pass
def drop_parameters(parsed: SourceTree) -> Iterator[Change]:
    """Parameters of the entry that nothing reads, with what the inputs give for them: all, then one by one.

    Defaults that stand for a parameter, and what ``get_init_inputs`` gives to no use, go the same way.
    """
    if parsed.entry is not None:
        names = _parameters(parsed.entry)
        unread = [n for n in names if n not in _read_in(parsed.entry)]
        for chosen in [unread, *([n] for n in unread if len(unread) > 1)]:
            if chosen and (len(chosen) < len(names) or parsed.program.format is SeedFormat.EQFUZZ):
                yield from _without_parameters(parsed, parsed.entry, set(chosen))
        arguments = parsed.entry.args
        by_default = list(zip(reversed(arguments.args), reversed(arguments.defaults), strict=False))
        by_default += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
        for argument, default in by_default:
            uses = [n for n in walk(parsed.entry) if isinstance(n, ast.Name) and n.id == argument.arg]
            if uses and all(isinstance(n.ctx, ast.Load) and parsed.has_span(n) for n in uses):
                yield [parsed.put(n, default) for n in uses]
    for function in parsed.functions:
        if function.name == "__init__" and parsed.program.format is SeedFormat.KERNELBENCH:
            unread = {n for n in _parameters(function) if n not in _read_in(function)}
            if unread:
                yield from _without_parameters(parsed, function, unread)


@reduction_pass
def plainer_draws(parsed: SourceTree) -> Iterator[Change]:
    """Simplify draws of ``rng`` and ``torch``: normal values, lower rank, no views and keywords."""
    for call in _input_calls(parsed):
        if isinstance(call.func, ast.Attribute) and _from_rng(call):
            sizes = call.args[_leading(call.func.attr) :]
            if call.func.attr in ("special", "choice", "uniform"):
                yield [Edit(parsed.span(call), f"rng.normal({_joined(parsed, [*sizes, *call.keywords], _PLAIN)})")]
                yield [Edit(parsed.span(call), f"rng.normal({_joined(parsed, sizes)})")]
            if len(call.keywords) > 1:
                yield [_call(parsed, call, call.args)]
            for keyword in call.keywords:
                yield [_call(parsed, call, [*call.args, *(k for k in call.keywords if k is not keyword)])]
            if len(sizes) > 2:
                yield [_call(parsed, call, [*call.args[: -len(sizes)], *sizes[-1:], *call.keywords])]
            for dropped in (0, -1) if len(sizes) > 1 else (0,) if sizes else ():
                remaining = [s for s in sizes if s is not sizes[dropped]]
                yield [_call(parsed, call, [*call.args[: len(call.args) - len(sizes)], *remaining, *call.keywords])]
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Call, ast.Subscript)):
            yield [parsed.put(call, call.func.value)]
        elif call.keywords:
            for keyword in call.keywords:
                yield [_call(parsed, call, [*call.args, *(k for k in call.keywords if k is not keyword)])]
    for node in _input_nodes(parsed):
        if isinstance(node, ast.BinOp):
            yield [parsed.put(node, node.left)]
            yield [parsed.put(node, node.right)]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Call):
            yield [parsed.put(node, node.value)]


@reduction_pass
def inline_inputs(parsed: SourceTree) -> Iterator[Change]:
    """Inline variables of the inputs hook that are read once; unroll loops over one item."""
    if parsed.hook is None:
        return
    names = [n for n in walk(parsed.hook) if isinstance(n, ast.Name)]
    for statement in list(parsed.hook.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                uses = [n for n in names if n.id == name and isinstance(n.ctx, ast.Load)]
                if len(uses) == 1:
                    yield [*parsed.cut(parsed.hook.body, [statement]), parsed.put(uses[0], value)]
                if not uses:
                    yield parsed.cut(parsed.hook.body, [statement])
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                if len(targets) == len(values):
                    bound = {t.id: v for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name)}
                    uses = [n for n in names if n.id in bound and isinstance(n.ctx, ast.Load)]
                    if len({n.id for n in uses}) == len(uses):
                        puts = [parsed.put(n, bound[n.id]) for n in uses]
                        yield [*parsed.cut(parsed.hook.body, [statement]), *puts]
            case ast.For(iter=ast.Tuple(elts=[item]) | ast.List(elts=[item]), target=target):
                lines = parsed.whole_lines(statement, statement)
                bound = _bound(target, item)
                if lines is None or bound is None:
                    continue
                uses = [
                    n
                    for s in statement.body
                    for n in walk(s)
                    if isinstance(n, ast.Name) and n.id in bound and isinstance(n.ctx, ast.Load)
                ]
                edited = applied(parsed.program, [parsed.put(n, bound[n.id]) for n in uses])
                again = SourceTree(edited)
                loop = again.hook.body[parsed.hook.body.index(statement)] if again.hook is not None else None
                if isinstance(loop, ast.For) and (lines := again.whole_lines(loop, loop)) is not None:
                    yield applied(edited, [Edit(lines, again.moved(loop.body, again.indent(loop)))])
            case _:
                continue


@reduction_pass
def smaller_integers(parsed: SourceTree) -> Iterator[Change]:
    """Replace integers by 2 and 1, each value everywhere at once, so that equal sizes stay equal."""
    constants: dict[int, list[ast.Constant]] = {}
    for node in walk(parsed.tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1 and parsed.has_span(node):
            constants.setdefault(node.value, []).append(node)
    large = [n for k, nodes in constants.items() if k > 2 for n in nodes]
    sizes = {id(a) for c in _input_calls(parsed) if _from_rng(c) for a in _sizes(c)}
    if len({n.value for n in large}) > 1:
        yield [Edit(parsed.span(n), "2") for n in large]
        yield [Edit(parsed.span(n), "2") for n in large if id(n) in sizes]
    for k in sorted(constants, reverse=True):
        for new in dict.fromkeys((2, 1, 3, k // 2)) if k > 2 else (1,):
            if new < k and (k > 2 or any(id(n) in sizes for n in constants[k])):
                yield [Edit(parsed.span(n), str(new)) for n in constants[k]]
    for k in sorted(constants, reverse=True):
        if len(constants[k]) > 1:
            for node in constants[k]:
                if id(node) in sizes:
                    yield [Edit(parsed.span(node), "1")]
                if k > 2:
                    yield [Edit(parsed.span(node), "2")]


@reduction_pass
def simpler_literals(parsed: SourceTree) -> Iterator[Change]:
    """Replace floats by 1.0, 0.5 and 2.0, strings by one letter, dtypes by float32."""
    for node in walk(parsed.tree):
        if isinstance(node, ast.Attribute) and _DTYPES.search(parsed.text_of(node)):
            yield [Edit(parsed.span(node), "torch.float32")]
        if not isinstance(node, ast.Constant) or not parsed.has_span(node):
            continue
        match node.value:
            case float() if node.value not in (0.0, 1.0, 0.5, 2.0):
                yield from ([Edit(parsed.span(node), text)] for text in ("1.0", "0.5", "2.0"))
            case str() if len(node.value) > 1 and isinstance(parsed.parents[node], (ast.Dict, ast.Subscript)):
                same = [n for n in walk(parsed.tree) if isinstance(n, ast.Constant) and n.value == node.value]
                taken = {n.value for n in walk(parsed.tree) if isinstance(n, ast.Constant)}
                letter = next((c for c in f"{node.value}abcdefgh" if c.isalpha() and c not in taken), "a")
                yield [Edit(parsed.span(n), f'"{letter}"') for n in same if parsed.has_span(n)]
            case _:
                continue


_PLAIN = frozenset({"dtype", "requires_grad"})


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names of the parameters without self; none where the signature has ``*``, ``**`` or ``/``."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        return []
    return [a.arg for a in (*arguments.args, *arguments.kwonlyargs) if a.arg != "self"]


def _read_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {n.id for s in function.body for n in walk(s) if isinstance(n, ast.Name)}


def _without_parameters(
    parsed: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef, dropped: set[str]
) -> Iterator[Change]:
    """The function and its arguments without the ``dropped`` parameters."""
    arguments = function.args
    if not arguments.args:
        return
    program = parsed.program
    edits = [_signature(parsed, function, dropped)]
    positional = [a.arg for a in arguments.args if a.arg != "self"]
    places = {i for i, name in enumerate(positional) if name in dropped}
    expression = parse_expression(program.inputs)
    if function is not parsed.entry:
        edits += [e for node in _init_given(parsed) for e in _without_arguments(parsed, node, places, dropped)]
    elif isinstance(expression, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in expression.elts):
        remaining = [ast.unparse(e) for i, e in enumerate(expression.elts) if i not in places]
        program = dataclasses.replace(program, inputs="(" + "".join(f"{k}, " for k in remaining) + ")")
    else:
        if program.format is SeedFormat.TORCHFUZZ and len(positional) - 1 in places:
            program = dataclasses.replace(program, inputs="(*args,)")
        for node in _input_expressions(parsed):
            edits += _without_arguments(parsed, node, places, dropped)
    yield swept(applied(program, edits))


def _signature(parsed: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef, dropped: set[str]) -> Edit:
    """The edit that removes parameters from a definition."""
    arguments = function.args
    none = [None] * (len(arguments.args) - len(arguments.defaults))
    pairs = [
        *zip(arguments.args, [*none, *arguments.defaults], strict=True),
        None,
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    parameters: list[str] = []
    for pair in pairs:
        if pair is None:
            parameters += ["*"] if any(a.arg not in dropped for a in arguments.kwonlyargs) else []
        elif pair[0].arg not in dropped:
            joint = " = " if pair[0].annotation is not None else "="
            parameters.append(parsed.text_of(pair[0]) + (joint + parsed.text_of(pair[1]) if pair[1] else ""))
    ends = [parsed.span(node)[1] for pair in pairs if pair for node in pair if node]
    return Edit((parsed.span(arguments.args[0])[0], max(ends)), ", ".join(parameters))


def _init_given(parsed: SourceTree) -> Iterator[ast.expr]:
    for statement in parsed.tree.body:
        if getattr(statement, "name", None) == "get_init_inputs":
            for node in walk(statement):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield node.value


def _input_expressions(parsed: SourceTree) -> Iterator[ast.expr]:
    """The expressions that make one input set each."""
    if parsed.hook is not None:
        for node in walk(parsed.hook):
            if isinstance(node, (ast.Yield, ast.Return)) and node.value is not None:
                yield node.value
    for statement in parsed.tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="args")]) if parsed.program.format is SeedFormat.TORCHFUZZ:
                yield statement.value
            case _:
                continue


def _without_arguments(parsed: SourceTree, node: ast.expr, places: set[int], dropped: set[str]) -> list[Edit]:
    match node:
        case ast.Tuple(elts=items):
            remaining = [item for i, item in enumerate(items) if i not in places]
            if len(remaining) == len(items):
                return []
            joined = ", ".join(parsed.text_of(item) for item in remaining)
            bare = bool(items) and parsed.span(node)[0] == parsed.span(items[0])[0]
            if len(remaining) == 1 and isinstance(parsed.parents[node], (ast.Yield, ast.Return)):
                return [parsed.put(node, remaining[0])]
            if len(remaining) < 2:
                joined, bare = f"{joined}," if remaining else "", False
            return [Edit(parsed.span(node), joined if bare else f"({joined})")]
        case ast.BinOp(left=ast.Tuple(elts=left), op=ast.Add(), right=ast.Tuple(elts=right)):
            remaining = [parsed.text_of(item) for i, item in enumerate([*left, *right]) if i not in places]
            return [Edit(parsed.span(node), f"({', '.join(remaining)}{',' if len(remaining) == 1 else ''})")]
        case ast.List(elts=items) if parsed.program.format is SeedFormat.KERNELBENCH:
            remaining = [parsed.text_of(item) for i, item in enumerate(items) if i not in places]
            return [Edit(parsed.span(node), f"[{', '.join(remaining)}]")]
        case ast.Dict(keys=keys, values=values):
            pairs = [
                f"{parsed.text_of(k)}: {parsed.text_of(v)}"
                for k, v in zip(keys, values, strict=True)
                if k is not None and not (isinstance(k, ast.Constant) and k.value in dropped)
            ]
            return [Edit(parsed.span(node), "{" + ", ".join(pairs) + "}")]
        case _ if 0 in places:
            return [Edit(parsed.span(node), "()")]
        case _:
            return []


def _input_nodes(parsed: SourceTree) -> Iterator[ast.expr]:
    """Expressions that make the inputs: in the hook, or assigned at the module level."""
    roots: list[ast.AST] = [parsed.hook] if parsed.hook is not None else []
    roots += [s for s in parsed.tree.body if isinstance(s, ast.Assign)]
    for root in roots:
        for node in walk(root):
            if isinstance(node, ast.expr) and not isinstance(parsed.parents[node], ast.JoinedStr):
                yield node


def _input_calls(parsed: SourceTree) -> Iterator[ast.Call]:
    yield from (n for n in _input_nodes(parsed) if isinstance(n, ast.Call))


def _from_rng(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and (
        isinstance(call.func.value, ast.Name) and call.func.value.id == "rng" and call.func.attr in _DRAWS
    )


def _leading(method: str) -> int:
    """How many arguments of a draw precede its sizes."""
    return {"integers": 2, "choice": 1}.get(method, 0)


def _sizes(call: ast.Call) -> list[ast.expr]:
    return call.args[_leading(call.func.attr) :] if isinstance(call.func, ast.Attribute) else []


def _joined(
    parsed: SourceTree, arguments: Sequence[ast.expr | ast.keyword], keywords: frozenset[str] = frozenset()
) -> str:
    selected = [a for a in arguments if not isinstance(a, ast.keyword) or a.arg in keywords]
    return ", ".join(parsed.text_of(a) for a in selected)


def _call(parsed: SourceTree, call: ast.Call, arguments: Sequence[ast.expr | ast.keyword]) -> Edit:
    joined = ", ".join(parsed.text_of(a) for a in arguments)
    return Edit(parsed.span(call), f"{parsed.text_of(call.func)}({joined})")


def _bound(target: ast.expr, item: ast.expr) -> dict[str, ast.expr] | None:
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, ast.Tuple) and isinstance(item, ast.Tuple) and len(target.elts) == len(item.elts):
        return {t.id: v for t, v in zip(target.elts, item.elts, strict=True) if isinstance(t, ast.Name)}
    return None
