"""Ways to write a call of an operator, the most usual first; the last one is always right."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

import torch
import torch.nn.functional as F
from torch import Tensor

from eqfuzz.imports.exported.arguments import GraphArgument
from eqfuzz.torch_internals.operators import OpOverload, schema_of

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "matmul": "@",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "remainder": "%",
    "floor_divide": "//",
    "pow": "**",
}
_PREFIX = {"neg": "-", "bitwise_not": "~"}
_METHODS = frozenset(
    """
    view reshape expand permute transpose squeeze unsqueeze flatten contiguous clone to t item repeat select narrow
    detach masked_fill chunk split unbind type_as new_zeros new_ones new_full new_empty expand_as view_as
    """.split()
)
"""Operators that people call as methods."""

_PROPERTIES = {"numpy_T": "T", "mT": "mT", "real": "real", "imag": "imag"}
_NO_END = sys.maxsize
_SPACES = ("special", "linalg", "fft")
_SAYS_NOTHING = {"device": ("cpu", None), "layout": (torch.strided, None), "pin_memory": (False, None)}
"""Options of an operator that have no effect on the CPU."""

_KERNEL_SWITCHES = frozenset({"cudnn_enable", "cudnn_enabled"})
_RENAMED = {"embedding": {"indices": "input"}}
"""Names of parameters in ``torch.nn.functional``, by the operator and the name in its schema."""


_INTERPOLATION = re.compile(
    r"_?upsample_(?P<name>nearest_exact|nearest|linear|bilinear|trilinear|bicubic)[123]d(?P<smooth>_aa)?"
)


def base_name(target: OpOverload) -> str:
    """``add_`` for ``aten.add_.Tensor``."""
    name: str = schema_of(target).name
    return name.rpartition("::")[2]


def forms(
    target: OpOverload, arguments: Sequence[GraphArgument], options: Mapping[str, GraphArgument]
) -> Iterator[str]:
    """Expressions for ``target(*arguments, **options)``, of which only the last is sure to mean that."""
    base = base_name(target)
    texts = [one.text for one in arguments]
    written = {key: one.text for key, one in options.items() if not _says_nothing(key, one)}
    on_tensor = bool(arguments) and isinstance(arguments[0].value, Tensor)
    if not written:
        yield from _by_symbol(base, texts)
    if base == "index" and len(arguments) == 2:
        yield f"{texts[0]}[{', '.join(':' if one.value is None else one.text for one in arguments[1].items)}]"
    if base == "_to_copy" and "dtype" in written:
        rest = (f"{key}={text}" for key, text in written.items() if key != "dtype")
        yield f"{texts[0]}.to({', '.join((written['dtype'], *rest))})"
    if base == "slice" and len(arguments) > 1:
        yield f"{texts[0]}[{_slice(arguments)}]"
    if base in _PROPERTIES and len(arguments) == 1:
        yield f"{texts[0]}.{_PROPERTIES[base]}"
    if base == "lift_fresh_copy":
        yield f"{texts[0]}.clone()"
    mode = _INTERPOLATION.fullmatch(base)
    if mode is not None:
        yield _interpolation(mode, target, arguments)
    call = ", ".join(_call(target, arguments, written))
    rest = ", ".join(_call(target, arguments, written)[1:])
    method = f"{texts[0]}.{base}({rest})" if on_tensor and hasattr(Tensor, base) else ""
    if method and (base in _METHODS or base.endswith("_")):
        yield method
    if _is_public(F, base):
        yield _functional(target, base, arguments, written) or f"F.{base}({call})"
    if _is_public(torch, base):
        yield f"torch.{base}({call})"
    for space in _SPACES:
        if base.startswith(f"{space}_"):
            yield f"torch.{space}.{base.removeprefix(f'{space}_')}({call})"
    if method:
        yield method
    yield f"torch.ops.{target}({', '.join((*texts, *(f'{key}={one.text}' for key, one in options.items())))})"


def _slice(arguments: Sequence[GraphArgument]) -> str:
    """The index of ``aten.slice``: tensor, dimension, first, end, step."""
    dim = arguments[1].value
    bounds = ["" if one.value in (None, 0, _NO_END) else one.text for one in arguments[2:4]]
    step = [one.text for one in arguments[4:] if one.value != 1]
    text = ":".join([*bounds, *[""] * (2 - len(bounds)), *step])
    return ", ".join([*[":"] * dim, text] if dim >= 0 else ["...", text, *[":"] * (-dim - 1)])


def _interpolation(mode: re.Match[str], target: OpOverload, arguments: Sequence[GraphArgument]) -> str:
    texts = {
        p.name: a.text for p, a in zip(schema_of(target).arguments, arguments, strict=False) if a.value is not None
    }
    parts = [texts.get("input", texts.get("self", "")), f'mode="{mode["name"].replace("_", "-")}"']
    for name, parameter in (("output_size", "size"), ("scale_factors", "scale_factor")):
        parts += [f"{parameter}={texts[name]}"] if name in texts else []
    parts += [f"align_corners={texts['align_corners']}"] if texts.get("align_corners", "False") != "False" else []
    return f"F.interpolate({', '.join([*parts, 'antialias=True'] if mode['smooth'] else parts)})"


def _by_symbol(base: str, texts: Sequence[str]) -> Iterator[str]:
    if base in _INFIX and len(texts) == 2:
        yield f"{_operand(texts[0])} {_INFIX[base]} {_operand(texts[1])}"
    if base in _PREFIX and len(texts) == 1:
        yield f"{_PREFIX[base]}{_operand(texts[0])}"


def _operand(text: str) -> str:
    return text if text.replace(".", "").replace("_", "").isalnum() else f"({text})"


def _says_nothing(key: str, option: GraphArgument) -> bool:
    value = str(option.value) if isinstance(option.value, torch.device) else option.value
    return key in _SAYS_NOTHING and value in _SAYS_NOTHING[key]


def _is_public(module: ModuleType, name: str) -> bool:
    return not name.startswith("_") and callable(getattr(module, name, None))


def _call(target: OpOverload, arguments: Sequence[GraphArgument], written: Mapping[str, str]) -> list[str]:
    """Arguments by the operator's own names: what has no default by place, and what is not its default by name."""
    texts: list[str] = []
    by_place = True
    for one, parameter in zip(arguments, schema_of(target).arguments, strict=False):
        plain = not parameter.has_default_value() or (parameter.name in ("weight", "bias") and one.value is not None)
        by_place = by_place and plain
        if by_place:
            texts.append(one.text)
        elif not (parameter.has_default_value() and _is_default(one.value, parameter.default_value)):
            texts.append(f"{parameter.name}={one.text}")
    return [*texts, *(f"{key}={text}" for key, text in written.items())]


def _is_default(value: object, default: object) -> bool:
    return not isinstance(value, Tensor) and type(value) is type(default) and value == default


def _functional(target: OpOverload, base: str, arguments: Sequence[GraphArgument], written: Mapping[str, str]) -> str:
    """A call of a Python function of ``torch.nn.functional`` by the names of its parameters; empty for any other."""
    function = getattr(F, base)
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except ValueError:  # of a built-in function
        return ""
    values: dict[str, GraphArgument] = {p.name: a for p, a in zip(schema_of(target).arguments, arguments, strict=False)}
    if base == "embedding" and "padding_idx" in values and values["padding_idx"].value < 0:
        return ""  # where no row is left out, the operator counts -1 and the function None
    renamed: Mapping[str, str] = _RENAMED.get(base, {})
    texts = {renamed.get(name, name): one.text for name, one in values.items() if name not in _KERNEL_SWITCHES}
    texts = {**texts, **written}
    if "self" in texts:
        texts = {parameters[0].name: texts.pop("self"), **texts}
    if not texts.keys() <= {parameter.name for parameter in parameters}:
        return ""
    parts: list[str] = []
    for parameter in parameters:
        if parameter.name not in texts:
            continue
        if parameter.default is inspect.Parameter.empty:
            parts.append(texts[parameter.name])
        elif texts[parameter.name] != repr(parameter.default):
            parts.append(f"{parameter.name}={texts[parameter.name]}")
    return f"F.{base}({', '.join(parts)})"
