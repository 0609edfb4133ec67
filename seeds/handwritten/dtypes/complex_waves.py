"""Waves from amplitude and phase, their interference and their spectra, taken apart into real numbers."""

import torch


def program(amplitude, phase, other):
    wave = torch.polar(amplitude, phase)
    both = wave + other
    gap = wave - other
    turned = torch.angle(both) / 2
    spectrum = torch.fft.fft(gap * wave.conj() + torch.conj_physical(other))
    power = torch.real(spectrum) ** 2 + torch.imag(spectrum) ** 2
    half = torch.fft.rfft(amplitude)
    return both, turned, power.mean(dim=-1), half.real + half.imag, torch.abs(gap)


def inputs(rng):
    yield (
        rng.uniform(3, 12, low=0.5, high=2.0),
        rng.uniform(3, 12, low=-3, high=3),
        rng.normal(3, 12, dtype=torch.complex64),
    )
