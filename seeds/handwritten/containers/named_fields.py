"""A named tuple that goes through a function, is replaced field by field and returned."""

from typing import NamedTuple

import torch


class State(NamedTuple):
    position: torch.Tensor
    velocity: torch.Tensor
    time: float


def advance(state, force, dt):
    velocity = state.velocity + force(state.position) * dt
    return State(state.position + velocity * dt, velocity, state.time + dt)


def program(position, velocity):
    state = State(position, velocity, 0.0)
    for _ in range(4):
        state = advance(state, lambda p: -p - 0.5 * p**3, 0.125)
    energy = 0.5 * (state.velocity**2).sum() + 0.5 * (state.position**2).sum()
    return state._replace(position=torch.tanh(state.position)), energy


def inputs(rng):
    yield rng.normal(30, 3, requires_grad=True), rng.normal(30, 3)
