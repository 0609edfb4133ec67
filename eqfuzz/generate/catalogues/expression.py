"""A call of an operator as an expression over its tensors, which become parameters of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode, resolve_name

from eqfuzz.generate.catalogues.sample_tensor import SampleTensor
from eqfuzz.generate.catalogues.text import LETTERS
from eqfuzz.program.literal import CannotDescribe, Writer
from eqfuzz.torch_internals.operators import OpOverload, OpOverloadPacket
from eqfuzz.torch_internals.trees import tensors_in

FUNCTIONAL = "torch.nn.functional."

REFUSED_CALL = object()

_LONGEST_TEXT = 600
_MORE_CALLS = "the catalogue calls more than the operator"
_MOST_CALLS = 4
_DIGITS = 6


class Unwritable(Exception):
    """A sample has no readable source; ``str()`` is the reason, in the same words for all of one kind."""


class WrittenCall:
    """The ``expression`` of a call, with ``$x`` for a tensor; ``tensors`` are these, by letter.

    ``module`` is the beginning of the expression that builds what is called, which a program does once; empty for a
    function.
    """

    def __init__(self, expression: str, tensors: Mapping[str, torch.Tensor], module: str = "") -> None:
        self.expression = expression
        self.tensors = dict(tensors)
        self.module = module


def written_call(
    function: Callable[..., Any], path: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> WrittenCall:
    """The call ``function(*args, **kwargs)``, or the calls of torch that it consists of.

    ``path`` is the name that the catalogue gives the function. A call of torch that raises is the last one of these.
    Raises Unwritable, and what the function itself raises.
    """
    writer = _CallWriter(tensors_in((args, dict(kwargs))))
    name = public_name(function, path)
    if name:
        return writer.written(writer.call(name, args, kwargs))
    with _CallRecorder() as recorder:
        try:
            result = function(*args, **kwargs)
        except Exception:
            if not recorder.is_refused:
                raise
            result = REFUSED_CALL
    return writer.written(writer.chain(recorder.calls, result))


def constructor(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """``nn.Conv2d(3, 4, kernel_size=2)``; small tensors are written with their values. Raises Unwritable."""
    return _ConstructorWriter([]).call(name, args, kwargs)


def written_arguments(module: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WrittenCall:
    """The call of what the code ``module`` builds. Raises Unwritable."""
    writer = _CallWriter(tensors_in((args, dict(kwargs))))
    written = writer.written(writer.call(module, args, kwargs))
    return WrittenCall(written.expression, written.tensors, module)


def public_name(function: Callable[..., Any], path: str) -> str:
    """The dotted name below ``torch`` under which a program reaches ``function``; empty where there is none."""
    own = getattr(function, "__name__", "")
    names = [path, f"nn.functional.{own}", own, f"optim.{own}", f"linalg.{own}", f"special.{own}", f"fft.{own}"]
    if isinstance(function, (OpOverload, OpOverloadPacket)):
        names.insert(0, f"ops.{function}")
    names.append(f"Tensor.{own}")
    for name in names:
        if name and not name.startswith("_refs") and value_at(name) is function:
            return f"torch.{name}"
    return ""


def value_at(name: str) -> Any:
    """What has the dotted name below ``torch``; None where nothing has."""
    value: Any = torch
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


class _CallRecorder(TorchFunctionMode):
    """Records the outermost calls of torch, each with its result; ``REFUSED_CALL`` is that of one that raises."""

    def __init__(self) -> None:
        super().__init__()
        self.is_refused = False
        self.calls: list[tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any], Any]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except Exception:
            self.is_refused = True
            self.calls.append((func, args, kwargs or {}, REFUSED_CALL))
            raise
        self.calls.append((func, args, kwargs or {}, result))
        return result


class _CallWriter:
    """Writes one sample; each of its ``tensors`` gets a letter where it occurs."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._own = {id(tensor) for tensor in tensors}
        self._letters: dict[int, str] = {}
        self._tensors: dict[str, torch.Tensor] = {}
        self._results: dict[int, str] = {}

    def written(self, expression: str) -> WrittenCall:
        """The finished text. Raises Unwritable for a long one."""
        if len(expression) > _LONGEST_TEXT:
            raise Unwritable("its arguments are long")
        return WrittenCall(expression, self._tensors)

    def call(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """``torch.add($x, 2, alpha=3)``, ``$x.expand(2, 3)``, ``$x.T``. Raises Unwritable."""
        written = [self.value(value) for value in args]
        owner, _, last = name.rpartition(".")
        if last == "__get__":
            return f"{written[0]}.{owner.rpartition('.')[2]}"
        written += [f"{key}={self.value(value)}" for key, value in kwargs.items()]
        if owner == "torch.Tensor" and written and isinstance(args[0], torch.Tensor):
            return f"{written[0]}.{last}({', '.join(written[1:])})"
        return f"{name.replace(FUNCTIONAL, 'F.')}({', '.join(written)})"

    def chain(self, calls: Sequence[tuple[Callable[..., Any], Any, Any, Any]], result: Any) -> str:
        """Calls each of which reads the result of an earlier one, up to the one that gives ``result``."""
        text = ""
        calls = [call for call in calls if call[3] is result or isinstance(call[3], torch.Tensor)]
        if not calls or calls[-1][3] is not result or len(calls) > _MOST_CALLS:
            raise Unwritable(_MORE_CALLS)
        for function, args, kwargs, value in calls:
            text = self.call(_recorded_name(function), args, kwargs)
            self._results[id(value)] = text
        return text

    def value(self, value: Any) -> str:
        """The source of an argument. Raises Unwritable."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, (torch.memory_format, torch.layout)):
            return repr(value)
        if isinstance(value, torch.device):
            return f'"{value.type}"'
        if isinstance(value, str):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$") + '"'
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.value(key)}: {self.value(item)}" for key, item in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
        if type(value) in (list, tuple, torch.Size):
            items = ", ".join(map(self.value, value))
            if isinstance(value, list):
                return f"[{items}]"
            return f"({items},)" if len(value) == 1 else f"({items})"
        if isinstance(value, complex):
            return str(value) if value == value and abs(value) != float("inf") else self._unwritable(value)
        try:
            return Writer().value(value)
        except CannotDescribe:
            return self._unwritable(value)

    def _unwritable(self, value: Any) -> str:
        raise Unwritable(f"an argument is a {type(value).__name__}")

    def _tensor(self, tensor: torch.Tensor) -> str:
        computed = self._results.pop(id(tensor), None)
        if computed is not None:
            return computed
        if id(tensor) not in self._own:
            raise Unwritable(_MORE_CALLS)
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise Unwritable(f"an operand is a {type(tensor).__name__}")
        if tensor.layout is not torch.strided:
            raise Unwritable(f"an operand is {str(tensor.layout).removeprefix('torch.').replace('_', ' ')}")
        if tensor.is_floating_point() and tensor.dtype.itemsize < torch.half.itemsize:
            raise Unwritable(f"an operand is {tensor.dtype}")
        if tensor.is_meta:
            raise Unwritable("an operand has no values")
        if tensor.is_quantized:
            raise Unwritable("an operand is quantized")
        if id(tensor) not in self._letters:
            if len(self._letters) == len(LETTERS):
                raise Unwritable("it has many tensors")
            letter = LETTERS[len(self._letters)]
            self._letters[id(tensor)] = letter
            self._tensors[letter] = tensor
        return f"${{{self._letters[id(tensor)]}}}"


class _ConstructorWriter(_CallWriter):
    """Writes the arguments of a constructor, which has no parameters of the program."""

    def value(self, value: Any) -> str:
        name = public_name(value, "") if callable(value) and not isinstance(value, torch.nn.Module) else ""
        return name.replace(FUNCTIONAL, "F.") or super().value(value)

    def _tensor(self, tensor: torch.Tensor) -> str:
        code = SampleTensor(tensor.detach(), tensor.dtype).with_its_values(_DIGITS)
        if not code:
            raise Unwritable("an argument of its constructor is a large tensor")
        return code


def _recorded_name(function: Callable[..., Any]) -> str:
    """The name of a recorded function. Raises Unwritable where it has no public one."""
    own = getattr(function, "__name__", "")
    if isinstance(function, (OpOverload, OpOverloadPacket)):
        return f"torch.ops.{function}"
    if own and getattr(torch, own, None) == function:
        return f"torch.{own}"
    name = resolve_name(function)
    if not name or not name.startswith("torch."):
        raise Unwritable("the catalogue calls a function without a name")
    return name
