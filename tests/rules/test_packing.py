"""Rules that pass operands through containers: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest
import torch

from tests.rules.rewriting import misses_in, reasons_in, variants_of

BEFORE = """
    operands_to_tuple operands_to_unpacked_tuple operands_to_starred_target operands_to_swapped_variables
    operands_to_dict operands_to_dict_comprehension operands_to_sorted_dict operands_to_dataclass
    operands_to_named_tuple operands_to_namespace operands_to_attributes operands_to_slots operands_to_deque
    operands_to_popped_list operands_to_iterator operands_to_reversed_pair operands_to_chained_iterables
""".split()
IN_PLACE = "operation_to_property operands_to_wrapper_objects operation_to_reduce operation_to_map".split()


@pytest.mark.parametrize("rule", [*BEFORE, *IN_PLACE])
def test_rule_fires_on_every_operator_with_impure_operands(rule: str) -> None:
    texts = variants_of(
        """
        def program(x, y):
            x = x.clone()
            z = x.add_(1) - x.mul_(2) * y
            z = (x + x.add_(1)) @ y.t() ** 2
            if (x > y).any() | (x < 3).all():
                z = 2 - z
            elif (y - x).sum() < 0: z = 0 / z
            return z // 3, x
        """,
        f"packing/{rule}",
    )
    assert len(texts) >= 6


@pytest.mark.parametrize("rule", BEFORE)
def test_order_of_evaluation_is_kept(rule: str) -> None:
    source = "def program(x, y):\n    z = x.clone()\n    return [z.add_(1), z - y]\n"
    assert "evaluated before it" in reasons_in(source, f"packing/{rule}")


@pytest.mark.parametrize("rule", BEFORE)
def test_conditionally_evaluated_code_is_not_hoisted(rule: str) -> None:
    source = """
    def program(x, y):
        pick = lambda t: t * 2
        z = x - torch.ones(7) if x.ndim > 5 else x
        while z.sum() - 8 < 0:
            z = F.relu(z + 1)
        return pick(z), [t + 1 for t in z]
    """
    misses = misses_in(source, f"packing/{rule}")
    assert "more than once" in misses or "scope of its own" in misses


@pytest.mark.parametrize("rule", [*BEFORE, *IN_PLACE])
def test_operands_that_bind_a_name_are_not_packed(rule: str) -> None:
    source = "def program(x, y):\n    return (t := x) - t\n"
    assert "binds a name" in reasons_in(source, f"packing/{rule}")


@pytest.mark.parametrize("rule", BEFORE)
def test_a_call_that_changes_a_variable_is_not_moved(rule: str) -> None:
    source = """
    def program(x, y):
        def step():
            nonlocal x
            x = x * 2
            return y

        return x + (step() + y)
    """
    assert "may change variables" in misses_in(source, f"packing/{rule}")


@pytest.mark.parametrize("rule", [*BEFORE, *IN_PLACE])
def test_operations_on_numbers_are_not_packed(rule: str) -> None:
    source = "def program(x, y):\n    n = len(x) - 1\n    return n\n"
    assert "not a tensor" in reasons_in(source, f"packing/{rule}")


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("operands_to_dict", "dict"),
        ("operands_to_sorted_dict", "sorted"),
        ("operands_to_attributes", "setattr"),
        ("operands_to_iterator", "iter"),
        ("operands_to_reversed_pair", "reversed"),
        ("operation_to_map", "zip"),
        ("operands_to_chained_iterables", "list"),
        ("operation_to_reduce", "functools"),
        ("operands_to_deque", "collections"),
    ],
)
def test_rule_is_refused_where_the_program_rebinds_the_name_it_would_write(rule: str, name: str) -> None:
    source = f"def program(x, y):\n    {name} = 3\n    return x - y * {name}\n"
    assert f"the name {name} means something else" in misses_in(source, f"packing/{rule}")


def test_second_statement_of_a_line_is_not_packed() -> None:
    source = "def program(x, y):\n    x = x.clone()\n    x.add_(1); z = x - y\n    return z\n"
    assert "on the line" in reasons_in(source, "packing/operands_to_tuple")


def test_programs_with_vmap_are_not_packed() -> None:
    source = "def program(x, y):\n    return torch.vmap(torch.sin)(x) - y\n"
    assert "vmap" in reasons_in(source, "packing/operands_to_namespace")


def test_wrapper_object_calls_the_method_of_the_outer_operator() -> None:
    texts = variants_of("def program(x, y):\n    return (x > 0) ^ (y > 0)\n", "packing/operands_to_wrapper_objects")
    assert "__xor__" in texts[0]


def test_a_dict_keeps_the_order_of_evaluation() -> None:
    source = "def program(x, y):\n    return torch.rand(2, 3) - torch.rand(2, 3) * x\n"
    texts = variants_of(source, "packing/operands_to_sorted_dict", torch.ones(2, 3), torch.ones(1))
    assert 'given1 = {"p": torch.rand(2, 3), "a": (torch.rand(2, 3) * x)}' in texts[0]
