"""Call sequences: what one compiled callable is called with after the seed's own inputs, to try its guards.

Steps that leave every guard as it is (the same inputs again, new values, small integers) cost no compilation; the
others (sizes, strides, dtypes, scalars, attributes, globals, modes, aliasing) make Dynamo compile once more each.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import torch

from eqfuzz.oracle.compare.leaf_values import identical
from eqfuzz.oracle.observe.leaves import leaves
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import plain_globals
from eqfuzz.torch_internals.trees import tree_leaves, tree_map

AGAIN = "the same inputs again"
INTEGERS = "integer values"
AFTERWARDS = "the first inputs after that"
REFUSED = "inputs that eager refuses"
_LARGEST = 3
_TRIES = 4
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
    """What a step may look at: the callable and the plain globals of its module."""

    target: Any
    namespace: dict[str, Any]


def unguarded(loaded: Loaded, calls: Sequence[Call], seed: int, checks: Collection[str]) -> list[Call]:
    """Steps for which compiled code must serve as it is; ``checks`` names those wanted. Small integers come last."""
    steps: list[Call] = []
    if "repeat" in checks:
        steps.append(dataclasses.replace(calls[0].copy(), label=AGAIN))
    if "values" in checks:
        steps += _new_values(loaded, calls, seed)
    if "integers" in checks:
        steps += _integer_values(calls[0])
    return _that_run(loaded, steps)


def guarded(loaded: Loaded, calls: Sequence[Call], count: int, rng: random.Random) -> list[Call]:
    """``count`` steps drawn among those that a guard must notice and that run in eager; then the first inputs again.

    One of each kind first, then another of each that has one.
    """
    if not count:
        return []
    subject = StepTarget(loaded.instance(), loaded.module.__dict__)
    # What few programs admit comes first where one does: the rest is tried on all the others.
    keys = {name: rng.random() ** (1 / rarity) for name, (rarity, _) in STEPS.items()}
    names = sorted(STEPS, key=lambda name: keys[name], reverse=True)
    if _writes_to_arguments(loaded, calls[0]):
        names.sort(key=lambda name: name != "aliasing-arguments")
    left = {name: _running(loaded, STEPS[name][1](calls[0], subject, rng)) for name in names}
    chosen: list[Call] = []
    while left and len(chosen) < count:
        for name, steps in list(left.items()):
            step = next(steps, None)
            if step is None:
                del left[name]
                continue
            chosen.append(step)
            if len(chosen) == count:
                break
    return [*chosen, dataclasses.replace(calls[0].copy(), label=AFTERWARDS)] if chosen else []


def _writes_to_arguments(loaded: Loaded, call: Call) -> bool:
    """Only then does it matter much to compiled code whether arguments share memory."""
    after = observe(loaded.instance, [call]).calls[0].inputs_after
    before = [
        pair for prefix, value in (("args", call.args), ("kwargs", call.kwargs)) for pair in leaves(value, prefix)
    ]
    return any(
        isinstance(value, torch.Tensor) and not identical(value, new, signed_zero=False)
        for (_, value), (_, new) in zip(before, after, strict=False)
    )


def _that_run(loaded: Loaded, steps: Sequence[Call]) -> list[Call]:
    """The steps that eager finishes, each on a fresh callable."""
    return [step for step in steps if observe(loaded.instance, [step]).calls[0].raised is None]


def _running(loaded: Loaded, steps: Iterator[Call]) -> Iterator[Call]:
    """The steps that eager finishes, until several in a row are none."""
    failed = 0
    for step in steps:
        if _that_run(loaded, [step]):
            failed = 0
            yield step
        elif (failed := failed + 1) == _TRIES:
            return


def _new_values(loaded: Loaded, calls: Sequence[Call], seed: int) -> list[Call]:
    """The inputs that another seed gives, where they have the shapes of the first."""
    fresh = loaded.calls(seed + 1)[0]
    if _shapes(fresh) != _shapes(calls[0]):
        return []
    return [dataclasses.replace(fresh, label="new values")]


def _integer_values(call: Call) -> list[Call]:
    """Small integers in every float tensor, of arguments and state: then sums and products are exact in any order."""
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
    """One size, wherever it occurs in the arguments, becomes another; 1 and 0 among them."""
    sizes = sorted({size for tensor in _tensors(call) for size in tensor.shape if size > 1})
    rng.shuffle(sizes)
    for size in sizes:
        for new in rng.sample([size + 1, 2 * size, size - 1, 1, 0], 5):
            yield _with(call, lambda t, old=size, new=new: _resized(t, old, new), f"sizes {size} become {new}")


def other_strides(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """The same values, laid out with reversed dimensions and an offset."""

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
            left = {name: item for name, item in value.items() if name != key}
            yield _replaced(call, holder, place, left, f"{holder}[{place!r}] without {key!r}")


def other_length(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """A list among the arguments loses its last item, or has it twice."""
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
    """The module goes from training to evaluation or back."""
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


def aliasing_arguments(call: Call, _: StepTarget, rng: random.Random) -> Iterator[Call]:
    """Two arguments of one shape and dtype become overlapping views of one buffer, then one tensor.

    Dynamo guards that arguments are one tensor, and leaves overlap to what is compiled.
    """
    args = list(call.args)
    pairs = [
        (i, j)
        for j, second in enumerate(args)
        for i, first in enumerate(args[:j])
        if isinstance(first, torch.Tensor)
        and isinstance(second, torch.Tensor)
        and first is not second
        and (first.shape, first.dtype, first.requires_grad) == (second.shape, second.dtype, second.requires_grad)
    ]
    rng.shuffle(pairs)
    for i, j in pairs:
        # Half of the one is half of the other: what is written to the first is seen through the second.
        joined = _overlapping(args[i], args[j])
        if joined is not None:
            taken = dict(zip((i, j), joined, strict=True))
            made = tuple(taken.get(index, item) for index, item in enumerate(args))
            overlapping = dataclasses.replace(call, args=made).copy()
            yield dataclasses.replace(overlapping, label=f"args[{i}] and args[{j}] overlap")
        shared = dataclasses.replace(call, args=(*args[:j], args[i], *args[j + 1 :])).copy()
        yield dataclasses.replace(shared, label=f"args[{j}] is args[{i}]")


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
        (3, aliasing_arguments),
    )
}
"""Changes that a guard must notice, by name: each yields the calls that make it, best first.

The number is about one over the share of the shipped seeds that admit it.
"""


def _tensors(call: Call) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves((call.args, call.kwargs)) if isinstance(leaf, torch.Tensor)]


def _shapes(call: Call) -> list[Any]:
    return [tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else type(leaf) for leaf in _leaves(call)]


def _leaves(call: Call) -> list[Any]:
    return tree_leaves((call.args, call.kwargs))


def _with(call: Call, change: Callable[[torch.Tensor], torch.Tensor], label: str, before: str = "") -> Call:
    """The call with every tensor changed; what is one tensor in two places stays one."""
    made: dict[int, torch.Tensor] = {}

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or type(value) is not torch.Tensor or value.layout is not torch.strided:
            return value
        if id(value) not in made:
            made[id(value)] = change(value)
        return made[id(value)]

    fresh = call.copy()
    args, kwargs = tree_map(one, (fresh.args, fresh.kwargs))
    return Call(args, kwargs, label, before)


def _in_place_of(value: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """``new`` with the strides of ``value`` (where it has its shape) and its ``requires_grad``."""
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
    """Views of one buffer, of which the second begins in the middle of the first; None for leaves and small tensors."""
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
    """Other plain numbers of the same type, nearest first; none for what is not a number."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 0]
    return [value * 1.5 + 0.25, -value] if isinstance(value, float) else []
