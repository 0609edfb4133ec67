"""A real Fourier transform, a low-pass mask in the frequency domain, and the inverse."""

import torch


def program(signal, cut):
    spectrum = torch.fft.rfft(signal, dim=-1)
    frequency = torch.arange(spectrum.shape[-1], device=signal.device)
    kept = spectrum * (frequency < cut)
    power = (kept * kept.conj()).real / signal.shape[-1]
    smooth = torch.fft.irfft(kept, n=signal.shape[-1], dim=-1)
    noise = signal - smooth
    return smooth, power.sum(dim=-1), noise.square().mean(-1), torch.complex(smooth, noise) * 1j


def inputs(rng):
    yield rng.normal(4, 64), 9
    yield rng.normal(2, 64), 20
