"""Pools of seeds: named ones, and expressions over the structure of programs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eqfuzz.program.pools.selector import POOLS, BadSelector, Selector, select
from eqfuzz.program.pools.structure import ProgramStructure

NET = ProgramStructure(
    operators=(("convolution", 3), ("relu", 2)), kernels=((3, 3), (1, 1), (5, 7)), parameters=1000, layers=20
)


@pytest.mark.parametrize(
    ("text", "is_selected"),
    [
        ("kernels(3)", True),
        ("kernels(5)", False),
        ("kernels(5, or_larger=True) == 1", True),
        ("kernels(3, or_larger=True) == 2", True),
        ("count('relu') + count('softmax') == 2", True),
        ("count('softmax') or parameters > 999", True),
        ("not (parameters >= 1000 and layers < 20)", True),
        ("10 < layers <= 20", True),
        ("10 < layers < 20", False),
        ("parameters - 1000", False),
        ("layers * 50 != parameters", False),
    ],
)
def test_expression_is_computed_over_a_structure(text: str, is_selected: bool) -> None:
    assert Selector(text)(NET) is is_selected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernals(3)", "no 'kernals' in a structure, did you mean 'kernels'?"),
        ("layer > 3", "no 'layer' in a structure, did you mean 'layers'?"),
        ("layers >", "'layers >' is not valid Python"),
        ("layers = 3", "write one expression"),
        ("layers.real > 3", "'layers.real' cannot be computed"),
        ("__import__('os').system('ls')", "cannot be computed"),
        ("True and (1).real", "'1 .real' cannot be computed"),
        ("kernels(3, larger=True)", "kernels takes a size and or_larger=True"),
        ("count(layers)", "cannot be computed"),
        ("layers in (1, 2)", "cannot be computed"),
    ],
)
def test_other_expressions_have_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(BadSelector) as raised:
        Selector(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_pools_of_kernels_have_the_programs_with_them() -> None:
    one = {
        name: replace(NET, kernels=kernels) for name, kernels in (("1", ((1,),)), ("3", ((3, 3),)), ("7", ((7, 5),)))
    }
    structures = [*one.values(), replace(NET, kernels=())]
    assert [select(structures, POOLS[name]) for name in ("conv1x1", "conv3x3", "conv5x5")] == [[0], [1], [2]]


def test_small_and_big_are_thirds_by_weights_then_layers() -> None:
    structures = [replace(NET, parameters=p, layers=n) for p, n in ((5, 1), (0, 9), (0, 2), (7, 1), (5, 2))]
    assert select(structures, POOLS["small"]) == [1, 2]
    assert select(structures, POOLS["big"]) == [3, 4]
    assert select(structures, POOLS["basic"]) == [0, 1, 2, 3, 4]
    assert select([], POOLS["small"]) == []


def test_equal_programs_are_taken_in_order() -> None:
    assert select([NET] * 4, POOLS["small"]) == [0, 1]
    assert select([NET] * 4, POOLS["big"]) == [2, 3]
