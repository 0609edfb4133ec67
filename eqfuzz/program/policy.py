"""Policy for the text of untrusted seeds: a check before the sandbox, which does not replace it.

The policy looks at names only and runs nothing, so it is incomplete. It refuses, with a line number, code that reaches
beyond tensors, and code that replaces parts of torch and could so forge a difference between compiled and eager.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Sequence

from eqfuzz.program.parsing import parse
from eqfuzz.program.program import InvalidSeed, Program

MODULES = frozenset(
    """
    __future__ abc bisect cmath collections contextlib copy dataclasses decimal enum fractions functools heapq itertools
    math numbers numpy operator random re statistics string time torch typing typing_extensions warnings
    """.split()
)
"""Modules that may be imported, with their submodules."""

_REFUSED_PARTS = frozenset(
    """
    numpy.DataSource numpy.compat numpy.ctypeslib numpy.distutils numpy.f2py numpy.fromfile numpy.genfromtxt numpy.load
    numpy.loadtxt numpy.memmap numpy.save numpy.savetxt numpy.savez numpy.savez_compressed numpy.testing numpy.lib
    dataclasses.make_dataclass operator.attrgetter operator.methodcaller typing.ForwardRef typing.get_type_hints
    collections.sys collections._sys dataclasses.sys functools.sys copy.sys random._os warnings.sys contextlib.os
    contextlib.sys types.CodeType types.FunctionType
    torch.classes torch.compiler torch.cpp torch.distributed torch.from_file torch.hub torch.jit.load torch.jit.save
    torch.library torch.load torch.monitor torch.multiprocessing torch.onnx torch.ops.load_library torch.os
    torch.overrides torch.package torch.profiler torch.save torch.serialization torch.sys torch.utils.bundled_inputs
    torch.utils.checkpoint.os torch.utils.collect_env torch.utils.cpp_extension torch.utils.data torch.utils.dlpack
    torch.utils.file_baton torch.utils.hipify torch.utils.mobile_optimizer torch.utils.model_zoo
    torch.utils.tensorboard torch.utils._python_dispatch torch.testing._internal torch.builtins torch.ctypes
    torch.inspect torch.importlib torch.importlib_metadata torch.platform torch.threading torch.glob torch.textwrap
    torch._C torch._custom_ops torch._custom_op torch._dynamo torch._environment torch._export torch._functorch
    torch._guards torch._inductor torch._jit_internal torch._library torch._linalg_utils torch._logging torch._lobpcg
    torch._meta_registrations torch._ops torch._sources torch._subclasses torch._tensor torch._tensor_str torch._utils
    torch._utils_internal torch._weights_only_unpickler torch._decomp torch._refs torch._classes torch._compile
    """.split()
)
"""Parts of those modules that access files, processes or other languages, or replace parts of torch."""

_SETTINGS = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.", "torch._functorch.config.")
"""Attributes that may be assigned, as seeds of other tools do."""

_REFUSED_NAMES = frozenset(
    """
    __builtins__ __import__ __loader__ __spec__ base64 breakpoint builtins compile delattr eval exec exit globals io
    locals open os pathlib quit resource subprocess sys vars zlib
    """.split()
)
"""Built-in functions, and modules that a reproducer imports for itself."""

_REFUSED_ATTRIBUTES = frozenset(
    """
    cpp_extension ctypes cr_frame dump dumps f_back f_builtins f_code f_globals f_locals from_file gi_code gi_frame
    is_compiling is_dynamo_compiling is_exporting load_library load_state_dict_from_url tb_frame tb_next tofile
    untyped_storage_from_file
    """.split()
)
"""Attributes of any object that lead to files or frames, or reveal whether a program is being compiled."""

_DUNDERS = frozenset(
    f"__{name}__"
    for name in """
    init call len iter next contains getitem setitem delitem enter exit repr str eq ne lt le gt ge hash bool int float
    index neg pos abs invert add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift radd rsub rmul
    rtruediv rfloordiv rmod rpow rmatmul rand ror rxor iadd isub imul itruediv imatmul round post_init name doc version
    future all slots match_args getattr setattr torch_function annotations
    """.split()
)
"""Names between double underscores that ordinary programs write."""

_HIDDEN = re.compile(r"__\w+__")
_SPOKEN = frozenset({"__main__"})


@dataclasses.dataclass(frozen=True)
class Violation:
    """What is not allowed, in a few words, and its line."""

    reason: str
    line: int


def require_allowed(program: Program) -> None:
    """Raises InvalidSeed where the text of an untrusted ``program`` breaks the policy."""
    if not program.untrusted:
        return
    if program.weights:
        raise InvalidSeed(
            program.name, "its weights lie beside it, and the sandbox shows no files: import it with --drawn"
        )
    for text in (program.source, f"({program.construct}, {program.inputs})"):
        violation = first_violation(text)
        if violation is not None:
            raise InvalidSeed(program.name, f"policy: {violation.reason}", violation.line)


def first_violation(source: str, *, modules: Sequence[str] = ()) -> Violation | None:
    """The first violation in the module ``source``; None where there is none.

    ``modules`` are imported under their own names by the code around it. Raises SyntaxError, and ValueError for null
    bytes.
    """
    tree = parse(source)
    violations = sorted(_ViolationFinder(tree, modules).violations(), key=lambda violation: violation.line)
    return violations[0] if violations else None


class _ViolationFinder:
    """Finds all violations of one module."""

    def __init__(self, tree: ast.Module, modules: Sequence[str]) -> None:
        self._nodes = list(ast.walk(tree))
        self._outer = {id(node.value): node for node in self._nodes if isinstance(node, ast.Attribute)}
        self._called = {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        self._spoken = {id(node.value) for node in self._nodes if isinstance(node, ast.Expr)}
        self._imported = {name: name for name in modules}
        """Imported names with their dotted paths: ``{"F": "torch.nn.functional"}``."""
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    dotted = alias.name if alias.asname else alias.name.split(".")[0]
                    self._imported[alias.asname or dotted] = dotted
            elif isinstance(node, ast.ImportFrom):
                self._imported |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        self._aliases = self._follow_aliases()

    def _follow_aliases(self) -> set[int]:
        """Treat ``F = torch.nn.functional`` as an import. Returns the ids of such values."""
        aliases: set[int] = set()
        grew = True
        while grew:
            grew = False
            for node in self._nodes:
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                    dotted = self._dotted(node.value)
                    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                    if dotted is not None and len(names) == len(node.targets):
                        grew = grew or id(node.value) not in aliases
                        aliases.add(id(node.value))
                        self._imported |= {name: dotted for name in names if name not in self._imported}
        return aliases

    def violations(self) -> Iterator[Violation]:
        for node in self._nodes:
            for reason in self._reasons(node):
                yield Violation(reason, getattr(node, "lineno", 1))

    def _reasons(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from _of_import(alias.name)
            case ast.ImportFrom(module=module, names=names, level=level):
                if level or module is None:
                    yield "a relative import"
                    return
                for alias in names:
                    yield from _of_import(f"{module}.{alias.name}")
            case ast.Name():
                yield from self._of_name(node)
            case ast.Attribute():
                yield from self._of_attribute(node)
            case ast.Call(func=ast.Name(id="getattr" | "hasattr" | "setattr")):
                yield from self._of_getattr(node)
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                yield from self._of_targets(targets)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
                yield from self._of_targets([target])
            case ast.With(items=items):
                yield from self._of_targets([item.optional_vars for item in items if item.optional_vars is not None])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if _is_hidden(name):
                    yield f"a definition of `{name}`"
            case ast.MatchClass(kwd_attrs=names):
                yield from (f"the attribute `{name}`" for name in names if _is_hidden(name))
            case ast.Constant(value=str(text)) if id(node) not in self._spoken:
                hidden = [name for name in _HIDDEN.findall(text) if _is_hidden(name) and name not in _SPOKEN]
                if hidden:
                    yield f"`{hidden[0]}` in a string"
            case _:
                pass

    def _of_name(self, node: ast.Name) -> Iterator[str]:
        name = node.id
        if name in _REFUSED_NAMES:
            yield f"`{name}` is not for seeds"
        elif name in ("getattr", "hasattr", "setattr"):
            if id(node) not in self._called:
                yield f"`{name}` used as a value"
        elif _is_hidden(name):
            yield f"the name `{name}`"
        elif isinstance(node.ctx, ast.Load) and id(node) not in self._outer and self._is_module(node):
            yield f"the module `{name}` used as a value"

    def _of_attribute(self, node: ast.Attribute) -> Iterator[str]:
        name, outer = node.attr, self._outer.get(id(node))
        if name in _REFUSED_ATTRIBUTES or (_is_hidden(name) and not _names_class(node, outer)):
            yield f"the attribute `{name}`"
        dotted = self._dotted(node)
        if outer is not None or dotted is None or dotted.startswith(_SETTINGS):
            return
        part = _refused_part(dotted)
        if part is not None:
            yield f"`{part}` is not for seeds"
        elif id(node) not in self._aliases and self._is_module(node):
            yield f"the module `{dotted}` used as a value"

    def _of_getattr(self, node: ast.Call) -> Iterator[str]:
        assert isinstance(node.func, ast.Name)
        function = node.func.id
        if len(node.args) < 2 or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            yield f"`{function}` with arguments that are not written out"
            return
        thing, name = node.args[0], node.args[1]
        if function == "setattr" and not (isinstance(thing, ast.Name) and thing.id == "self"):
            yield "`setattr` of something other than `self`"
        text = name.value if isinstance(name, ast.Constant) else None
        if not isinstance(text, str):
            # Layers are numbered: `getattr(self, f"layer{i}")`. Underscores must be written out.
            numbered = isinstance(thing, ast.Name) and thing.id == "self" and isinstance(name, ast.JoinedStr)
            if not (numbered and isinstance(name, ast.JoinedStr) and _begins_with_a_letter(name)):
                yield f"`{function}` with a name that is not written out"
            return
        dotted = self._dotted(thing)
        if text in _REFUSED_ATTRIBUTES or (dotted is not None and _refused_part(f"{dotted}.{text}") is not None):
            yield f"the attribute `{text}`"

    def _of_targets(self, targets: Sequence[ast.expr]) -> Iterator[str]:
        for target in targets:
            match target:
                case ast.Tuple(elts=inner) | ast.List(elts=inner):
                    yield from self._of_targets(inner)
                case ast.Starred(value=inner):
                    yield from self._of_targets([inner])
                case ast.Attribute() | ast.Subscript():
                    root, dotted = _root(target), self._dotted(target)
                    imported = isinstance(root, ast.Name) and root.id in self._imported
                    of_type = isinstance(root, ast.Call) and isinstance(root.func, ast.Name) and root.func.id == "type"
                    if of_type or (imported and not (dotted is not None and dotted.startswith(_SETTINGS))):
                        yield f"changes `{ast.unparse(target)}`"
                case _:
                    pass

    def _is_module(self, node: ast.AST) -> bool:
        """By its name: a whole package, or one inside torch or numpy."""
        dotted = self._dotted(node)
        if dotted is None or dotted.endswith(".fft.fft"):
            return False
        return "." not in dotted or dotted.split(".")[-1] in _PACKAGES

    def _dotted(self, node: ast.AST) -> str | None:
        """``torch.nn.functional.relu`` for what is reached by names from an import; None for anything else."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._imported:
            return None
        return ".".join([self._imported[node.id], *reversed(names)])


_PACKAGES = frozenset(
    """
    abc amp ao attention autograd backends fft func functional fx init jit linalg masked modules nested nn optim
    parameter parametrizations parametrize quantization random signal sparse special testing utils windows
    """.split()
)
"""Modules inside torch and numpy that programs name."""


def _of_import(dotted: str) -> Iterator[str]:
    if dotted.split(".")[0] not in MODULES:
        yield f"imports {dotted.split('.')[0]}"
    elif dotted.endswith(".*"):
        yield f"`from {dotted.removesuffix('.*')} import *` hides what it imports"
    elif (part := _refused_part(dotted)) is not None and not f"{dotted}.".startswith(_SETTINGS):
        yield f"imports {part}"


def _refused_part(dotted: str) -> str | None:
    parts = dotted.split(".")
    return next((p for n in range(1, len(parts) + 1) if (p := ".".join(parts[:n])) in _REFUSED_PARTS), None)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _is_hidden(name: str) -> bool:
    return bool(_HIDDEN.fullmatch(name)) and name not in _DUNDERS


def _names_class(node: ast.Attribute, outer: ast.Attribute | None) -> bool:
    """``x.__class__.__name__``, which prints what something is."""
    return node.attr == "__class__" and outer is not None and outer.attr == "__name__"


def _begins_with_a_letter(name: ast.JoinedStr) -> bool:
    first = name.values[0] if name.values else None
    return isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value[:1].isalpha()
