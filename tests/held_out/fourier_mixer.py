"""Spectral convolution and token mixing in the frequency domain (TorchFuzz layout, written by a person)."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)


def spectral_conv1d(x, weights, modes):
    """x: (batch, in_channel, x), weights: complex (in_channel, out_channel, modes)"""
    batchsize = x.shape[0]
    x_ft = torch.fft.rfft(x, dim=-1)
    out_ft = torch.zeros(batchsize, weights.shape[1], x.size(-1) // 2 + 1, device=x.device, dtype=torch.cfloat)
    out_ft[:, :, :modes] = torch.einsum("bix,iox->box", x_ft[:, :, :modes], weights)
    return torch.fft.irfft(out_ft, n=x.size(-1))


def fnet_block(x, ln_weight, ln_bias):
    residual = x
    x = torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real
    return F.layer_norm(x + residual, x.shape[-1:], weight=ln_weight, bias=ln_bias, eps=1e-12)


def power_spectrum(x, window):
    frames = x.unfold(-1, window.numel(), window.numel() // 2)
    spec = torch.fft.rfft(frames * window, norm="ortho")
    power = spec.real ** 2 + spec.imag ** 2
    magnitude, phase = spec.abs(), torch.angle(spec + 1e-3)
    db = 10.0 * torch.log10(torch.clamp(power, min=1e-10))
    db = torch.max(db, db.max() - 80.0)
    return magnitude * torch.cos(phase), db


def cross_correlation(a, b):
    n = a.shape[-1] + b.shape[-1] - 1
    fa, fb = torch.fft.rfft(a, n=n), torch.fft.rfft(b, n=n)
    full = torch.fft.irfft(fa * torch.conj(fb), n=n)
    return torch.roll(full, shifts=b.shape[-1] - 1, dims=-1)


def fuzzed_program(signal, weights, window, gamma, beta, sentinel):
    channels = spectral_conv1d(signal, weights, modes=weights.size(-1))
    channels = F.gelu(channels) + signal.mean(dim=1, keepdim=True)
    mixed = fnet_block(channels, gamma, beta)
    mag, db = power_spectrum(mixed, window)
    corr = cross_correlation(mixed[:, 0], mixed[:, -1])
    peak = corr.abs().argmax(dim=-1, keepdim=True)
    shifted = torch.stack([torch.roll(m, int(p)) for m, p in zip(mixed, peak)])
    energy = torch.linalg.vector_norm(shifted, dim=(-2, -1))
    return mixed * sentinel, mag.flatten(2), db.mean(-1), corr.gather(-1, peak), energy


sentinel = torch.tensor(1.0, requires_grad=True)
signal = torch.randn(2, 3, 16)
scale = 1 / (3 * 4)
weights = scale * torch.view_as_complex(torch.rand(3, 4, 5, 2))
window = torch.hann_window(8, periodic=False)
gamma = torch.ones(16) * 1.1
beta = torch.full((16,), -0.2)
args = (signal, weights, window, gamma, beta)

if __name__ == "__main__":
    print([o.shape for o in fuzzed_program(*args, sentinel)])
