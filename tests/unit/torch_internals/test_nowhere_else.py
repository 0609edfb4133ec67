"""Private names of torch are used in ``eqfuzz.torch_internals`` and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import eqfuzz
from eqfuzz.torch_internals.contract import CONTRACT

PACKAGE = Path(eqfuzz.__file__).parent
HOME = PACKAGE / "torch_internals"

TEXTS = {
    "generate/dag/flow.py": "programs that call control flow operators",
    "generate/dag/operators/fusion/fusion.py": "programs that call what optimisers call",
    "generate/dag/operators/nn/training.py": "programs that call what optimisers call",
    "program/policy.py": "what untrusted programs may not name",
    "report/issue.py": "sentences about findings",
    "triage/reproducer/graph_passes.py": "lines of reproducers, which run without eqfuzz",
    "triage/reproducer/header.py": "lines of reproducers, which run without eqfuzz",
    "triage/upstream/boolean_function.py": "lines of reproducers, which run without eqfuzz",
    "triage/upstream/mitigations.py": "lines of reproducers, which run without eqfuzz",
    "triage/upstream/unit_test.py": "lines of tests for PyTorch's tree",
}
"""Files whose strings may have private names, and what these strings are."""

SCRIPTS = {
    "triage/locate/bisecting_script.py": "runs without eqfuzz, by path, in the Python whose torch is to blame",
    "triage/upstream/probing_script.py": "runs without eqfuzz, by path, in the Python whose torch is to blame",
}

OTHERS = frozenset("_exit _getframe _asdict _fields _replace _mapping _get_all_tensors".split())
"""Attributes with an underscore that others have: of os, sys, ast and named tuples, and SQLAlchemy."""

FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if HOME not in path.parents and str(path.relative_to(PACKAGE)) not in SCRIPTS
)


def private_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each use of a private name of torch."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                dotted_names = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                dotted_names = [f"{module}.{alias.name}" for alias in names]
            case ast.Attribute(attr=name, value=owner) if name not in OTHERS and not is_own(owner):
                dotted_names = [f"torch.{name}"]
            case ast.Call(func=ast.Name(id="getattr" | "setattr" | "hasattr"), args=[_, ast.Constant(value=name), *_]):
                dotted_names = [f"torch.{name}"] if name not in OTHERS else []
            case _:
                dotted_names = []
        yield from ((node.lineno, name) for name in dotted_names if is_private_of_torch(name))


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each string with a private name of torch; documentation may have them."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documentation and (
                "torch._" in text or text.startswith(("_dynamo", "_inductor", "_functorch", "_higher_order"))
            ):
                yield node.lineno, text


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_private_of_torch(dotted: str) -> bool:
    first, *rest = dotted.split(".")
    return first == "torch" and any(map(is_private, rest))


def is_own(owner: ast.expr) -> bool:
    """Whether it is an object of eqfuzz: ``self``, ``cls``, or what one of these holds."""
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return (isinstance(owner, ast.Name) and owner.id in ("self", "cls")) or isinstance(owner, ast.Call)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_names_are_used_through_the_package(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    dotted_names = [*private_names(tree), *(() if str(path.relative_to(PACKAGE)) in TEXTS else strings(tree))]
    if dotted_names:
        line, name = min(dotted_names)
        pytest.fail(f"{path.relative_to(PACKAGE)}:{line}: {name} belongs into {HOME.name}", pytrace=False)


@pytest.mark.parametrize(
    "text",
    [
        "import torch._dynamo.config",
        "from torch._inductor import codecache",
        "from torch.utils._pytree import tree_map",
        "from torch import _C",
        "torch._dynamo.reset()",
        "torch.ops.aten._to_copy(x)",
        "x = tensor._version",
        "x = operators[0]._schema",
        "x = getattr(function, '_boxed_call')",
    ],
)
def test_uses_of_private_names_are_detected(text: str):
    assert [line for line, _ in private_names(ast.parse(text))] == [1]


@pytest.mark.parametrize("text", ["self._held", "self.results._tried", "super()._set_config(x)", "os._exit(0)"])
def test_other_names_are_not_uses(text: str):
    assert list(private_names(ast.parse(text))) == []


@pytest.mark.parametrize("text", ["name = 'torch._dynamo.config'", "path = root / '_inductor/fx_passes'"])
def test_names_in_strings_count(text: str):
    assert list(strings(ast.parse(text)))
    assert not list(strings(ast.parse('"""In words: torch._dynamo."""\n')))


@pytest.mark.parametrize("file", [*TEXTS, *SCRIPTS])
def test_excepted_file_uses_private_names(file: str):
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    assert [*private_names(tree), *strings(tree)]


UNDECLARED = {
    "torch.testing._internal.common_methods_invocations.unary_ufuncs": "needs expecttest; a part of the source is made "
    "with it, nothing that runs"
}


def test_what_the_package_names_is_in_the_contract():
    """Also by a longer or a shorter name: a module and what is in it."""
    declared = {name.dotted for name in CONTRACT}
    used_names = {
        dotted for path in HOME.rglob("*.py") for dotted in named(ast.parse(path.read_text(encoding="utf-8")))
    }
    unknown = {
        dotted
        for dotted in used_names - UNDECLARED.keys()
        if not any(f"{name}.".startswith(f"{dotted}.") or f"{dotted}.".startswith(f"{name}.") for name in declared)
    }
    assert unknown == set()
    assert len(used_names) > 50


def named(tree: ast.Module) -> Iterator[str]:
    """The private names of torch in imports and in chains of attributes that begin with ``torch``."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                dotted_names = [f"{module}.{alias.name}" for alias in names]
            case ast.Attribute():
                dotted_names = [ast.unparse(node)]
            case _:
                dotted_names = []
        yield from filter(is_private_of_torch, dotted_names)
