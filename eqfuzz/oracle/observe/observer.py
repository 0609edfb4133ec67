"""Observation of a cell: calls a program once per input set and records everything that two runs must agree in."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from eqfuzz.oracle.observe import gradients
from eqfuzz.oracle.observe.aliasing import shared_memory
from eqfuzz.oracle.observe.ambient_effects import OF_TORCH, AmbientEffects, generators
from eqfuzz.oracle.observe.exceptions import describe, first_line
from eqfuzz.oracle.observe.leaves import items_inside, leaves, path_in, structure, tensors
from eqfuzz.oracle.observe.observation import CallObservation, Observation
from eqfuzz.oracle.observe.readability import Unreadable, unreadable
from eqfuzz.program.call import Call
from eqfuzz.program.load import STATE_SEED, reseed
from eqfuzz.program.namespace import is_plain, namespace_of, plain_globals
from eqfuzz.torch_internals.dynamo import forget_compiled_code

SECOND_BACKWARD = "second_backward"
"""A module-level name by which a seed requests the gradients of its gradients."""

Scope = Callable[[Any], contextlib.AbstractContextManager[Any]]
Keep = Callable[[Any], Any]
Transform = Callable[[Any], Any]


def observe(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    *,
    transform: Transform | None = None,
    seed: int = STATE_SEED,
) -> Observation:
    """Run a fresh callable on every input set, in order, and record its effects.

    Generators are seeded with ``seed`` before the first call and with one more before each further call: random numbers
    that a compiler drew while it traced are wrong in the second call.

    ``transform`` (such as ``torch.compile``) wraps the callable once. The first exception ends the observation: the
    state after a failure depends on the order of side effects, which compiled code may change.
    Raises only what ``make_callable`` raises.
    """
    if transform is None:
        # Some operators compile in eager too (``torch.cond``): code that they cached for other calls must not be used.
        forget_compiled_code()
    return execute(make_callable, calls, transform=transform, seed=seed, scope=contextlib.nullcontext, keep=snapshot)


@contextlib.contextmanager
def _restored_modes() -> Iterator[None]:
    grad_mode, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_grad_enabled(grad_mode)
        torch.set_default_dtype(dtype)


@contextlib.contextmanager
def _full_recursion_limit() -> Iterator[None]:
    """Raise the recursion limit by the present depth, so that the program has as much of it as in its own process."""
    before, frame, depth = sys.getrecursionlimit(), sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(before + depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@_full_recursion_limit()
@_restored_modes()
def execute(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    *,
    transform: Transform | None,
    seed: int,
    scope: Scope,
    keep: Keep,
    backward_scope: Scope | None = None,
) -> Observation:
    """Run a program for ``observe`` or for a reference: its code runs in ``scope(inputs)``, leaves pass ``keep``.

    ``inputs`` are all tensors that the program did not create: arguments, parameters, buffers, cotangents. Backward
    passes run in ``backward_scope`` if it is given. Grad mode and default dtype, which a program may change for its
    next call, are restored at the end.
    """
    target = make_callable()
    namespace = namespace_of(target)
    observed: list[CallObservation] = []
    started = time.perf_counter()
    function = target
    for number, call in enumerate(calls):
        record = CallObservation(label=call.label)
        observed.append(record)
        effects = AmbientEffects()
        try:
            with effects.recorded(namespace):
                if number == 0 and transform is not None:
                    function = transform(target)
                if call.before:
                    exec(call.before, namespace, {"model": target, "torch": torch})
                scopes = scope, backward_scope or scope
                _one_call(function, target, namespace, call.copy(), seed + number, scopes, keep, record)
        except (Exception, SystemExit) as error:
            # Exceptions of the program are part of the observation.
            record.raised = describe(error)
            break
        finally:
            record.printed, record.warned = effects.printed, effects.warned
    return Observation(observed, time.perf_counter() - started)


def has_drawn(observation: Observation, *, seed: int = STATE_SEED) -> bool:
    """Whether a program observed with ``seed`` drew from torch's generator. Reseeds all generators."""
    for number, call in enumerate(observation.calls):
        reseed(seed + number)
        fresh = dict(generators())[OF_TORCH]
        if dict(call.generators).get(OF_TORCH, fresh) != fresh:
            return True
    return False


def snapshot(value: Any) -> Any:
    """A copy of the leaf, with its ``requires_grad`` and strides; ``Unreadable`` for a tensor that cannot be read."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if not isinstance(value, torch.Tensor):
        return value
    copies: list[torch.Tensor] = []
    with torch.no_grad():
        why = unreadable(value, lambda tensor: copies.append(_copied(tensor)))
    if why:
        return Unreadable(why)
    return copies[0].requires_grad_() if value.requires_grad else copies[0]


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is not torch.strided:
        return tensor.to_dense()
    if tensor.is_conj() or tensor.is_neg():
        return tensor.resolve_conj().resolve_neg()
    return _copy_strided(tensor)


def _copy_strided(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, expanded (stride 0) dimensions included."""
    if tensor.numel() == 0 or tensor.is_meta:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    if span > 4 * tensor.numel():
        # A thin slice of a large tensor: copy the values, not the whole extent.
        return tensor.clone()
    flat = tensor.as_strided((span,), (1,), tensor.storage_offset()).clone()
    return flat.as_strided(tensor.size(), tensor.stride())


def _one_call(
    function: Any,
    target: Any,
    namespace: dict[str, Any],
    call: Call,
    seed: int,
    scopes: tuple[Scope, Scope],
    keep: Keep,
    record: CallObservation,
) -> None:
    """Fill ``record`` step by step, so that it is complete up to an exception."""
    scope, backward_scope = scopes
    model = target if isinstance(target, torch.nn.Module) else None
    arguments: dict[str, Any] = {"args": call.args, "kwargs": call.kwargs}
    wrt = gradients.differentiable(arguments, model)
    reseed(seed)
    state = [] if model is None else [*model.parameters(), *model.buffers()]
    inputs = [tensor for _, tensor in tensors([arguments, state, plain_globals(namespace)], "")]
    with scope(inputs), _context(call.within, namespace):
        result = function(*call.args, **call.kwargs)
    with _reading(record) if keep is snapshot else contextlib.nullcontext():
        _read(result, call, arguments, model, namespace, keep, record)
    if record.unread or any(isinstance(leaf, Unreadable) for _, leaf in record.outputs):
        return
    record.gradients = [(path, keep(leaf)) for path, leaf in gradients.accumulated(wrt)]
    backward = gradients.plan(result, wrt)
    twice = bool(namespace.get(SECOND_BACKWARD))
    if backward is not None and not twice and keep is not snapshot:
        with backward_scope(backward.cotangents):
            record.gradients += gradients.run_keeping(backward, keep)
    elif backward is not None:
        with backward_scope(backward.cotangents):
            first_gradients = gradients.run(backward, again=twice)
        second = gradients.plan_second(first_gradients, backward) if twice else None
        record.gradients += _consumed(first_gradients, keep)
        if second is not None:
            with backward_scope(second.cotangents):
                second_gradients = gradients.run(second)
            record.gradients += _consumed(second_gradients, keep)


def _consumed(leaves: list[tuple[str, Any]], keep: Keep) -> Iterator[tuple[str, Any]]:
    """The leaves passed through ``keep``, each freed before the next, as they are large."""
    leaves.reverse()
    while leaves:
        path, leaf = leaves.pop()
        yield path, keep(leaf)


@contextlib.contextmanager
def _reading(record: CallObservation) -> Iterator[None]:
    """Record an exception raised while results are read, which is not one of the program."""
    try:
        yield
    except Exception as error:
        record.unread = f"{type(error).__name__}: {first_line(str(error))}"


def _read(
    result: Any,
    call: Call,
    arguments: dict[str, Any],
    model: torch.nn.Module | None,
    namespace: dict[str, Any],
    keep: Keep,
    record: CallObservation,
) -> None:
    """Fill ``record`` with the returned value and the side effects, gradients aside."""
    record.generators = list(generators())
    record.structure = structure(result)
    outputs = leaves(result, "output")
    inputs = [pair for prefix, value in arguments.items() for pair in leaves(value, prefix)]
    named = _state(model)
    record.traits = [
        (f"{path}.is_leaf", leaf.is_leaf)
        for path, leaf in outputs
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    state = [pair for root, value in named for pair in leaves(value, root)]
    record.shared = list(shared_memory(outputs, [*inputs, *state]))
    record.outputs = [(path, keep(leaf)) for path, leaf in outputs]
    record.inputs_after = [(path, keep(leaf)) for path, leaf in inputs]
    record.state_after = [(path, keep(leaf)) for path, leaf in state]
    own_globals = [(f"globals()[{name!r}]", value) for name, value in sorted(plain_globals(namespace).items())]
    record.globals_after = [(path, keep(leaf)) for root, value in own_globals for path, leaf in leaves(value, root)]
    record.structures = [(path, _structure_of(value)) for path, value in [*_roots(call), *named, *own_globals]]


def _context(expression: str, namespace: dict[str, Any]) -> contextlib.AbstractContextManager[Any]:
    return eval(expression, {**namespace, "torch": torch}) if expression else contextlib.nullcontext()


def _roots(call: Call) -> list[tuple[str, Any]]:
    """The arguments by their paths."""
    positional = [(f"args[{place}]", value) for place, value in enumerate(call.args)]
    return [*positional, *((f"kwargs[{name!r}]", value) for name, value in call.kwargs.items())]


def _structure_of(value: Any) -> str:
    """The structure of a container; the same text for any other value, whose type is compared with its value."""
    return "a value" if items_inside(value) is None else structure(value)


def _state(model: torch.nn.Module | None) -> list[tuple[str, Any]]:
    """Parameters, buffers and plain attributes of the program's own classes, by path."""
    if model is None:
        return []
    tensors_of = (*model.named_parameters(), *model.named_buffers())
    named: list[tuple[str, Any]] = [(path_in(model, name), value) for name, value in tensors_of]
    for prefix, module in model.named_modules():
        if type(module).__module__.split(".")[0] == "torch":
            continue
        owner = path_in(model, prefix) if prefix else "model"
        own = sorted(vars(module).items())
        named += [(f"{owner}.{name}", value) for name, value in own if not name.startswith("_") and is_plain(value)]
    return named
