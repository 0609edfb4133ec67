"""Right sides as text with holes: what the writer fills for every site, parsed once for every rule."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Collection, Mapping

import libcst as cst

from eqfuzz.program.parsing import parse_expression
from eqfuzz.rewrite.source.names import names_in
from eqfuzz.rewrite.source.purity import is_pure
from eqfuzz.rewrite.source.syntax import Syntax

_ATOMS = (
    cst.Name,
    cst.Call,
    cst.Attribute,
    cst.Subscript,
    cst.Integer,
    cst.Float,
    cst.List,
    cst.Dict,
    cst.SimpleString,
)
_AST_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Tuple)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_EMPTY = cst.Module([])


@dataclasses.dataclass(frozen=True)
class Replacement:
    """Text of a right side; ``atom`` when it never needs parentheses; import lines that it relies on."""

    text: str
    atom: bool
    imports: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class _Hole:
    """A piece of a right side: literal text, an operand, a dotted path from an import, or a builtin's name."""

    kind: str
    text: str


class ReplacementTemplate:
    """A right side. ``order`` lists its parameters as they are evaluated, with repeats.

    ``conditional`` says that some operand may not be evaluated, and ``at_once`` that every operand is evaluated
    before anything is computed, as in ``torch.add(x, y)`` and not in ``x.clone().add_(y)``. ``stores`` says that it
    stores a name, which may be one of the program's.
    """

    def __init__(self, code: str, parameters: Collection[str], imports: Mapping[str, str]) -> None:
        body = parse_expression(f"({code.strip()})")
        text = ast.unparse(body)  # one line, no needless parentheses; tuples keep theirs
        tree = parse_expression(text)
        self._parameters = frozenset(parameters)
        self._imports = dict(imports)
        self._holes: list[tuple[int, int, _Hole]] = []
        self._bound: set[str] = set()
        self._deferred: list[int] = []
        self._at_once: list[ast.expr] = []
        self._look(tree, deferred=False)
        self.conditional = any(isinstance(n, (ast.IfExp, ast.BoolOp)) for n in ast.walk(tree))
        self.stores = any(isinstance(n, ast.NamedExpr) for n in ast.walk(tree))
        self._pieces = _pieces(text, self._holes)
        self.order = [hole.text for _, _, hole in sorted(self._holes, key=lambda h: h[0]) if hole.kind == "operand"]
        self.atom = isinstance(tree, _AST_ATOMS)
        self.at_once = _at_once(tree)

    def fill(
        self, bindings: Mapping[str, cst.BaseExpression], syntax: Syntax, shadowed: frozenset[str]
    ) -> Replacement | str:
        """The text for one site, or the reason why it cannot be written there."""
        imports = {name: path for name, path in syntax.imports.items() if name not in shadowed}
        taken = shadowed | syntax.module_names | frozenset(syntax.imports)
        reason = self._not_inside(bindings, syntax)
        if reason is not None:
            return reason
        temporaries: dict[str, str] = {}
        new_imports: list[str] = []
        written: list[str] = []
        for piece in self._pieces:
            match piece.kind:
                case "operand":
                    node = bindings[piece.text]
                    repeated = self.order.count(piece.text) > 1
                    written.append(_operand(piece.text, node, syntax, repeated, temporaries))
                case "path":
                    name = local_name(piece.text, imports)
                    if name is None:
                        module = piece.text.partition(".")[0]
                        if module in taken:
                            return f"the name {module} means something else here"
                        new_imports.append(f"import {module}")
                    written.append(name or piece.text)
                case "builtin":
                    if piece.text in taken:
                        return f"the name {piece.text} means something else here"
                    written.append(piece.text)
                case _:
                    written.append(piece.text)
        return Replacement("".join(written), self.atom, tuple(dict.fromkeys(new_imports)))

    def _not_inside(self, bindings: Mapping[str, cst.BaseExpression], syntax: Syntax) -> str | None:
        """Why an operand cannot stand inside a lambda or comprehension of the right side."""
        inside = set(self._deferred)
        first: dict[str, int] = {}
        for start, _, hole in sorted(self._holes, key=lambda h: h[0]):
            if hole.kind == "operand":
                first.setdefault(hole.text, start)
        for start, _, hole in self._holes:
            if hole.kind != "operand" or start not in inside:
                continue
            node = bindings[hole.text]
            captured = sorted(names_in(f"({syntax.text_of(node)})").reads & self._bound)
            if captured:
                return f"the right side has a name {captured[0]} of its own"
            if not is_pure(node):
                return f"{hole.text} may have side effects and would be evaluated inside a function"
            if first[hole.text] == start and _needs_temporary(node) and self.order.count(hole.text) > 1:
                return f"{hole.text} would be stored inside a function and used outside"
        return None

    def _look(self, node: ast.AST, *, deferred: bool) -> None:
        """Find the holes in ``node``: the longest dotted names from an import, parameters, builtins.

        ``deferred`` says that it is inside a lambda or comprehension, whose names are noted too.
        """
        path = self._path(node)
        if isinstance(node, (ast.Name, ast.Attribute)) and path is not None:
            self._hole(node, "path", path)
            return
        if isinstance(node, ast.Name) and node.id in self._parameters:
            self._hole(node, "operand", node.id)
            if deferred:
                self._deferred.append(node.col_offset)
        elif isinstance(node, ast.Name) and hasattr(builtins, node.id):
            self._hole(node, "builtin", node.id)
        if isinstance(node, ast.Lambda):
            self._bound |= {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        if isinstance(node, ast.comprehension):
            self._bound |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        if isinstance(node, _COMPREHENSIONS) and not deferred:
            self._at_once.append(node.generators[0].iter)  # evaluated outside, whatever comes after it
        inside = deferred or isinstance(node, (ast.Lambda, *_COMPREHENSIONS))
        for child in ast.iter_child_nodes(node):
            self._look(child, deferred=inside and not any(child is n for n in self._at_once))

    def _path(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return None if node.id in self._parameters else self._imports.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._path(node.value)
            return f"{base}.{node.attr}" if base else None
        return None

    def _hole(self, node: ast.expr, kind: str, text: str) -> None:
        assert node.end_col_offset is not None
        self._holes.append((node.col_offset, node.end_col_offset, _Hole(kind, text)))


def code_of(node: cst.CSTNode) -> str:
    """The source text of a node."""
    return _EMPTY.code_for_node(node)


def _pieces(text: str, holes: list[tuple[int, int, _Hole]]) -> list[_Hole]:
    """Text between holes and the holes, in order; offsets are in UTF-8 bytes, as ``ast`` counts them."""
    raw = text.encode()
    pieces: list[_Hole] = []
    position = 0
    for start, end, hole in sorted(holes, key=lambda h: h[0]):
        pieces += (_Hole("text", raw[position:start].decode()), hole)
        position = end
    return [*pieces, _Hole("text", raw[position:].decode())]


def _at_once(tree: ast.expr) -> bool:
    """Whether all operands of the right side are operands of its one operation."""
    match tree:
        case ast.BinOp():
            operands = [tree.left, tree.right]
        case ast.UnaryOp():
            operands = [tree.operand]
        case ast.Compare():
            operands = [tree.left, *tree.comparators]
        case ast.Call():
            operands = [*tree.args, *(k.value for k in tree.keywords)]
            if isinstance(tree.func, ast.Attribute):
                operands.append(tree.func.value)
        case ast.Subscript():
            operands = [tree.value, tree.slice]
        case _:
            operands = [tree]
    plain = (ast.Name, ast.Constant, ast.Attribute)
    return all(
        isinstance(o, plain) or (isinstance(o, (ast.Tuple, ast.List)) and all(isinstance(e, plain) for e in o.elts))
        for o in operands
    )


def local_name(path: str, imports: Mapping[str, str]) -> str | None:
    """A dotted path as the seed would write it, or None when it imports no part of it."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        prefix = ".".join(parts[:cut])
        names = sorted(name for name, imported in imports.items() if imported == prefix)
        if names:
            return ".".join([names[0], *parts[cut:]])
    return None


def _needs_temporary(node: cst.BaseExpression) -> bool:
    return not isinstance(node, (cst.Name, cst.Integer, cst.Float))


def _operand(name: str, node: cst.BaseExpression, syntax: Syntax, repeated: bool, temporaries: dict[str, str]) -> str:
    """An operand's own text, in parentheses unless it is an atom; in a temporary when it is needed again."""
    if name in temporaries:
        return temporaries[name]
    text = syntax.text_of(node)
    if repeated and _needs_temporary(node):
        fresh = temporaries[name] = syntax.fresh_name("t", list(temporaries.values()))
        return f"({fresh} := {text})"
    return text if isinstance(node, _ATOMS) else f"({text})"
