"""Schemas, overloads and parameters of operators."""

import inspect

import torch

from eqfuzz.torch_internals.operators import cast, overload_name, overloads_of, schema_of, undispatched


def test_overloads_are_listed_with_schemas_and_tags():
    overloads = {name: (schema, tags) for name, schema, tags in overloads_of("bernoulli")}
    schema, tags = overloads["bernoulli.p"]
    assert [(a.name, str(a.type), a.kwarg_only) for a in schema.arguments][:2] == [
        ("self", "Tensor", False),
        ("p", "float", False),
    ]
    assert torch.Tag.nondeterministic_seeded in tags
    assert [a.name for a in overloads["bernoulli.out"][0].arguments if a.is_out] == ["out"]
    assert overloads_of("no_such_operator") == []
    assert overloads_of("__name__") == []


def test_function_dispatched_on_a_bool_is_resolved():
    def names(function):
        return list(inspect.signature(undispatched(function)).parameters)

    assert names(torch.nn.functional.max_pool2d)[:2] == ["input", "kernel_size"]
    assert undispatched(torch.nn.functional.relu) is torch.nn.functional.relu


def test_an_overload_has_a_schema_and_a_name():
    assert schema_of(torch.ops.aten.add_.Tensor).name == "aten::add_"
    assert [schema_of(op).is_mutable for op in (torch.ops.aten.add_.Tensor, torch.ops.aten.add.Tensor)] == [True, False]
    assert [overload_name(op) for op in (torch.ops.aten.add.Tensor, torch.ops.aten.sin.default)] == [
        "Tensor",
        "default",
    ]


def test_a_cast_copies():
    x = torch.ones(2)
    assert cast(x, torch.float32) is not x
    assert cast(x, torch.float16).dtype is torch.float16
