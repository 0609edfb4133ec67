"""Call sequences: the calls of one compiled callable after those with the seed's own inputs, to test its guards.

Steps that no guard checks (the same inputs again, new values, small integers) cost no compilation. Each of the others
(sizes, strides, dtypes, scalars, attributes, globals, modes, aliasing) makes Dynamo compile once more.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import torch

from eqfuzz.oracle.observe.leaf_values import identical
from eqfuzz.oracle.observe.leaves import leaves
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import plain_globals
from eqfuzz.torch_internals.trees import tensors_in, tree_leaves, tree_map

AGAIN = "the same inputs again"
INTEGERS = "integer values"
AFTERWARDS = "the first inputs after that"
REFUSED = "inputs that eager refuses"
REFUSES = "refuses"
"""A module-level name by which a seed says that eager raises on its inputs, and that compiled code has to."""
_LARGEST = 3
"""The largest magnitude of small integers."""
_TRIES = 4
"""How many steps of one kind may fail in eager, in a row, before the kind is abandoned."""
_TO_INTEGERS = f"""\
if isinstance(model, torch.nn.Module):
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            if tensor.is_floating_point() and tensor.numel():
                tensor.copy_((tensor * ({_LARGEST} / tensor.abs().max().clamp(min=1e-6))).round())
"""

_Place = TypeVar("_Place")

Step = Callable[[Call, "StepTarget", random.Random], Iterator[Call]]


@dataclasses.dataclass(frozen=True)
class StepTarget:
    """The callable and the globals of its module, which a step may change."""

    target: Any
    namespace: dict[str, Any]


def unguarded(loaded: Loaded, calls: Sequence[Call], seed: int, checks: Collection[str]) -> list[Call]:
    """Steps after which no guard may fail; ``checks`` names those to return. Small integers come last."""
    steps: list[Call] = []
    if "repeat" in checks:
        steps.append(dataclasses.replace(calls[0].copy(), label=AGAIN))
    if "values" in checks:
        steps += _new_values(loaded, calls, seed)
    if "integers" in checks:
        steps += _integer_values(calls[0])
    return _runnable(loaded, steps)


def guarded(loaded: Loaded, calls: Sequence[Call], count: int, rng: random.Random) -> list[Call]:
    """``count`` random steps that a guard must detect and that run in eager, then the first inputs again.

    The first steps are of different kinds, the next ones of these kinds again.
    """
    if not count:
        return []
    subject = StepTarget(loaded.instance(), loaded.module.__dict__)
    # Kinds that few programs admit come first: the other kinds are tested by all other programs.
    keys = {name: rng.random() ** (1 / rarity) for name, (rarity, _) in STEPS.items()}
    names = sorted(STEPS, key=lambda name: keys[name], reverse=True)
    if _writes_to_arguments(loaded, calls[0]):
        # An overlap is the likelier defect. Where there is room for both it comes last, for it would hide the other.
        first = (identical_arguments, overlapping_arguments)[-count:]
        names.sort(key=lambda name: first.index(STEPS[name][1]) if STEPS[name][1] in first else len(first))
    remaining = {name: _running(loaded, STEPS[name][1](calls[0], subject, rng)) for name in names}
    chosen: list[Call] = []
    while remaining and len(chosen) < count:
        for name, steps in list(remaining.items()):
            step = next(steps, None)
            if step is None:
                del remaining[name]
                continue
            chosen.append(step)
            if len(chosen) == count:
                break
    return [*chosen, dataclasses.replace(calls[0].copy(), label=AFTERWARDS)] if chosen else []


def _writes_to_arguments(loaded: Loaded, call: Call) -> bool:
    """Whether a call changes its arguments: only then does it matter much whether these share memory."""
    after = observe(loaded.instance, [call]).calls[0].inputs_after
    before = [
        pair for prefix, value in (("args", call.args), ("kwargs", call.kwargs)) for pair in leaves(value, prefix)
    ]
    return any(
        isinstance(value, torch.Tensor) and not identical(value, new, signed_zero=False)
        for (_, value), (_, new) in zip(before, after, strict=False)
    )


def _runnable(loaded: Loaded, steps: Sequence[Call]) -> list[Call]:
    """The steps that do not raise in eager, each on a fresh callable."""
    return [step for step in steps if observe(loaded.instance, [step]).calls[0].raised is None]


def _running(loaded: Loaded, steps: Iterator[Call]) -> Iterator[Call]:
    """The steps that do not raise in eager, until several in a row raise."""
    failed = 0
    for step in steps:
        if _runnable(loaded, [step]):
            failed = 0
            yield step
        elif (failed := failed + 1) == _TRIES:
            return


def _new_values(loaded: Loaded, calls: Sequence[Call], seed: int) -> list[Call]:
    """The inputs drawn with another seed, if they have the shapes of the first ones."""
    fresh = loaded.calls(seed + 1)[0]
    if _shapes(fresh) != _shapes(calls[0]):
        return []
    return [dataclasses.replace(fresh, label="new values")]


def _integer_values(call: Call) -> list[Call]:
    """Small integers in every float tensor of arguments and state, with which sums and products are exact."""
    return [_with(call, _rounded, label=INTEGERS, before=_TO_INTEGERS)]


def _rounded(value: torch.Tensor) -> torch.Tensor:
    if not value.is_floating_point() or not value.numel():
        return value
    with torch.no_grad():
        plain = value.detach().double()
        finite = plain.abs().masked_fill(~plain.isfinite(), 0.0).amax()
        whole = (plain * (_LARGEST / finite.clamp(min=1e-6))).round()
        return _in_place_of(value, whole.to(value.dtype))


def other_sizes(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """All dimensions of one size in the arguments get another size, 1 and 0 included."""
    sizes = sorted({size for tensor in _tensors(call) for size in tensor.shape if size > 1})
    rng.shuffle(sizes)
    for size in sizes:
        for new in rng.sample([size + 1, 2 * size, size - 1, 1, 0], 5):
            yield _with(call, lambda t, old=size, new=new: _resized(t, old, new), f"sizes {size} become {new}")


def other_strides(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """The same values with reversed strides and a storage offset."""

    def lay(value: torch.Tensor) -> torch.Tensor:
        if value.dim() < 2 or not value.numel():
            return value
        order = tuple(reversed(range(value.dim())))
        turned = value.detach().permute(order).contiguous()
        padded = torch.cat([turned.new_zeros(3), turned.reshape(-1)])[3:].reshape(turned.shape).permute(order)
        return padded.requires_grad_(value.requires_grad)

    if any(tensor.dim() > 1 and tensor.numel() for tensor in _tensors(call)):
        yield _with(call, lay, "other strides")


def other_dtype(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """Every tensor of one dtype becomes a wider or narrower one."""
    pairs = [(torch.float32, torch.float64), (torch.float64, torch.float32), (torch.int64, torch.int32)]
    for old, new in rng.sample(pairs, len(pairs)):
        if any(tensor.dtype is old for tensor in _tensors(call)):
            yield _with(call, lambda t, old=old, new=new: _cast(t, old, new), f"{old} becomes {new}")


def other_scalar(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """One Python number among the arguments changes."""
    places = [*enumerate(call.args), *call.kwargs.items()]
    rng.shuffle(places)
    for (place, value), new in _alternating([((place, value), _other_values(value)) for place, value in places]):
        args = tuple(new if index == place else item for index, item in enumerate(call.args))
        kwargs = {name: new if name == place else item for name, item in call.kwargs.items()}
        name = f"args[{place}]" if isinstance(place, int) else f"kwargs[{place!r}]"
        yield dataclasses.replace(call, args=args, kwargs=kwargs, label=f"{name}: {value!r} becomes {new!r}").copy()


def other_keys(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """A dictionary among the arguments loses an entry."""
    for holder, place, value in _containers(call, dict):
        for key in rng.sample(list(value), len(value)):
            rest = {name: item for name, item in value.items() if name != key}
            yield _replaced(call, holder, place, rest, f"{holder}[{place!r}] without {key!r}")


def other_length(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """A list among the arguments loses or repeats its last item."""
    lists = [((holder, place), value) for holder, place, value in _containers(call, list)]
    changes = [(place, [[*value, *value[-1:]], value[:-1]]) for place, value in lists]
    for (holder, place), changed in _alternating(changes):
        yield _replaced(call, holder, place, changed, f"{holder}[{place!r}] has {len(changed)} items")


def _containers(call: Call, kind: type) -> Iterator[tuple[str, int | str, Any]]:
    for holder, items in (("args", enumerate(call.args)), ("kwargs", call.kwargs.items())):
        for place, value in items:
            if type(value) is kind and value:
                yield holder, place, value


def _replaced(call: Call, holder: str, place: int | str, value: Any, label: str) -> Call:
    args = tuple(value if (holder, index) == ("args", place) else item for index, item in enumerate(call.args))
    kwargs = {name: value if (holder, name) == ("kwargs", place) else item for name, item in call.kwargs.items()}
    return dataclasses.replace(call, args=args, kwargs=kwargs, label=label).copy()


def other_attribute(call: Call, subject: StepTarget, rng: random.Random) -> Iterator[Call]:
    """One plain attribute of the module changes."""
    if not isinstance(subject.target, torch.nn.Module):
        return
    own = {name: value for name, value in vars(subject.target).items() if not name.startswith("_")}
    names = [name for name in rng.sample(sorted(own), len(own)) if name != "training"]
    for name, new in _alternating([(name, _other_values(own[name])) for name in names]):
        yield dataclasses.replace(call.copy(), label=f"model.{name} is {new!r}", before=f"model.{name} = {new!r}")


def other_global(call: Call, subject: StepTarget, rng: random.Random) -> Iterator[Call]:
    """One plain global of the program's module changes."""
    plain = plain_globals(subject.namespace)
    names = rng.sample(sorted(plain), len(plain))
    for name, new in _alternating([(name, _other_values(plain[name])) for name in names]):
        change = f"globals()[{name!r}] = {new!r}"
        yield dataclasses.replace(call.copy(), label=f"{name} is {new!r}", before=change)


def other_mode(call: Call, subject: StepTarget, rng: random.Random) -> Iterator[Call]:
    """The module changes between training and evaluation."""
    if isinstance(subject.target, torch.nn.Module):
        new = not subject.target.training
        yield dataclasses.replace(call.copy(), label=f"model.train({new})", before=f"model.train({new})")


def without_gradients(call: Call, subject: StepTarget, rng: random.Random) -> Iterator[Call]:
    """The same call under ``torch.no_grad()``."""
    trained = isinstance(subject.target, torch.nn.Module) and any(p.requires_grad for p in subject.target.parameters())
    if trained or any(tensor.requires_grad for tensor in _tensors(call)):
        yield dataclasses.replace(call.copy(), label="under no_grad", within="torch.no_grad()")


def under_autocast(call: Call, subject: StepTarget, rng: random.Random) -> Iterator[Call]:
    """The same call under bfloat16 autocast."""
    state = subject.target.parameters() if isinstance(subject.target, torch.nn.Module) else ()
    if any(tensor.dtype is torch.float32 for tensor in (*_tensors(call), *state)):
        within = "torch.autocast('cpu', dtype=torch.bfloat16)"
        yield dataclasses.replace(call.copy(), label="under autocast", within=within)


def overlapping_arguments(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """Two arguments of one shape and dtype become overlapping views of one buffer, which compiled code checks."""
    for i, j in _alike(call, rng):
        # The second half of one is the first half of the other: writes to one change the other.
        joined = _overlapping(call.args[i], call.args[j])
        if joined is not None:
            views = dict(zip((i, j), joined, strict=True))
            replaced = tuple(views.get(index, item) for index, item in enumerate(call.args))
            overlapping = dataclasses.replace(call, args=replaced).copy()
            yield dataclasses.replace(overlapping, label=f"args[{i}] and args[{j}] overlap")


def identical_arguments(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """Two arguments of one shape and dtype become one tensor, on which Dynamo guards."""
    for i, j in _alike(call, rng):
        shared = dataclasses.replace(call, args=(*call.args[:j], call.args[i], *call.args[j + 1 :])).copy()
        yield dataclasses.replace(shared, label=f"args[{j}] is args[{i}]")


def _alike(call: Call, rng: random.Random) -> list[tuple[int, int]]:
    """Positions of two tensors of one shape and dtype, in random order."""
    pairs = [
        (i, j)
        for j, second in enumerate(call.args)
        for i, first in enumerate(call.args[:j])
        if isinstance(first, torch.Tensor)
        and isinstance(second, torch.Tensor)
        and first is not second
        and (first.shape, first.dtype, first.requires_grad) == (second.shape, second.dtype, second.requires_grad)
    ]
    rng.shuffle(pairs)
    return pairs


STEPS: dict[str, tuple[float, Step]] = {
    function.__name__.replace("_", "-"): (rarity, function)
    for rarity, function in (
        (1, other_sizes),
        (1, other_strides),
        (1, other_dtype),
        (10, other_scalar),
        (20, other_keys),
        (20, other_length),
        (40, other_attribute),
        (40, other_global),
        (20, other_mode),
        (4, without_gradients),
        (1, under_autocast),
        (3, overlapping_arguments),
        (3, identical_arguments),
    )
}
"""Changes that a guard must detect, by name: a rarity, and a function that yields calls with the change, best first.

The rarity is about one over the share of the shipped seeds that admit the change.
"""


def _tensors(call: Call) -> list[torch.Tensor]:
    return tensors_in((call.args, call.kwargs))


def _shapes(call: Call) -> list[Any]:
    leaves_of_call = tree_leaves((call.args, call.kwargs))
    return [tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else type(leaf) for leaf in leaves_of_call]


def _with(call: Call, change: Callable[[torch.Tensor], torch.Tensor], label: str, before: str = "") -> Call:
    """The call with every tensor changed; arguments that are one tensor stay one."""
    changed: dict[int, torch.Tensor] = {}

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or type(value) is not torch.Tensor or value.layout is not torch.strided:
            return value
        if id(value) not in changed:
            changed[id(value)] = change(value)
        return changed[id(value)]

    fresh = call.copy()
    args, kwargs = tree_map(one, (fresh.args, fresh.kwargs))
    return Call(args, kwargs, label, before)


def _in_place_of(value: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """``new`` with the strides of ``value`` (if it has the same shape) and its ``requires_grad``."""
    dense = all(stride or size < 2 for size, stride in zip(value.shape, value.stride(), strict=True))
    if new.shape == value.shape and dense:
        new = torch.empty_strided(value.shape, value.stride(), dtype=new.dtype).copy_(new)
    return new.requires_grad_(value.requires_grad)


def _resized(value: torch.Tensor, old: int, new: int) -> torch.Tensor:
    plain = value.detach()
    for dim, size in enumerate(value.shape):
        if size == old:
            plain = plain.index_select(dim, torch.arange(new) % old)
    return plain.clone().requires_grad_(value.requires_grad)


def _overlapping(first: torch.Tensor, second: torch.Tensor) -> list[torch.Tensor] | None:
    """Two views of one buffer, the second starting in the middle of the first; None for leaves and small tensors."""
    if first.requires_grad or first.numel() < 2:
        return None
    step = first.numel() // 2
    buffer = torch.cat([first.reshape(-1), second.reshape(-1)[-step:]])
    return [buffer[start : start + first.numel()].view(first.shape) for start in (0, step)]


def _cast(value: torch.Tensor, old: torch.dtype, new: torch.dtype) -> torch.Tensor:
    return value if value.dtype is not old else _in_place_of(value, value.detach().to(new))


def _alternating(choices: Sequence[tuple[_Place, Sequence[Any]]]) -> Iterator[tuple[_Place, Any]]:
    """Each place with its first value, then each with its second, and so on."""
    for nth in range(max((len(values) for _, values in choices), default=0)):
        yield from ((place, values[nth]) for place, values in choices if nth < len(values))


def _other_values(value: Any) -> list[Any]:
    """Other plain numbers of the same type, nearest first; none if ``value`` is not a number."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 0]
    return [value * 1.5 + 0.25, -value] if isinstance(value, float) else []
