"""Complex admittances of parallel circuits: quotients, conjugates, angles and a complex matrix product."""

import torch


def program(voltage, impedance, mix):
    admittance = 1 / impedance
    total = admittance.sum(dim=-1, keepdim=True)
    current = voltage * total
    shared = current * admittance / total
    power = shared * shared.conj() * impedance.real
    mixed = torch.stack([shared.real, shared.imag], dim=-1) @ mix
    return current, power.real.mean(dim=0), torch.view_as_complex(mixed), torch.abs(total) ** 2 - 1j * total


def inputs(rng):
    mix = rng.normal(2, 2)
    yield rng.normal(7, 1, dtype=torch.complex64), rng.normal(7, 5, dtype=torch.complex64) + 4, mix
