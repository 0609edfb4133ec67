"""Compiled code that stops between the compiler's passes. Nothing is lowered to code here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from eqfuzz.torch_internals.contract import BORDERS, lacks
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.graph_borders import END, Border, GraphBorders, Part
from eqfuzz.torch_internals.inductor import decomposed_in, without_decompositions

pytestmark = pytest.mark.skipif(any(map(lacks, BORDERS)), reason="this torch lacks what borders need")


def trained(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    z = (x * 1.0 + 0).permute(1, 0).permute(1, 0) @ y
    return torch.softmax(z * 2.0, -1), z.sum(), torch.nn.functional.gelu(z)


def broken(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    z = x @ y
    torch._dynamo.graph_break()
    return (z.roll(1), z.std())


def mutating(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y.add_(1)
    return (x @ y, y[0])


def branching(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (torch.cond(x.sum() > 0, lambda a: a.sin() * 1, lambda a: a.cos() * 1, (x,)) @ y,)


def observed(program: Callable[..., Any], *, training: bool) -> list[torch.Tensor]:
    """Results, arguments afterwards and gradients."""
    generator = torch.Generator().manual_seed(0)
    leaf = torch.randn(4, 5, generator=generator).requires_grad_(training)
    other = torch.randn(5, 3, generator=generator)
    results: Sequence[torch.Tensor] = program(leaf, other)
    scaled = [(torch.arange(1.0, 1 + one.numel()).reshape(one.shape) * one).sum() for one in results]
    gradients = torch.autograd.grad(sum(scaled), [leaf]) if training else ()  # type: ignore[arg-type]
    return [one.detach().clone() for one in (*results, leaf, other, *gradients)]


@pytest.mark.parametrize("program", [trained, broken, mutating, branching])
@pytest.mark.parametrize("training", [True, False], ids=["training", "inference"])
def test_program_gives_what_eager_gives_at_every_border(program: Callable[..., Any], training: bool):
    forget_compiled_code()
    expected = observed(program, training=training)
    borders = GraphBorders(code=False)
    with borders.compiling():
        compiled = torch.compile(program)
        torch.testing.assert_close(observed(compiled, training=training), expected)
        count = len(borders.histories)
        for number, history in enumerate(borders.histories):
            for part, graphs in history.graphs.items():
                for changes in (*range(len(graphs)), END):
                    borders.stops = {number: Border(part, changes)}
                    torch.testing.assert_close(observed(compiled, training=training), expected)
    assert len(borders.histories) == count == (2 if program is broken else 1)  # nothing was compiled again


def test_changes_are_named_by_their_passes():
    forget_compiled_code()
    borders = GraphBorders(code=False)
    with borders.compiling():
        observed(torch.compile(trained), training=True)
    (history,) = borders.histories
    assert [graph.after for graph in history.graphs[Part.JOINT]][:2] == ["", "remove_noop_ops"]
    assert set(history.graphs) == set(Part)
    assert history.outputs == 3


def test_decomposed_operators_are_seen_beside_control_flow():
    forget_compiled_code()
    data = torch.randn(4, 5), torch.randn(5, 3)
    operators = decomposed_in(lambda: (branching(*data), torch.nn.functional.celu(data[0])))
    assert torch.ops.aten.celu.default in operators
    with without_decompositions(operators):
        assert torch.ops.aten.celu.default not in decomposed_in(lambda: torch.nn.functional.celu(data[0]))
