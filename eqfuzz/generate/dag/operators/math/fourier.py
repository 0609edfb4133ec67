"""Fourier transforms and shifts of frequencies."""

from __future__ import annotations

import dataclasses

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import (
    COMPLEX,
    NUMBERS,
    PART,
    WHOLE,
    WIDE,
    Dim,
    Range,
    Spec,
    UnsatisfiableSpec,
    most,
)


def _moderate(spec: Spec) -> Spec:
    return spec.within(-64.0, 64.0) if spec.is_float else spec


def _scale(draw: Draw) -> str:
    return draw.choice(("", "", "", 'norm="ortho"', 'norm="forward"', 'norm="backward"'))


def _spread(count: int) -> Range:
    """The largest factor by which a transform over ``count`` elements scales its parts."""
    return Range(-2 * most(count), 2 * most(count))


def _called(name: str, *words: str) -> list[str]:
    return [f"torch.fft.{name}({', '.join(('{0}', *filter(None, words)))})"]


def _axis(draw: Draw, out: Spec) -> tuple[int, int]:
    """An axis and its size. Raises UnsatisfiableSpec where there are no elements."""
    axis = draw.axis(out)
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    return axis, out.shape[axis]


def _with(out: Spec, axis: int, n: int) -> tuple[int, ...]:
    return (*out.shape[:axis], n, *out.shape[axis + 1 :])


def _dim(draw: Draw, axis: int, rank: int) -> str:
    return "" if axis == rank - 1 and draw.chance(0.6) else f"dim={draw.signed_axis(axis, rank)}"


for _name in ("fft", "ifft"):

    @operator(f"torch.fft.{_name}", dtypes=COMPLEX, rank=(1, 4), dense=False, name_hint="spectrum")
    def transform(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Along one dimension, of complex or real numbers, sometimes padded or truncated."""
        axis, n = _axis(draw, out)
        size, length = out.shape, ""
        if draw.chance(0.25):
            size, length = _with(out, axis, draw.size()), f"n={n}"
        operand = _moderate(Spec(size, draw.choice((out.dtype, PART[out.dtype]))))
        forms = _called(_name, length, _dim(draw, axis, out.rank), _scale(draw))
        return Needs(operand, values=lambda x: Range(-x.most, x.most) * _spread(n), forms=forms)


@operator("torch.fft.rfft", dtypes=COMPLEX, rank=(1, 4), dense=False, name_hint="spectrum")
def rfft(draw: Draw, out: Spec) -> Needs:
    """Of real numbers: the half of the spectrum that is not redundant."""
    return _halved(draw, out, "rfft")


@operator("torch.fft.ihfft", dtypes=COMPLEX, rank=(1, 4), dense=False, name_hint="spectrum")
def ihfft(draw: Draw, out: Spec) -> Needs:
    """The inverse, of a real spectrum."""
    return _halved(draw, out, "ihfft")


def _halved(draw: Draw, out: Spec, name: str) -> Needs:
    axis, m = _axis(draw, out)
    n = draw.choice((2 * m - 1, 2 * m - 2)) if m > 1 else 1
    size, length = _with(out, axis, n), ""
    if draw.chance(0.2):
        size, length = _with(out, axis, draw.size()), f"n={n}"
    operand = _moderate(Spec(size, PART[out.dtype]))
    forms = _called(name, length, _dim(draw, axis, out.rank), _scale(draw))
    return Needs(operand, values=lambda x: Range(-x.most, x.most) * _spread(n), forms=forms)


for _name in ("irfft", "hfft"):

    @operator(f"torch.fft.{_name}", dtypes=WIDE, rank=(1, 4), dense=False, name_hint="signal")
    def back_to_real(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Real numbers from half a spectrum; an odd or changing length is passed as ``n``."""
        axis, n = _axis(draw, out)
        if isinstance(n, Dim):
            half, length = draw.size(), f"n={n}"
        else:
            half, length = n // 2 + 1, f"n={n}" if n % 2 or draw.chance(0.4) else ""
        operand = Spec(_with(out, axis, half), WHOLE[out.dtype])
        forms = _called(_name, length, _dim(draw, axis, out.rank), _scale(draw))
        return Needs(operand, values=lambda z: Range(-z.most, z.most) * _spread(n), forms=forms)


for _name in ("fft2", "ifft2", "fftn", "ifftn"):

    @operator(f"torch.fft.{_name}", dtypes=COMPLEX, rank=(2, 4), dense=False, name_hint="spectrum")
    def transform_of_several(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Along two dimensions or more."""
        if out.numel == 0:
            raise UnsatisfiableSpec("empty")
        two = _name.endswith("2")
        axes = (out.rank - 2, out.rank - 1) if two else tuple(range(out.rank))
        dim = ""
        if draw.chance(0.4):
            axes = tuple(sorted(draw.rng.sample(range(out.rank), 2)))
            dim = f"dim={axes}"
        count = 1
        for axis in axes:
            count *= most(out.shape[axis])
        operand = _moderate(out.as_(draw.choice((out.dtype, PART[out.dtype]))))
        return Needs(
            operand,
            values=lambda x: Range(-x.most, x.most) * _spread(count),
            forms=_called(_name, dim, _scale(draw)),
        )


for _name in ("rfft2", "rfftn"):

    @operator(f"torch.fft.{_name}", dtypes=COMPLEX, rank=(2, 3), dense=False, name_hint="spectrum")
    def real_transform_of_several(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of real numbers, along the last dimensions."""
        m = out.shape[-1]
        if out.numel == 0 or (_name == "rfftn" and not out.is_static):
            raise UnsatisfiableSpec("empty")
        n = draw.choice((2 * m - 1, 2 * m - 2)) if m > 1 else 1
        operand = _moderate(Spec((*out.shape[:-1], n), PART[out.dtype]))
        count = n * (out.numel // m if _name == "rfftn" else most(out.shape[-2]))
        forms = _called(_name, _scale(draw))
        return Needs(operand, values=lambda x: Range(-x.most, x.most) * _spread(count), forms=forms)


for _name in ("irfft2", "irfftn"):

    @operator(f"torch.fft.{_name}", dtypes=WIDE, rank=(2, 3), dense=False, name_hint="signal")
    def several_back_to_real(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Real numbers from half a spectrum, along the last dimensions."""
        n, m = out.shape[-1], out.shape[-2]
        if out.numel == 0 or isinstance(n, Dim) or (_name == "irfftn" and out.rank > 2):
            raise UnsatisfiableSpec("empty, or a size that changes")
        operand = Spec((*out.shape[:-1], n // 2 + 1), WHOLE[out.dtype])
        forms = _called(_name, f"s=({m}, {n})" if n % 2 or draw.chance(0.5) else "", _scale(draw))
        return Needs(operand, values=lambda z: Range(-z.most, z.most) * _spread(n * most(m)), forms=forms)


for _name in ("fftshift", "ifftshift"):

    @operator(f"torch.fft.{_name}", dtypes=NUMBERS, rank=(1, 5), exact=True, saves=False, name_hint="shifted")
    def shift(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Frequencies shifted by half, along some or all dimensions."""
        axes = draw.axes(out)
        dim = draw.choice(("", f"dim={axes}", f"dim={draw.signed_axis(draw.axis(out), out.rank)}"))
        return Needs(out.free(), forms=_called(_name, dim))


for _name in ("fftfreq", "rfftfreq"):

    @operator(f"torch.fft.{_name}", dtypes=WIDE, rank=(1, 1), name_hint="frequency")
    def frequencies(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The sample frequencies of a transform."""
        n = out.shape[0]
        if out.numel == 0:
            raise UnsatisfiableSpec("empty")
        length = n if _name == "fftfreq" else 2 * n - draw.choice((1, 2)) if n > 1 else 1
        step = draw.choice(("", ", d=0.5", ", d=2.0"))
        dtype = f", dtype=torch.{out.dtype}" * (out.dtype != "float32")
        return Needs(values=Range(-1, 1), forms=[f"torch.fft.{_name}({length}{step}{dtype})"])


@operator("torch.stft", dtypes=COMPLEX, rank=(2, 3), dense=False, name_hint="spectrum")
def stft(draw: Draw, out: Spec) -> Needs:
    """The short-time transform of a signal, or a batch of them."""
    m, frames = out.shape[-2:]
    if out.numel == 0 or isinstance(m, Dim) or isinstance(frames, Dim) or not 2 <= m <= 17:
        raise UnsatisfiableSpec("no such frames")
    width, hop = 2 * (m - 1), draw.integer(1, 4)
    part = PART[out.dtype]
    length = (frames - 1) * hop + draw.integer(0, hop - 1)
    if length == 0:
        raise UnsatisfiableSpec("no signal")
    operand = Spec((*out.shape[:-2], length), part).within(-64.0, 64.0)
    window = f"torch.hann_window({width}, dtype=torch.{part})"
    form = f'torch.stft({{0}}, {width}, hop_length={hop}, window={window}, pad_mode="constant", return_complex=True)'
    return Needs(operand, values=lambda x: Range(-x.most, x.most) * _spread(width), forms=[form])


@operator(
    "torch.fft.power",
    "torch.fft.rfft({0}, dim={dim}).abs()",
    "torch.abs(torch.fft.rfft({0}, dim={dim}))",
    dtypes=WIDE,
    rank=(1, 4),
    dense=False,
    name_hint="power",
)
def power(draw: Draw, out: Spec) -> Needs:
    """The magnitude of each frequency."""
    axis, m = _axis(draw, out)
    n = draw.choice((2 * m - 1, 2 * m - 2)) if m > 1 else 1
    operand = dataclasses.replace(out.within(-64.0, 64.0), size=_with(out, axis, n))
    return Needs(operand, values=lambda x: Range(0, 3 * x.most * n), dim=draw.signed_axis(axis, out.rank))
