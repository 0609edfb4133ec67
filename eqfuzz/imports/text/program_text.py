"""The text of a program while its graph is translated: statements, constants, functions, names."""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Mapping

import numpy as np

LITERAL_ELEMENTS = 16
"""Constants of at most so many elements are written into the text; larger ones are weights."""

_RESERVED = frozenset(
    {*keyword.kwlist, *keyword.softkwlist}
    | {*"torch F nn math self weights rng inputs Program forward super range list tuple len int min max sum".split()}
    | {*"float bool slice".split()}
)
_LONGEST_NAME = 48


@dataclasses.dataclass(frozen=True)
class Constant:
    """A constant tensor of a program: an attribute of the module; ``is_buffer``: known to be no parameter."""

    name: str
    array: np.ndarray
    dtype: str
    is_buffer: bool = False

    @property
    def content(self) -> bytes:
        """Its bytes; an array of float32 that stands for bfloat16 is shortened, which loses nothing."""
        if self.dtype == "bfloat16" and self.array.dtype == np.float32:
            return (self.array.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        return self.array.tobytes()


class ProgramText:
    """Collects the text of one program. ``names`` are those of variables by operator, where not the operator's own."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._variable_names = names or {}
        self.statements: list[str] = []
        self.constants: dict[str, Constant] = {}
        self.functions: dict[str, None] = {}
        self._names: set[str] = set(_RESERVED)
        self._attributes: set[str] = {*keyword.kwlist, *_MODULE_ATTRIBUTES}
        self._numbers: dict[str, int] = {}
        self._by_array: dict[int, Constant] = {}

    def constant(self, array: np.ndarray, dtype: str, name: str, *, is_buffer: bool = False) -> str:
        """The text of a constant tensor."""
        constant = self._by_array.get(id(array))
        if constant is None:
            unique = _unique(identifier(name) or "constant", self._attributes)
            constant = Constant(unique, array, dtype, is_buffer)
            self._by_array[id(array)] = constant
            self.constants[constant.name] = constant
        return f"self.{constant.name}"

    def function(self, name: str) -> str:
        """Let the program have a function of ``seed_functions``."""
        self.functions.setdefault(name)
        self._names.add(name)
        return name

    def argument(self, name: str) -> str:
        """The name of a parameter of ``forward``."""
        return _unique(identifier(name) or "x", self._names)

    def assign(self, operator: str, expression: str) -> str:
        """The name of a new variable that is assigned the expression."""
        name = self._numbered(operator)
        self.statements.append(f"{name} = {expression}")
        return name

    def unpack(self, operator: str, count: int, expression: str) -> list[str]:
        """The names of new variables that the items of the expression are assigned to."""
        names = [self._numbered(operator) for _ in range(count)]
        self.statements.append(f"{', '.join(names)}{',' if count == 1 else ''} = {expression}")
        return names

    def _numbered(self, operator: str) -> str:
        base = self._variable_names.get(operator) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operator).lower()
        while True:
            number = self._numbers[base] = self._numbers.get(base, 0) + 1
            name = f"{base}{number}" if not base[-1].isdigit() else f"{base}_{number}"
            if name not in self._names:
                self._names.add(name)
                return name


def identifier(name: str) -> str:
    """A Python name made of a name of the model; empty where nothing remains of it."""
    name = name.removeprefix("onnx::").lower() if name.startswith("onnx::") else name
    words = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_")[:_LONGEST_NAME].strip("_")
    return f"c_{words}" if words[:1].isdigit() else words


def _unique(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


_MODULE_ATTRIBUTES = frozenset(
    """
    add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval extra_repr
    float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules mtia
    named_buffers named_children named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter
    register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule
    share_memory state_dict to to_empty train training type xpu zero_grad
    """.split()
)
"""Attributes of every ``nn.Module``, which no buffer may replace."""
