"""Torch's operators as its own schemas describe them: parameters, defaults, and the forms in which each is called.

An operator is known by the dotted path of a Python callable: ``torch.sum``, ``torch.special.expit``,
``torch.nn.functional.linear``, ``torch.Tensor.sum`` (the method), ``torch.ops.aten.sum.dim_IntList``. Everything is
read from the running torch on first use, and kept.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.torch_internals.operators import overloads_of, undispatched

REQUIRED = inspect.Parameter.empty
"""The default of a parameter that has none."""

MODULES: Mapping[str, Any] = MappingProxyType(
    {
        "torch": torch,
        "torch.special": torch.special,
        "torch.linalg": torch.linalg,
        "torch.fft": torch.fft,
        "torch.nn.functional": torch.nn.functional,
    }
)
"""Where functions are looked for, in order of preference."""

ALIASES_FILE = Path(__file__).with_name("aliases.json")

METHODS = "torch.Tensor"
OVERLOADS = "torch.ops.aten"
WRAPPERS_OWN = frozenset({"inplace", "_stacklevel", "generator"})
"""Parameters of wrappers in Python that the function below does not have, or the other way round."""

_MAY_RETURN_OPERAND = frozenset(
    "conj_physical dropout alpha_dropout feature_dropout feature_alpha_dropout type_as".split()
)
"""Operators that may return their operand itself, although their schemas do not say so."""

_BOUND_BY_HAND = frozenset("to type copy_ requires_grad_ map_ map2_ apply_".split())

NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
"""Keywords that native functions also take, as numpy calls them."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter by its Python name. ``type`` is that of the schema (``Tensor?``, ``int[1]``), ``""`` if unknown."""

    name: str
    type: str
    default: Any = REQUIRED
    keyword_only: bool = False


@dataclasses.dataclass(frozen=True)
class Signature:
    """One way to call an operator.

    ``overload`` names it among the ATen overloads, and is ``""`` for a function written in Python. ``receiver`` is the
    parameter that a method is called on. ``fresh`` says that every result is a new tensor and that nothing is written
    to; ``random`` that it draws from the generator.
    """

    overload: str
    parameters: tuple[Parameter, ...]
    returns: tuple[str, ...] = ()
    receiver: str = ""
    fresh: bool = False
    random: bool = False

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.keyword_only)

    def named(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


@dataclasses.dataclass(frozen=True)
class TorchOperator:
    """What is called by one path. ``aten`` is the name of its ATen operator, ``""`` for a function in Python."""

    path: str
    aten: str
    signatures: tuple[Signature, ...]

    @property
    def is_method(self) -> bool:
        return self.path.startswith(f"{METHODS}.")

    @property
    def is_overload(self) -> bool:
        return self.path.startswith(f"{OVERLOADS}.")

    @property
    def method(self) -> str:
        """The name of the method on tensors that is this operator, or ``""``."""
        return method_of(self.aten) if self.aten else ""

    @property
    def function(self) -> str:
        """The preferred path of the function that is this operator, or ``""``."""
        return functions().get(self.aten, "") if self.aten else self.path

    @property
    def in_place(self) -> str:
        """The name of the method that writes the result into its first operand, or ``""``."""
        return method_of(f"{self.aten}_") if self.aten else ""


@cache
def operator_at(path: str) -> TorchOperator | None:
    """The operator that ``path`` calls; None when it is no function or method of torch with a known signature."""
    if path.startswith(f"{OVERLOADS}."):
        return _overload_at(path)
    function = _callable_at(path)
    if function is None:
        return None
    aten = getattr(function, "__name__", "")
    is_native = isinstance(function, (types.BuiltinFunctionType, types.MethodDescriptorType))
    if is_native:
        signatures = native_signatures(aten)
        return TorchOperator(path, aten, signatures) if signatures else None
    signature = _python_signature(function, path)
    return TorchOperator(path, "", (signature,)) if signature is not None else None


@cache
def native_signatures(aten: str) -> tuple[Signature, ...]:
    """The overloads of an ATen operator that take tensors, without those that write to ``out``.

    Empty for the few whose Python binding is written by hand and has parameters of its own.
    """
    if aten in _BOUND_BY_HAND:
        return ()
    signatures = [_signature(name, schema, tags) for name, schema, tags in overloads_of(aten)]
    taking_tensors = [s for s in signatures if s is not None]
    # Python knows ``add`` by one signature, whose alpha is keyword only, where ``add.Scalar`` takes it by position.
    keywords = {p.name for s in taking_tensors for p in s.parameters if p.keyword_only}
    return tuple(
        dataclasses.replace(
            s, parameters=tuple(dataclasses.replace(p, keyword_only=p.name in keywords) for p in s.parameters)
        )
        for s in taking_tensors
    )


Passed = frozenset[tuple[str, str]]
"""Names and types of the parameters that are passed."""


@cache
def takes_out(path: str, passed: Passed) -> bool:
    """Whether the function at ``path`` writes its one result to ``out`` when it is passed exactly these parameters.

    There must be such an overload, and the Python binding must accept it. The latter is tried on empty tensors without
    memory: a TypeError means that the arguments are not accepted.
    """
    operator = operator_at(path)
    arguments = out_arguments(operator.aten, passed) if operator is not None else None
    return arguments is not None and _is_taken(path, arguments)


@cache
def out_arguments(aten: str, passed: Passed) -> list[Any] | None:
    """The arguments of the schema that takes exactly these parameters and ``out``; None when there is none."""
    for _, schema, _ in overloads_of(aten):
        others = [a for a in schema.arguments if not a.is_out]
        arguments = [a for a in others if (_python_name(a.name, str(a.type)), _type(a)) in passed]
        complete = len(arguments) == len(passed) and all(a in arguments for a in others if not a.has_default_value())
        if complete and [a.name for a in schema.arguments if a.is_out] == ["out"]:
            return arguments
    return None


def _is_taken(path: str, arguments: list[Any]) -> bool:
    function = _callable_at(path)
    assert function is not None
    by_position = [_dummy(_type(a)) for a in arguments if not a.kwarg_only]
    by_keyword = {a.name: _dummy(_type(a)) for a in arguments if a.kwarg_only}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*by_position, **by_keyword, out=_dummy("Tensor"))
        except TypeError:
            return False
        except Exception:  # taken, and refused for what it is
            return True
    return True


def _dummy(kind: str) -> Any:
    """Any value of a schema's type."""
    if kind.endswith("?"):
        return None
    if kind == "Tensor[]":
        return [_dummy("Tensor")]
    if kind.endswith("]"):
        return (0,)
    plain = {"Scalar": 1, "int": 0, "float": 0.0, "bool": False, "str": "", "ScalarType": torch.float32}
    return plain[kind] if kind in plain else torch.empty((), device="meta")


@cache
def method_of(aten: str) -> str:
    """The tensor method that is the ATen operator of this name, or ``""``."""
    method = getattr(torch.Tensor, aten, None)
    return aten if isinstance(method, types.MethodDescriptorType) and native_signatures(aten) else ""


@cache
def functions() -> Mapping[str, str]:
    """ATen operator → the preferred path of its Python function."""
    paths: dict[str, str] = {}
    for path in function_paths():
        function = _callable_at(path)
        if isinstance(function, types.BuiltinFunctionType):
            paths.setdefault(function.__name__, path)
    return MappingProxyType(paths)


@cache
def canonical(path: str) -> str:
    """The name that stands for all names of what ``path`` calls; ``path`` itself where nothing is known of it.

    A method is the function of the same operator, and an overload the operator.
    """
    operator = operator_at(path)
    if operator is None:
        return path
    if operator.aten:
        path = operator.function or f"{METHODS}.{operator.aten}"
    return _aliases().get(path, path)


@cache
def names_of(path: str) -> tuple[str, ...]:
    """All functions that are the one that ``path`` calls, the canonical one first; those the running torch has."""
    best = canonical(path)
    others = [name for name, target in _aliases().items() if target == best and operator_at(name) is not None]
    return (best, *others)


@cache
def _aliases() -> dict[str, str]:
    return json.loads(ALIASES_FILE.read_text(encoding="utf-8")) if ALIASES_FILE.exists() else {}


def correspondence(signature: Signature, target: Signature) -> dict[str, str]:
    """Parameter names of one function → those of another that does the same: by name if it has it, else by place."""
    names: dict[str, str] = {}
    theirs = target.positional
    for parameter in signature.parameters:
        if target.named(parameter.name) is not None:
            names[parameter.name] = parameter.name
    for place, parameter in enumerate(signature.positional):
        there = theirs[place].name if place < len(theirs) else ""
        if parameter.name not in names and parameter.name not in WRAPPERS_OWN and signature.named(there) is None:
            names[parameter.name] = there
    return {name: there for name, there in names.items() if there}


def fits(kind: str, fact: Fact) -> bool | None:
    """Whether a value seen has exactly the type of a schema (True), may stand for it (False), or neither (None)."""
    if kind.endswith("?"):
        return True if fact.kind == "none" else fits(kind[:-1], fact)
    match kind:
        case "Tensor":
            return True if fact.is_tensor else False if fact.is_number or fact.kind == "bool" else None
        case "Scalar":
            return fact.is_number or fact.kind in ("bool", "complex") or None
        case "float":
            return True if fact.kind == "float" else False if fact.kind == "int" else None
        case "ScalarType":
            return fact.kind == "dtype" or None
        case "int" | "bool" | "str":
            return fact.kind == kind or None
        case "int[]":
            return fact.kind == "ints" or None
        case _ if kind.startswith("int["):
            return fact.kind in ("ints", "int") or None
        case _:
            return None


def function_paths() -> Iterator[str]:
    """The paths of all public functions, native or in Python, whatever they do."""
    for module, namespace in MODULES.items():
        for name in sorted(vars(namespace) if namespace is not torch else dir(torch)):
            if not name.startswith("_") and callable(getattr(namespace, name)):
                yield f"{module}.{name}"


def _callable_at(path: str) -> Callable[..., Any] | None:
    module, _, name = path.rpartition(".")
    owner = torch.Tensor if module == METHODS else MODULES.get(module)
    value = getattr(owner, name, None) if owner is not None else None
    return value if callable(value) and not isinstance(value, type) else None


def _overload_at(path: str) -> TorchOperator | None:
    name, _, overload = path.removeprefix(f"{OVERLOADS}.").partition(".")
    signatures = native_signatures(name)
    if overload:
        signatures = tuple(s for s in signatures if s.overload == f"{name}.{overload}")
    return TorchOperator(path, name, signatures) if signatures else None


def _signature(name: str, schema: Any, tags: Any) -> Signature | None:
    """The signature of one overload; None when it is not for Python: ``out=``, named dimensions, TorchScript's own."""
    arguments = schema.arguments
    kinds = [str(a.type) for a in arguments]
    if any(a.is_out for a in arguments) or any("Dimname" in str(a.real_type) for a in arguments):
        return None
    if not any("Tensor" in kind for kind in kinds) or any("t" in (kind, kind[5:-1]) for kind in kinds):
        return None
    return Signature(
        overload=name,
        parameters=tuple(
            Parameter(
                name=_python_name(a.name, str(a.type)),
                type=_type(a),
                # Python's own default of a reduction given as a number is another than the schema's.
                default=a.default_value if a.has_default_value() and a.name != "reduction" else REQUIRED,
                keyword_only=a.kwarg_only,
            )
            for a in arguments
        ),
        returns=tuple(str(r.type) for r in schema.returns),
        receiver="input" if any(a.name == "self" and str(a.type) == "Tensor" for a in arguments) else "",
        fresh=name.partition(".")[0] not in _MAY_RETURN_OPERAND
        and all(r.alias_info is None for r in schema.returns)
        and all(a.alias_info is None for a in arguments),
        random=torch.Tag.nondeterministic_seeded in tags,
    )


def _python_name(name: str, kind: str = "Tensor") -> str:
    return "input" if name == "self" and kind == "Tensor" else name


def _type(argument: Any) -> str:
    """The type as schemas print it, with the length of a list that a single number may stand for: ``int[2]?``."""
    text = str(argument.real_type).replace("SymInt", "int").replace("number", "Scalar")
    optional = text.startswith("Optional[")
    text = text[len("Optional[") : -1] if optional else text
    if text.startswith("List["):
        text = f"{text[len('List[') : -1]}[{argument.N or ''}]"
    return f"{text}?" if optional else text


def _python_signature(function: Callable[..., Any], path: str) -> Signature | None:
    """The signature of a function in Python; None when it takes any arguments whatever."""
    try:
        parameters = inspect.signature(undispatched(function)).parameters.values()
    except ValueError:  # a builtin without a signature
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    own = tuple(Parameter(_python_name(p.name), "", p.default, p.kind is p.KEYWORD_ONLY) for p in parameters)
    return Signature("", own, receiver=own[0].name if own and path.startswith(f"{METHODS}.") else "")
