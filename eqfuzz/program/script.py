"""Scripts as seeds: separates statements that define the program from statements that run it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from eqfuzz.program.parsing import parse

_SETTINGS = {
    *("manual_seed", "seed", "set_default_dtype", "use_deterministic_algorithms", "simplefilter"),
    "init_process_group",
}
_USUAL_IMPORTS = {"torch": "import torch", "nn": "import torch.nn as nn", "F": "import torch.nn.functional as F"}


def keep_definitions(source: str, tree: ast.Module, entry: str, wanted: str) -> str:
    """``source`` with every module-level statement blanked that only runs, compiles or prints the program.

    Kept are imports, definitions, settings (seeds, ``torch.*.config``) and what the names in the expression
    ``wanted`` need, transitively. A statement that calls the entry or ``torch.compile``, or uses what such a
    statement made, is never kept. Line numbers stay as they were.
    """
    running = _names_made_by_running(tree.body, entry)
    remaining = [s for s in tree.body if _is_definition(s) or _is_setting(s)]
    needed = _loaded(parse(wanted)) | {n for s in remaining for n in _loaded(s)}
    candidates = [s for s in tree.body if s not in remaining and not _runs(s, entry, running)]
    while True:
        more = [s for s in candidates if s not in remaining and _touched(s) & needed]
        if not more:
            break
        remaining += more
        needed |= {n for s in more for n in _loaded(s)}
    return _blank(source, tree.body, set(map(id, remaining)))


def with_usual_imports(source: str) -> str:
    """``source`` with ``torch``, ``nn`` and ``F`` imported where it uses them unbound (WhiteFox's files do)."""
    tree = parse(source)
    bound = assigned_names(tree.body)
    missing = [line for name, line in _USUAL_IMPORTS.items() if name in _loaded(tree) and name not in bound]
    return "".join(line + "\n" for line in missing) + source if missing else source


def assigned_names(statements: Iterable[ast.stmt]) -> set[str]:
    """Names that the statements bind in their own scope."""
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name.split(".")[0]) for alias in statement.names}
        else:
            names |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def construction(tree: ast.Module, cls: str) -> str:
    """The expression that builds ``cls``, as the script itself writes it where its arguments are constants.

    ``.eval()`` is part of it where the script puts its model into evaluation mode before the end.
    """
    evaluation = ".eval()" if _ends_in_evaluation_mode(tree, cls) else ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == cls:
            values = [*node.args, *(k.value for k in node.keywords)]
            if all(_is_constant(value) for value in values):
                return ast.unparse(node) + evaluation
    return f"{cls}(){evaluation}"


def last_call_arguments(tree: ast.Module, cls: str) -> str | None:
    """The arguments of the script's last call of an instance of ``cls``, as a tuple expression."""
    instances = _instances(tree, cls)
    arguments: str | None = None
    for node in _calls_of_the_script(tree):
        if not node.keywords and _is_instance(node.func, cls, instances):
            arguments = "(" + "".join(f"{ast.unparse(argument)}, " for argument in node.args) + ")"
    return arguments


def _ends_in_evaluation_mode(tree: ast.Module, cls: str) -> bool:
    """Whether the script's last ``model.eval()`` or ``model.train()`` without arguments is the former."""
    instances = _instances(tree, cls)
    modes = [
        node.func.attr
        for node in _calls_of_the_script(tree)
        if isinstance(node.func, ast.Attribute)
        and node.func.attr in ("eval", "train")
        and not (node.args or node.keywords)
        and _is_instance(node.func.value, cls, instances)
    ]
    return bool(modes) and modes[-1] == "eval"


def _instances(tree: ast.Module, cls: str) -> set[str]:
    """Names of the module level that an instance of ``cls`` is assigned to."""
    return {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign) and _constructs(statement.value, cls)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def _calls_of_the_script(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls outside functions and classes, statement by statement."""
    for statement in tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _constructs(value: ast.expr, cls: str) -> bool:
    """``Model(...)``, also with ``.eval()`` or ``.to(...)`` behind it."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == cls


def _is_instance(func: ast.expr, cls: str, instances: set[str]) -> bool:
    return (isinstance(func, ast.Name) and func.id in instances) or _constructs(func, cls)


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(n, (ast.Name, ast.Call, ast.Lambda)) for n in ast.walk(node))


def _is_definition(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _is_setting(statement: ast.stmt) -> bool:
    """Whether it is ``torch.manual_seed(42)``, ``torch._dynamo.config.x = True`` or similar, also below an ``if``."""
    if isinstance(statement, ast.If) and not statement.orelse:
        return all(_is_setting(inner) for inner in statement.body)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func).split(".")[-1] in _SETTINGS
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, ast.Attribute) and ".config." in ast.unparse(t) for t in statement.targets)
    return False


def _runs(statement: ast.stmt, entry: str, running: set[str]) -> bool:
    if isinstance(statement, ast.If) and "__name__" in _loaded(statement.test):
        return True
    used = _loaded(statement)
    if entry in used or used & running:
        return True
    calls = {ast.unparse(n.func) for n in ast.walk(statement) if isinstance(n, ast.Call)}
    return bool(calls & {"torch.compile", "print", "exit", "sys.exit", "quit"})


def _names_made_by_running(statements: Sequence[ast.stmt], entry: str) -> set[str]:
    running: set[str] = set()
    for statement in statements:
        if not _is_definition(statement) and _runs(statement, entry, running):
            running |= assigned_names([statement])
    return running


def _touched(statement: ast.stmt) -> set[str]:
    """Names that a statement binds or may change through a method, an item or an attribute."""
    return assigned_names([statement]) | _loaded(statement)


def _loaded(node: ast.AST) -> set[str]:
    nodes = list(ast.walk(node))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    names |= {n.target.id for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return names - set(dir(builtins)) | ({"__name__"} & names)


def _blank(source: str, statements: Sequence[ast.stmt], remaining: set[int]) -> str:
    lines = source.splitlines(keepends=True)
    kept_lines = {n for s in statements if id(s) in remaining for n in _line_numbers(s)}
    for statement in statements:
        if id(statement) in remaining:
            continue
        for number in _line_numbers(statement):
            if number not in kept_lines:
                lines[number - 1] = "\n"
            else:  # shares its line with a kept statement: `a = 1; print(a)`
                lines[number - 1] = lines[number - 1].replace(ast.unparse(statement), "pass")
    return "".join(lines)


def _line_numbers(statement: ast.stmt) -> Iterator[int]:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(d.lineno for d in decorators)])
    yield from range(first, (statement.end_lineno or first) + 1)
