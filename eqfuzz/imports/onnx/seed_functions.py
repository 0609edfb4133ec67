"""Functions that imported seeds have where torch has none; their text is copied into the seed.

They use no more than ``torch``, ``F`` and one another, and are never imported by the translation.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F


def steps_of(x, lengths, reverse):
    """The steps of a sequence in their order: the input of each, and which rows of the batch are in it."""
    count = x.shape[0]
    for step in reversed(range(count)) if reverse else range(count):
        yield step, x[step], None if lengths is None else (lengths > step).unsqueeze(-1)


def lstm(
    x,
    w,
    r,
    b,
    h,
    c,
    *,
    reverse=False,
    lengths=None,
    clip=None,
    activations=(torch.sigmoid, torch.tanh, torch.tanh),
):
    """An LSTM layer in one direction; gates are in the order input, output, forget, cell."""
    gate, cell, out = activations
    size = r.shape[-1]
    h = x.new_zeros(x.shape[1], size) if h is None else h
    c = torch.zeros_like(h) if c is None else c
    bias = None if b is None else b[: 4 * size] + b[4 * size :]
    outputs = [torch.zeros_like(h)] * x.shape[0]
    for step, now, inside in steps_of(x, lengths, reverse):
        gates = F.linear(now, w, bias) + F.linear(h, r)
        gates = gates if clip is None else gates.clamp(-clip, clip)
        i, o, f, g = gates.chunk(4, dim=-1)
        new_c = gate(f) * c + gate(i) * cell(g)
        new_h = gate(o) * out(new_c)
        h, c = (new_h, new_c) if inside is None else (torch.where(inside, new_h, h), torch.where(inside, new_c, c))
        outputs[step] = h if inside is None else torch.where(inside, h, torch.zeros_like(h))
    return torch.stack(outputs), h, c


def gru(
    x,
    w,
    r,
    b,
    h,
    *,
    reverse=False,
    lengths=None,
    clip=None,
    activations=(torch.sigmoid, torch.tanh),
    linear_before_reset=False,
):
    """A GRU layer in one direction; gates are in the order update, reset, hidden."""
    gate, hidden = activations
    size = r.shape[-1]
    h = x.new_zeros(x.shape[1], size) if h is None else h
    wb, rb = (None, None) if b is None else (b[: 3 * size], b[3 * size :])
    outputs = [torch.zeros_like(h)] * x.shape[0]
    for step, now, inside in steps_of(x, lengths, reverse):
        xz, xr, xh = F.linear(now, w, wb).chunk(3, dim=-1)
        hz, hr = F.linear(h, r[: 2 * size], None if rb is None else rb[: 2 * size]).chunk(2, dim=-1)
        sums = (xz + hz, xr + hr)
        z, reset = (gate(s if clip is None else s.clamp(-clip, clip)) for s in sums)
        last = (r[2 * size :], None if rb is None else rb[2 * size :])
        candidate = xh + (reset * F.linear(h, *last) if linear_before_reset else F.linear(reset * h, *last))
        candidate = hidden(candidate if clip is None else candidate.clamp(-clip, clip))
        new_h = (1 - z) * candidate + z * h
        h = new_h if inside is None else torch.where(inside, new_h, h)
        outputs[step] = h if inside is None else torch.where(inside, h, torch.zeros_like(h))
    return torch.stack(outputs), h


def rnn(x, w, r, b, h, *, reverse=False, lengths=None, clip=None, activations=(torch.tanh,)):
    """A plain recurrent layer in one direction."""
    size = r.shape[-1]
    h = x.new_zeros(x.shape[1], size) if h is None else h
    bias = None if b is None else b[:size] + b[size:]
    outputs = [torch.zeros_like(h)] * x.shape[0]
    for step, now, inside in steps_of(x, lengths, reverse):
        total = F.linear(now, w, bias) + F.linear(h, r)
        new_h = activations[0](total if clip is None else total.clamp(-clip, clip))
        h = new_h if inside is None else torch.where(inside, new_h, h)
        outputs[step] = h if inside is None else torch.where(inside, h, torch.zeros_like(h))
    return torch.stack(outputs), h


def reshaped(x, sizes):
    """``x`` in another shape, whose zeros stand for the sizes of ``x``."""
    return x.reshape([size if size else x.shape[dim] for dim, size in enumerate(sizes)])


def gather_nd(x, places, dims):
    """Elements of ``x`` at ``places``, whose first ``dims`` dimensions run beside those of ``x``."""
    batch = x.shape[:dims]
    x, places = x.reshape(-1, *x.shape[dims:]), places.reshape(-1, *places.shape[dims:])
    rows = torch.arange(x.shape[0]).reshape(-1, *[1] * (places.dim() - 2))
    chosen = x[(rows, *places.unbind(-1))]
    return chosen.reshape(*batch, *chosen.shape[1:])


def scatter_nd(x, places, updates, reduction):
    """A copy of ``x`` whose slices at ``places`` are combined with ``updates``."""
    depth = places.shape[-1]
    row = torch.zeros(places.shape[:-1], dtype=torch.int64)
    for dim in range(depth):
        row = row * x.shape[dim] + places[..., dim] % x.shape[dim]
    flat = x.reshape(-1, *x.shape[depth:]).flatten(1) if x.dim() > depth else x.reshape(-1, 1)
    source = updates.reshape(-1, flat.shape[1])
    rows = row.reshape(-1, 1).expand(-1, flat.shape[1])
    return flat.scatter_reduce(0, rows, source, reduction).reshape(x.shape)


def reverse_sequence(x, lengths, time, batch):
    """A copy of ``x`` whose rows are reversed in time up to their lengths."""
    moved = x.movedim((batch, time), (0, 1))
    steps = torch.arange(moved.shape[1]).expand(moved.shape[0], -1)
    ends = lengths.unsqueeze(1)
    places = torch.where(steps < ends, ends - 1 - steps, steps)
    rows = torch.arange(moved.shape[0]).unsqueeze(1)
    return moved[rows, places].movedim((0, 1), (batch, time))
