"""Rules about modules: what they must leave alone, and that what they make runs."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.context.submodule import FunctionalForm
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.site import NearMiss, Site
from tests.rules.matching import assert_same, places_in

X = torch.linspace(-2.0, 3.0, 24).reshape(6, 4)
TABLES = {
    "modules": "LINEAR CONVOLUTIONS TRANSPOSED_CONVOLUTIONS NORMS EMBEDDINGS".split(),
    "plain-modules": "ACTIVATIONS SOFTMAXES DROPOUTS POOLINGS REARRANGEMENTS LOSSES".split(),
}


def model(modules: str, forward: str, *, extra: str = "") -> str:
    """The text of a class Model with these statements in its ``__init__`` and ``forward(self, x)``."""
    return (
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"{textwrap.indent(textwrap.dedent(modules).strip(), ' ' * 8)}\n\n    def forward(self, x):\n"
        f"{textwrap.indent(textwrap.dedent(forward).strip(), ' ' * 8)}\n"
        f"{textwrap.indent(textwrap.dedent(extra), ' ' * 4)}"
    )


def found_in(source: str, rules: str, x: torch.Tensor = X) -> tuple[Program, list[Site | NearMiss]]:
    program = Program("test", source, SeedFormat.EQFUZZ, "Model", "Model()", "None")
    return program, places_in(program, rules, x)


def variants(source: str, rules: str, x: torch.Tensor = X) -> list[str]:
    """The text of every one-site variant; each is run twice and must give what the source gives."""
    program, places = found_in(source, rules, x)
    texts = []
    for site in places:
        if isinstance(site, Site):
            variant = apply(original(program), [site]).program
            assert_same(two_calls(variant, x), two_calls(program, x))
            texts.append(variant.source)
    return texts


def two_calls(program: Program, x: torch.Tensor) -> list[Any]:
    instance = Loaded(program).instance()
    return [instance(x.clone()), instance(x.clone())]


def refused(source: str, rules: str, x: torch.Tensor = X) -> str:
    """Why nothing is made of the source; fails when something is."""
    _, places = found_in(source, rules, x)
    assert not [f for f in places if isinstance(f, Site)]
    return "; ".join(f.reason for f in places if isinstance(f, NearMiss))


@pytest.mark.parametrize(("family", "table"), [(f, t) for f, tables in TABLES.items() for t in tables])
def test_tables_name_modules_and_functions_that_torch_has(family: str, table: str) -> None:
    (rule, *_) = select(shipped_rules(), family)
    forms: dict[str, FunctionalForm] = rule.function.__globals__[table]
    for kind, form in forms.items():
        assert issubclass(getattr(torch.nn, kind), torch.nn.Module)
        assert callable(getattr(F, form.function))


def test_every_kind_of_module_becomes_its_function() -> None:
    modules = {
        "nn.Conv1d(4, 2, 3)": "x.t()[None]",
        "nn.ConvTranspose1d(4, 2, 3, stride=2)": "x.t()[None]",
        "nn.LocalResponseNorm(2)": "x[None]",
        "nn.Hardtanh(-1.0, 0.5)": "x.clone()",
        "nn.CELU(0.5)": "x",
        "nn.GLU(0)": "x",
        "nn.Softmin(1)": "x",
        "nn.Dropout(0.3)": "x",
        "nn.FeatureAlphaDropout(0.3)": "x[None]",
        "nn.LPPool1d(2, 3)": "x[None]",
        "nn.AvgPool2d(2, divisor_override=3)": "x[None]",
        "nn.AdaptiveMaxPool1d(2)": "x[None]",
        "nn.ChannelShuffle(2)": "x.t()[None]",
        "nn.ZeroPad1d(2)": "x[None]",
        "nn.CircularPad1d((1, 2))": "x[None]",
        "nn.ReplicationPad1d((0, 2))": "x[None]",
    }
    for construction, argument in modules.items():
        source = model(f"self.unit = {construction}", f"return self.unit({argument}) * 2")
        texts = variants(source, "modules/*,plain-modules/*")
        assert any("F." in t.split("forward(self, x):")[1] for t in texts), construction


@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        ("self.fc.register_forward_hook(lambda module, given, result: result + 1)", "more than its forward"),
        ("self.fc.register_forward_pre_hook(lambda module, given: (given[0] + 1,))", "more than its forward"),
        ("torch.nn.utils.weight_norm(self.fc)", "more than its forward"),
        ("self.fc.forward = lambda x: x", "more than its forward"),
        ("torch.nn.utils.parametrizations.weight_norm(self.fc)", ""),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_modules_with_hooks_or_a_replaced_forward_are_left_alone(modules: str, reason: str) -> None:
    source = model(f"self.fc = nn.Linear(4, 4)\n{modules}", "return self.fc(x)")
    assert reason in refused(source, "modules/*,plain-modules/*,containers/*")


def test_a_subclass_of_a_module_is_another_module() -> None:
    source = "import torch\nfrom torch import nn\n\n\nclass Shifted(nn.Linear):\n    def forward(self, x):\n"
    source += "        return super().forward(x) + 1\n\n\n"
    source += model("self.fc = Shifted(4, 4)", "return self.fc(x)").split("\n\n\n", 1)[1]
    refused(source, "modules/*,plain-modules/*,containers/*")


@pytest.mark.parametrize(
    ("forward", "extra"),
    [
        ("y = self.fc(x)\nself.fc = nn.Linear(4, 4)\nreturn y", ""),
        (
            "return self.fc(self.changed(x))",
            "def changed(self, x):\n    self.fc, old = self.fc, self.fc\n    return x\n",
        ),
        ("return self.fc(x)", "def __setup(self):\n    setattr(self, 'fc', nn.Identity())\n"),
        ("return self.fc(x)", "def __getattr__(self, name):\n    return super().__getattr__(name)\n"),
    ],
)
def test_attributes_that_change_are_left_alone(forward: str, extra: str) -> None:
    source = model("self.fc = nn.Linear(4, 4)", forward, extra=extra)
    assert "the code under test" in refused(
        source, "modules/*,plain-modules/*,containers/*"
    ) or "attributes may change" in refused(source, "modules/*,plain-modules/*,containers/*")


def test_module_returned_by_a_property_is_left_alone() -> None:
    source = model("pass", "return self.fc(x)", extra="\n@property\ndef fc(self):\n    return nn.Linear(4, 4)\n")
    assert "computed" in refused(source, "modules/*,plain-modules/*,containers/*")


@pytest.mark.parametrize(
    ("construction", "argument", "rule", "reason"),
    [
        ("nn.Conv1d(4, 2, 3, padding_mode='reflect', padding=1)", "x.t()[None]", "convolution_functional", "reflect"),
        ("nn.Conv1d(4, 2, 3)", "x.t()[None]", "padded_convolution_functional", "pads by zeros"),
        ("nn.BatchNorm1d(4)", "x", "batch_norm_with_fixed_statistics", "updates its running statistics"),
        (
            "nn.BatchNorm1d(4).eval()",
            "x",
            "batch_norm_with_running_statistics",
            "does not update its running statistics",
        ),
        ("nn.Linear(4, 4)", "input=x", "linear_functional", "positional"),
        ("nn.Linear(4, 4)", "*(x,)", "linear_functional", "positional"),
        ("nn.Linear(4, 4)", "x[:1]", "linear_of_two_halves", "halved"),
        ("nn.Linear(4, 4)", "x.add_(1)", "linear_of_two_halves", "side effects"),
        ("nn.Linear(4, 1)", "x", "linear_of_split_weight", "one output"),
        ("nn.InstanceNorm1d(6)", "x", "instance_norm_functional", "no batch"),
    ],
)
def test_refused_module_has_its_reason(construction: str, argument: str, rule: str, reason: str) -> None:
    source = model(f"self.unit = {construction}", f"return self.unit({argument})")
    assert reason in refused(source, f"modules/{rule}", X.clone())


def test_expression_for_two_modules_is_rewritten_only_if_both_have_one_configuration() -> None:
    source = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.norm = nn.BatchNorm1d(4).train(p)

    def forward(self, x):
        return self.norm(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(True), Block(False)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""
    assert "not configured alike" in refused(source, "modules/batch_norm*")


def test_weight_and_bias_of_two_modules_do_not_become_one_module() -> None:
    modules = "self.a = nn.Linear(4, 4)\nself.b = nn.Linear(4, 4)"
    assert "not those of one Linear" in refused(
        model(modules, "return F.linear(x, self.a.weight, self.b.bias)"), "modules/linear_module"
    )
    (text,) = variants(model(modules, "return F.linear(x, self.a.weight, self.a.bias)"), "modules/linear_module")
    assert "return self.a(x)" in text


def test_running_statistics_count_every_batch() -> None:
    forward = "x = self.norm(self.norm(x))\nreturn x, self.norm.num_batches_tracked + 0, self.norm.running_var * 1"
    for momentum in ("0.2", "None"):
        source = model(f"self.norm = nn.BatchNorm1d(4, momentum={momentum})", forward)
        assert len(variants(source, "modules/batch_norm_with_running_statistics")) == 2


def test_a_module_that_occurs_twice_is_called_twice() -> None:
    modules = "act = nn.Softplus()\nself.net = nn.Sequential(act, nn.Linear(4, 4), act)\n"
    modules += "self.layers = nn.ModuleList([act, nn.Linear(4, 4), act])"
    assert len(variants(model(modules, "return self.net(x)"), "containers/sequential*")) >= 6
    loop = "for layer in self.layers:\n    x = layer(x)\nreturn x, layer(x)"
    assert len(variants(model(modules, loop), "containers/modules_*")) == 5


def test_an_empty_sequential_is_left_alone() -> None:
    refused(model("self.net = nn.Sequential()", "return self.net(x)"), "containers/sequential*")


def test_hooks_of_children_still_run() -> None:
    modules = "self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())\n"
    modules += "self.net[0].register_forward_hook(lambda module, given, result: result + 1)"
    assert len(variants(model(modules, "return self.net(x)"), "containers/sequential*")) >= 5


def test_loops_that_end_early_are_not_unrolled() -> None:
    modules = "self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.ReLU()])"
    for body in ("break", "continue"):
        loop = (
            f"for layer in self.layers:\n    x = layer(x)\n    if x.sum() > 1:\n        {body}\n    x = x + 1\nreturn x"
        )
        assert "before its last iteration" in refused(model(modules, loop), "containers/modules_unrolled")
        assert len(variants(model(modules, loop), "containers/modules_by_index,containers/modules_numbered")) == 4
    inner = "    for k in range(3):\n        if k:\n            break\n"
    loop = f"for layer in self.layers:\n{inner}    x = layer(x)\nreturn x, k"
    assert len(variants(model(modules, loop), "containers/modules_unrolled")) == 1
    loop = "for layer in self.layers:\n    x = layer(x)\nelse:\n    x = x + 1\nreturn x"
    refused(model(modules, loop), "containers/modules_unrolled")
    assert len(variants(model(modules, loop), "containers/modules_by_index")) == 1


def test_conditional_expressions_are_not_hoisted() -> None:
    modules = "self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())"
    for forward in ("return self.net(x) if x.sum() > 0 else x", "return [self.net(r) for r in x]"):
        assert "it is evaluated" in refused(model(modules, forward), "containers/sequential_by_loop")


def test_private_names_are_not_passed_as_strings() -> None:
    assert "private" in refused(
        model("self.__fc = nn.Linear(4, 4)", "return self.__fc(x)"), "containers/called_by_name"
    )


def test_a_list_that_grows_is_left_alone() -> None:
    forward = "for layer in self.layers:\n    x = layer(x)\nself.layers.append(nn.ReLU())\nreturn x"
    assert "stored" in refused(model("self.layers = nn.ModuleList([nn.Tanh()])", forward), "containers/*")


@pytest.mark.parametrize(
    "call", ["F.relu(x, inplace=True)", "F.layer_norm(x, (4,), self.w)", "F.gelu(x, approximate=self.how)", "x.sum(0)"]
)
def test_calls_with_arguments_that_no_module_takes_are_left_alone(call: str) -> None:
    source = model("self.w = nn.Parameter(torch.ones(4))\nself.how = 'tanh'", f"x = x.clone()\nreturn {call}")
    refused(source, "fresh-modules/*,-fresh-modules/identity")


def test_identity_module_is_not_put_around_operands_of_is() -> None:
    source = model("pass", "y = x.clone()\ny.add_(1)\nreturn y is x")
    _, places = found_in(source, "fresh-modules/identity")
    assert {f.before for f in places if isinstance(f, Site)} == {"x", "x.clone()", "y.add_(1)"}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_softmax_that_chooses_its_dimension_is_left_alone() -> None:
    source = model("self.share = nn.Softmax()", "return self.share(x)")
    assert "chooses the dimension" in refused(source, "plain-modules/softmax_functional")


def test_sequential_that_is_called_at_once_is_inlined_unless_it_holds_new_parameters() -> None:
    rule, modules = "containers/sequential_on_the_spot", "self.fc = nn.Linear(4, 4)"
    (text,) = variants(model(modules, "return nn.Sequential(self.fc, nn.ReLU())(x)"), rule)
    assert "nn.ReLU()(self.fc(x))" in text
    for arguments in ("nn.Linear(4, 4), nn.ReLU()", "*[self.fc]", "self.fc if x is None else nn.ReLU(), nn.ReLU()"):
        assert refused(model(modules, f"return nn.Sequential({arguments})(x)"), rule)
