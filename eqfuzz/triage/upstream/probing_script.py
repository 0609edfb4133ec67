"""Script for the Python whose torch is at fault: ``probing_script.py REPRO``.

Runs the reproducer with ``torch.compile`` replaced by eager, and prints as the last line, in JSON, what the compiled
program is called with and what it does: special values, draws of random numbers, jumps and ties. Needs torch only.
"""

import contextlib
import functools
import io
import json
import runpy
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NEAR = 16
"""A float is near the limit of its dtype from this part of it on."""
NOISE = 1024
"""How many units of rounding a float may change by without being a jump."""

INDICES = {"argmax", "argmin", "max", "min", "sort", "argsort", "topk", "kthvalue", "median", "mode", "aminmax"}
JUMPS = {
    *("floor", "ceil", "round", "trunc", "fix", "frac", "sign", "sgn", "heaviside", "floor_divide", "remainder"),
    *("fmod", "eq", "ne", "lt", "le", "gt", "ge", "bucketize", "searchsorted", "isin", "histc", "nonzero"),
    *("logical_not", "logical_and", "logical_or", "logical_xor", "signbit", "_to_copy", "copy"),
}
EXACT = {
    *("view", "_unsafe_view", "reshape", "transpose", "permute", "t", "expand", "slice", "select", "unsqueeze"),
    *("squeeze", "clone", "detach", "alias", "cat", "stack", "split", "split_with_sizes", "unbind", "as_strided"),
    *("index", "index_select", "gather", "where", "neg", "abs", "relu", "flip", "roll", "repeat", "unfold", "copy"),
    *("contiguous", "lift_fresh", "lift_fresh_copy", "constant_pad_nd", "masked_fill", "maximum", "minimum"),
    *("max", "min", "amax", "amin", "clamp", "clamp_min", "clamp_max", "sort", "topk", "diagonal", "view_as_real"),
    *("slice_scatter", "select_scatter", "index_put", "scatter", "fill", "zero", "sign", "floor", "ceil", "trunc"),
}


def main(script):
    probe = TraitProbe()
    torch.compile = functools.partial(in_eager, probe)
    sys.argv = [script]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit:
            pass
        except Exception as error:
            probe.error = f"{type(error).__name__}: {error}"
    facts = {name: sorted(seen) for name, seen in probe.facts.items()}
    sys.stdout.write(json.dumps({**facts, "error": probe.error}) + "\n")


def in_eager(probe, model=None, **arguments):
    if model is None:
        return functools.partial(in_eager, probe)
    run = model.forward if isinstance(model, torch.nn.Module) else model

    def probed(*args, **kwargs):
        with probe:
            return run(*args, **kwargs)

    if not isinstance(model, torch.nn.Module):
        return probed
    model.forward = probed
    return model


class TraitProbe(TorchDispatchMode):
    """Looks at each operator of the program."""

    def __init__(self):
        super().__init__()
        self.facts = {name: set() for name in ("special", "limits", "subnormal", "draws", "jumps", "ties")}
        self.error = ""
        self.made = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name.partition("::")[2].rstrip("_")
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        rounded = {id(t) for t in tensors if self.made.get(id(t), (None, False))[1]}
        with contextlib.suppress(RuntimeError, NotImplementedError, TypeError):
            for tensor in tensors:
                if id(tensor) not in self.made:
                    self.look_at(tensor)
            if name in INDICES or (name in JUMPS and rounded):
                self.nudge(func, name, args, kwargs, None if name in INDICES else rounded)
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.facts["draws"].add(name)
        result = func(*args, **kwargs)
        if tensors or name.startswith(("empty", "new_empty")):  # what was in memory before is no input
            rounds = name not in EXACT and any(t.is_floating_point() or t.is_complex() for t in tensors)
            for leaf in tree_leaves(result):
                if isinstance(leaf, torch.Tensor):
                    self.made[id(leaf)] = leaf, bool(rounded) or rounds
        return result

    def look_at(self, tensor):
        """A tensor that comes from outside, or that no other one was needed for."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        if tensor.is_complex():
            return self.look_at(torch.view_as_real(tensor.resolve_conj()))
        if not tensor.numel() or tensor.dtype is torch.bool or tensor.layout is not torch.strided:
            return None
        if not tensor.is_floating_point():
            info = torch.iinfo(tensor.dtype)
            if info.bits > 8 and int(tensor.max()) >= info.max // 2:
                self.facts["limits"].add(dtype)
            return None
        values, info = tensor.detach().double(), torch.finfo(tensor.dtype)
        finite = values[values.isfinite()].abs()
        self.facts["special"] |= {"NaN"} if values.isnan().any() else set()
        self.facts["special"] |= {"inf"} if values.isinf().any() else set()
        self.facts["limits"] |= {dtype} if (finite >= info.max / NEAR).any() else set()
        self.facts["subnormal"] |= {dtype} if ((finite > 0) & (finite < info.tiny)).any() else set()
        return None

    def nudge(self, func, name, args, kwargs, which):
        """Whether the result jumps when values change by one unit of rounding, up and down in turns.

        ``which`` are the tensors to change; with None all are, integers too.
        """
        largest, eps = 0.0, 0.0

        def moved(value, first):
            nonlocal largest, eps
            if not isinstance(value, torch.Tensor) or value.is_complex() or value.dtype is torch.bool:
                return value
            if which is None and not value.is_floating_point():
                value = value.double()
            elif (which is not None and id(value) not in which) or not value.is_floating_point():
                return value.clone()
            eps = max(eps, torch.finfo(value.dtype).eps)
            sizes = value.detach().double().abs()
            largest = max(largest, float(sizes.nan_to_num(0, 0, 0).max()) if value.numel() else 0.0)
            up = (torch.arange(value.numel(), device=value.device) % 2 == first).reshape(value.shape)
            wide = value.double()
            step = torch.where(up, 1, -1) * torch.finfo(value.dtype).eps * wide.abs().clamp(min=1e-30)
            return (wide + step).to(value.dtype)

        unmoved = tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, (args, kwargs))
        before = tree_leaves(func(*unmoved[0], **unmoved[1]))
        for first in (0, 1):
            changed = tree_map(functools.partial(moved, first=first), (args, kwargs))
            after = tree_leaves(func(*changed[0], **changed[1]))
            for one, other in zip(before, after, strict=False):
                if not isinstance(one, torch.Tensor) or (which is None and one.is_floating_point()):
                    continue
                far = (one.double() - other.double()).abs() > (NOISE * eps * largest if one.is_floating_point() else 0)
                if which is not None and one.is_floating_point() and name in ("_to_copy", "copy"):
                    continue
                if far.any():
                    self.facts["ties" if which is None else "jumps"].add(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
