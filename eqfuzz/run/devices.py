"""Programs, arguments and observations on another device, and back."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from eqfuzz.oracle.audit.nondeterminism import left_open
from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.leaves import tensors
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import has_drawn, observe
from eqfuzz.oracle.shadow.shadow_storage import has_storage
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.tensors import storage_key

Transform = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class DeviceObservation:
    """Observation in eager on ``device``: ``eager`` of the first ``calls``, up to one that fails there.

    ``refusal`` says why not even the first call runs, ``doubt`` why values that differ there prove nothing.
    """

    device: str
    calls: list[Call]
    eager: Observation
    refusal: str
    doubt: str

    @classmethod
    def of(
        cls, make_callable: Callable[[], Any], calls: Sequence[Call], here: Observation, device: str
    ) -> DeviceObservation:
        """Run the ``calls`` twice on the device; ``here`` is the observation in eager on the CPU."""
        eager = observe_on(make_callable, calls, device)
        stop = next((number for number, call in enumerate(eager.calls) if call.raised is not None), len(calls))
        if stop == 0:
            raised = eager.calls[0].raised
            assert raised is not None
            words = f"eager does not run on {device}: {raised.type}: {raised.message}"
            return cls(device, [], eager.first(0), words, "")
        there = calls[:stop]
        eager = eager.first(stop)
        again = observe_on(make_callable, there, device)
        return cls(device, list(there), eager, "", _doubt(make_callable, there, here, eager, again))


def _doubt(
    make_callable: Callable[[], Any], calls: Sequence[Call], here: Observation, eager: Observation, again: Observation
) -> str:
    if has_drawn(here):
        return "it draws random numbers, which are others on each device and in each kernel"
    if judge_self(eager, again).kind is not VerdictKind.AGREE:
        return "eager gives something else each time there"
    return left_open(make_callable, calls)


def observe_on(
    make_callable: Callable[[], Any], calls: Sequence[Call], device: str, transform: Transform | None = None
) -> Observation:
    """``observe`` on ``device``, moved back. Tensors that the program creates without a device stay on the CPU.

    On ``"cpu"`` it is ``observe``. Where the device can no longer be used afterwards (an index out of range in a
    kernel), this process ends.
    """
    if device == "cpu":
        return observe(make_callable, calls, transform=transform)
    moved = [on_device(call, device) for call in calls]
    observed = observe(partial(_instance, make_callable, device), moved, transform=transform)
    if device == "cuda":
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            # All tensors on the device are lost, and everything that is tried afterwards would fail.
            os.write(2, f"the CUDA context is lost: {error}\n".encode())
            os.abort()
    return to_cpu(observed)


def _instance(make_callable: Callable[[], Any], device: str) -> Callable[..., Any]:
    """A new callable; a module with its parameters and buffers on ``device``."""
    target = make_callable()
    return target.to(device) if isinstance(target, torch.nn.Module) else target


def on_device(call: Call, device: str) -> Call:
    """The call with its tensors on ``device``: with the same strides, offsets and sharing of memory."""
    movement = _Movement(device)
    moved = {id(tensor): movement.of(tensor) for _, tensor in tensors((call.args, call.kwargs), "call")}
    # Objects in the memo are not copied: so the moved tensors get into containers of any kind.
    args, kwargs = copy.deepcopy((call.args, call.kwargs), moved)
    return dataclasses.replace(call, args=args, kwargs=kwargs)


def to_cpu(observation: Observation) -> Observation:
    """The same observation with every tensor on the CPU, where the reference is.

    The device of each output is kept as a trait.
    """

    def bring(leaves: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        movement = _Movement("cpu")
        return [(path, movement.of(leaf) if isinstance(leaf, torch.Tensor) else leaf) for path, leaf in leaves]

    calls = [
        dataclasses.replace(
            call,
            traits=call.traits
            + [(f"{path}.device", str(leaf.device)) for path, leaf in call.outputs if isinstance(leaf, torch.Tensor)],
            outputs=bring(call.outputs),
            inputs_after=bring(call.inputs_after),
            state_after=bring(call.state_after),
            globals_after=bring(call.globals_after),
            gradients=bring(call.gradients),
        )
        for call in observation.calls
    ]
    return dataclasses.replace(observation, calls=calls)


class _Movement:
    """Copies tensors to ``device``, each storage once."""

    def __init__(self, device: str) -> None:
        self._device = torch.device(device)
        self._storages: dict[int, torch.UntypedStorage] = {}

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor there, with its strides and ``requires_grad``."""
        plain = tensor.detach()
        odd = not has_storage(plain) or plain.is_quantized or plain.is_conj() or plain.is_neg()
        if type(tensor) in (torch.Tensor, torch.nn.Parameter) and not odd:
            moved = self._view(plain)
        else:
            moved = plain.to(self._device)
        return moved.requires_grad_() if tensor.requires_grad else moved

    def _view(self, tensor: torch.Tensor) -> torch.Tensor:
        key, storage = storage_key(tensor), tensor.untyped_storage()
        if key not in self._storages:
            stays = tensor.device.type == self._device.type
            self._storages[key] = storage.clone() if stays else storage.to(device=self._device)
        moved = torch.empty(0, dtype=tensor.dtype, device=self._device)
        return moved.set_(self._storages[key], tensor.storage_offset(), tensor.size(), tensor.stride())
