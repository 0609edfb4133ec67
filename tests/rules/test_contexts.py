"""Rules that put a statement into a context: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest
import torch

from tests.rules.rewriting import X, Y, misses_in, reasons_in, variants_of

ANY = """try_finally try_except_raise inside_a_handler in_the_else_of_a_try null_context value_through_null_context
exit_stack own_context_class own_context_generator suppressed_exception carried_by_an_exception
gradient_mode_as_it_is autocast_off profiler_range saved_tensors_kept""".split()


@pytest.mark.parametrize("rule", ANY)
def test_rule_fires_in_loops_branches_and_multi_line_statements(rule: str) -> None:
    texts = variants_of(
        """
        def program(x, y):
            parts = {}
            for k in range(3):
                if k == 1:
                    parts[k] = torch.add(
                        x,  # first
                        y,
                    )
                    continue
                x = x * 2  # twice
            return torch.stack(list(parts.values())) + x
        """,
        f"contexts/{rule}",
    )
    assert len(texts) >= 3


@pytest.mark.parametrize("rule", [*ANY, "in_the_finally_of_a_try", "with_gradients", "without_gradients"])
def test_yield_is_not_moved_into_a_context(rule: str) -> None:
    source = """
    def program(x, y):
        def rows():
            z = torch.add((yield x), 1)
            yield z

        made = rows()
        return next(made), made.send(y)
    """
    assert "awaits" in misses_in(source, f"contexts/{rule}")


@pytest.mark.parametrize("rule", ANY)
def test_strings_over_several_lines_keep_their_indentation(rule: str) -> None:
    source = 'def program(x, y):\n    z = torch.einsum("""ij\n    ,ij->i""".replace("\\n", ""), x, y)\n    return z\n'
    assert "several lines" in reasons_in(source, f"contexts/{rule}")


def test_gradients_that_are_needed_are_kept() -> None:
    source = "def program(x, y):\n    z = x * 2\n    return z\n"
    reasons = reasons_in(source, "contexts/without_gradients", X.clone().requires_grad_(), Y)
    assert "needs a gradient" in reasons
    assert len(variants_of(source, "contexts/without_gradients")) == 2


def test_a_view_that_is_written_to_is_not_made_without_gradients() -> None:
    source = "def program(x, y):\n    x = x.clone()\n    v = x.view(-1)\n    v.mul_(y.sum())\n    return x\n"
    reasons = misses_in(source, "contexts/without_gradients", X, Y.clone().requires_grad_())
    assert "changed later" in reasons


def test_disabled_gradients_stay_disabled() -> None:
    source = "def program(x, y):\n    with torch.no_grad():\n        z = x * 2\n    return z\n"
    assert "gradients are disabled" in reasons_in(source, "contexts/with_gradients", X.clone().requires_grad_(), Y)
    assert variants_of(source, "contexts/with_gradients", X, Y)


def test_user_functions_that_read_the_gradient_mode_are_respected() -> None:
    source = """
    def mode(x):
        return x * int(torch.is_grad_enabled())

    def program(x, y):
        z = mode(x)
        return z
    """
    for rule in ("with_gradients", "without_gradients"):
        assert "side effects" in misses_in(source, f"contexts/{rule}")


def test_programs_with_autocast_are_not_rewritten() -> None:
    source = """
    def program(x, y):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = x @ y.t()
        return z
    """
    assert "uses autocast" in reasons_in(source, "contexts/autocast_off")


def test_the_exception_being_handled_is_not_hidden() -> None:
    source = """
    import sys

    def program(x, y):
        z = x + y
        return z, sys.exc_info()[0]
    """
    for rule in ("inside_a_handler", "carried_by_an_exception"):
        assert "being handled" in reasons_in(source, f"contexts/{rule}")


def test_exceptions_propagate_unchanged() -> None:
    source = "def program(x, y):\n    z = x[:1]\n    return z + torch.ones(7)\n"
    for rule in ANY:
        assert variants_of(source, f"contexts/{rule}", torch.ones(2, 7), Y)


def test_programs_with_vmap_keep_their_contexts() -> None:
    source = "def program(x, y):\n    z = torch.vmap(torch.sin)(x)\n    z = z * y\n    return z\n"
    for rule in ("exit_stack", "saved_tensors_kept"):
        assert "vmap" in reasons_in(source, f"contexts/{rule}") or rule == "exit_stack"


def test_stop_iteration_is_not_swallowed() -> None:
    source = "def program(x, y):\n    z = next(iter(x)) + y\n    return z\n"
    assert "StopIteration" in reasons_in(source, "contexts/own_context_generator")


def test_augmented_targets_are_read_first() -> None:
    source = "def program(x, y):\n    z = x.clone()\n    z += torch.sin(z)\n    return z * y\n"
    for rule in ("value_through_null_context", "carried_by_an_exception"):
        assert "read before" in misses_in(source, f"contexts/{rule}")
