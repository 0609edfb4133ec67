"""Rules that compute an expression inside a function: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import misses_in, reasons_in, variants_of

TAKING = """functions/outlined_function,functions/outlined_nested_function,functions/lambda_called_at_once,
functions/lambda_with_defaults,functions/decorated_function,functions/variadic_function,functions/keyword_function,
functions/mutable_default,functions/local_class,functions/class_method,functions/callable_object,
functions/module_made_before,functions/module_made_in_place,functions/computed_by_finally,
functions/outlined_closure""".replace("\n", "")


def test_outlined_function_has_the_variables_it_reads_as_parameters() -> None:
    source = "def program(x, y):\n    return x + y * 2\n"
    whole, part = variants_of(source, "functions/outlined_function")
    assert "def part1(x, y):\n    return x + y * 2\n" in whole
    assert "return part1(x, y)" in whole
    assert "def part1(y):\n    return y * 2\n" in part
    assert "return x + part1(y)" in part


@pytest.mark.parametrize("rule", TAKING.split(","))
def test_rule_fires_in_methods_loops_comprehensions_and_multi_line_calls(rule: str) -> None:
    texts = variants_of(
        """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(3, 3)

            def forward(self, x, y):
                total = [self.fc(t * 2) for t in x]
                for k in range(3):
                    if k % 2:
                        x = torch.add(
                            x,  # the first
                            y,
                        ) * k
                    elif (x + k).sum() > 3: x = x - 1
                return x, total, F.relu(y)
        """,
        rule,
    )
    assert len(texts) >= 5


@pytest.mark.parametrize("rule", TAKING.split(","))
def test_variable_that_a_call_changes_is_not_passed_before_the_call(rule: str) -> None:
    source = """
    def program(x, y):
        def step():
            nonlocal x
            x = x * 2
            return y

        return step() + x
    """
    assert "change x in between" in misses_in(source, rule)


@pytest.mark.parametrize("rule", TAKING.split(","))
@pytest.mark.parametrize(
    "line", ["(t := x) + t", "sum((v for v in x), y)", "(lambda: x)() + y"], ids=["walrus", "late", "lambda"]
)
def test_expressions_that_bind_names_or_read_late_are_not_outlined(rule: str, line: str) -> None:
    assert "binds a name" in misses_in(f"def program(x, y):\n    r = {line}\n    return r\n", rule)


@pytest.mark.parametrize("rule", TAKING.split(","))
def test_private_names_and_super_are_not_moved_out_of_their_class(rule: str) -> None:
    reasons = reasons_in(
        """
        class Base(torch.nn.Module):
            def forward(self, x):
                return x

        class Model(Base):
            __scale = 2.0

            def forward(self, x, y):
                return super().forward(x) * self.__scale
        """,
        rule,
    )
    assert "means something else in another function" in reasons


@pytest.mark.parametrize("rule", TAKING.split(","))
def test_a_variable_without_value_is_not_read(rule: str) -> None:
    source = """
    def program(x, y):
        if x.ndim > 5:
            z = y
        return torch.add(x, y if x.ndim < 5 else z)
    """
    assert "z may have no value yet" in reasons_in(source, rule)
    bound = source.replace("        if", "        z = x\n        if")
    assert variants_of(bound, rule)


def test_programs_that_inspect_frames_are_not_rewritten() -> None:
    source = "def program(x, y):\n    t = x + y\n    return t, sorted(locals())\n"
    assert "locals" in reasons_in(source, TAKING)


def test_a_closure_does_not_see_comprehension_variables() -> None:
    reasons = reasons_in("def program(x, y):\n    return [t * 2 for t in x]\n", "functions/outlined_closure")
    assert "inside another scope" in reasons


def test_nonlocal_store_is_followed_by_the_original_assignment() -> None:
    (text,) = variants_of(
        "def program(x, y):\n    r = {}\n    r['a'] = x + y\n    return r\n", "functions/stored_through_nonlocal"
    )
    assert "nonlocal result1" in text
    assert "r['a'] = result1" in text
    assert "neither" in reasons_in("def program(x, y):\n    r = x\n    return r\n", "functions/stored_through_nonlocal")


def test_a_generator_does_not_hide_the_end_of_an_iterator() -> None:
    source = """
    def program(x, y):
        rows = iter(x)
        try:
            while True:
                y = next(rows) + y
        except StopIteration:
            return y
    """
    assert "side effects" in misses_in(source, "functions/first_of_a_generator,functions/delegated_generator")


def test_generator_is_not_hoisted_over_side_effects() -> None:
    source = "def program(x, y):\n    z = x.clone()\n    return z.add_(1), z * 2\n"
    assert "evaluated before it" in misses_in(source, "functions/delegated_generator")


def test_only_tensor_expressions_become_classes() -> None:
    source = "def program(x, y):\n    n = len(x) + 1\n    return n\n"
    reasons = reasons_in(source, "functions/method_of_a_class,functions/closure_factory")
    assert "not a tensor" in reasons
    assert "fewer than 2" in reasons_in(
        "def program(x, y):\n    return x * 2\n", "functions/method_of_a_class,functions/closure_factory"
    )


def test_no_module_is_added_to_programs_with_global_module_hooks() -> None:
    source = """
    def program(x, y):
        seen = []
        handle = torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: seen.append(m))
        z = x + y
        handle.remove()
        return z, len(seen)
    """
    assert "hook" in misses_in(source, "functions/module_made_before,functions/module_made_in_place")


def test_graphs_that_torch_traces_as_a_whole_are_not_broken() -> None:
    source = "def program(x, y):\n    return torch.vmap(torch.sin)(x) + y\n"
    assert "vmap" in misses_in(source, "functions/local_class")


def test_identity_is_a_function_or_a_lambda_and_shadowed_builtins_are_refused() -> None:
    (first, second) = variants_of("def program(x, y):\n    return x + y\n", "functions/passed_through_identity")
    assert "return same1(x + y)" in first
    assert "(lambda value: value)(x + y)" in second
    source = "def program(x, y):\n    next = list = 1\n    return x + y * next\n"
    assert "means something else" in reasons_in(source, "functions/first_of_a_generator")


def test_module_eval_is_not_mistaken_for_builtin_eval() -> None:
    source = """
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout().eval()

        def forward(self, x, y):
            return self.drop(x) + y
    """
    assert variants_of(source, TAKING)


def test_a_class_inside_the_function_keeps_its_name() -> None:
    source = "def program(x, y):\n    class Box:\n        k = 2\n\n    return x * Box.k, Box.__name__\n"
    assert variants_of(source, TAKING)
