"""Forms of operands that defects of compilers need: edges of domains, views, other dtypes, regions, and state."""

import ast
import itertools
import random
import re

import pytest
import torch

from eqfuzz.generate.dag.build import Builder
from eqfuzz.generate.dag.catalogue.operator import operators
from eqfuzz.generate.dag.flow import STRUCTURES
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.leaves import new_leaf
from eqfuzz.generate.dag.operators.math.promotion import promoted
from eqfuzz.generate.dag.operators.reductions.order_of_views import draw_view
from eqfuzz.generate.dag.template import shipped_templates
from eqfuzz.generate.dag.values.clamping import clamp
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import REAL, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.view_writes import draw_part
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from tools.fault_detection.generated import eager_error

TEMPLATES = shipped_templates()
FAMILIES = (
    "edges",
    "order of views",
    "empty and scalar",
    "promotion",
    "view writes",
    "autocast",
    "transforms",
    "remembered state",
)
EVERY = {**operators(), **STRUCTURES}


def generator_of(template, *families):
    names = [name for name, one in EVERY.items() if one.family in families]
    return ProgramGenerator(TEMPLATES[template], only=[*names, "torch.add"])


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_of_every_family_of_forms_run(family):
    generator = generator_of("default", family)
    for seed in range(25):
        source = generator.generate(seed).source
        assert not eager_error(source), f"{source}\n{eager_error(source)}"


def test_every_family_of_forms_is_drawn_by_the_default_template():
    generator = ProgramGenerator(TEMPLATES["default"])
    used = {name for seed in range(300) for name in generator.generate(seed).operators}
    assert {EVERY[name].family for name in used if name in EVERY} >= set(FAMILIES)


# Values of inputs


def test_inputs_are_drawn_from_the_values_that_a_spec_names():
    draw = Draw(random.Random(0))
    edges = (-1.0, -0.0, 0.5, float("inf"))
    spec = Spec((3, 4), "float32", among=edges)
    for _ in range(30):
        leaf = new_leaf(draw, TEMPLATES["default"], [], spec, holds=True, trains=False)
        assert leaf.kind == "input"
        assert '[-1.0, -0.0, 0.5, float("inf")]' in leaf.text
        assert leaf.value.range == Range(-1.0, 0.5, exact=True, nonfinite=True, bits=1, among=edges)
        assert spec.holds(leaf.value.range)


def test_other_values_do_not_become_values_that_a_spec_names():
    spec = Spec((2,), "float32", among=(0.0, 1.0))
    assert not spec.holds(Range(0, 1, exact=True))
    assert not Spec((2,), "float32", among=(0.0, 1.0)).holds(Range(0, 1, among=(0.0, 0.5, 1.0)))
    assert not spec.holds(Range(0, 1, among=(0.0, 1.0)) + Range(0, 0, exact=True))
    with pytest.raises(UnsatisfiableSpec):
        clamp(Draw(random.Random(0)), Range(-4, 4, exact=True), "float32", spec)


def test_range_of_replaced_values_includes_the_replacement():
    clamped = clamp(Draw(random.Random(0)), Range(0, 0, nonfinite=True), "float32", Spec((2,), "float32", 0.05, 8.0))
    assert clamped.text.startswith("torch.nan_to_num({0}, nan=1.05")
    assert clamped.range.high >= 1.05


# Dtypes


def test_promotion_is_that_of_torch():
    for a, b in itertools.product((*REAL, "bool"), repeat=2):
        expected = torch.promote_types(getattr(torch, a), getattr(torch, b))
        assert getattr(torch, promoted(a, b)) == expected, (a, b)


_NOTED = re.compile(r"^( *)(\w+) = .*  # \[([^\]]*)\] (\w+)$")


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("family", ["promotion", "autocast", "view writes", "empty and scalar", "remembered state"])
@pytest.mark.parametrize("template", ["default", "low-precision"])
def test_values_have_size_and_dtype_of_their_comment(template, family):
    generator = generator_of(template, family)
    seen = 0
    for seed in range(30):
        source = generator.generate(seed).source
        lines = []
        for line in source.splitlines():
            noted = _NOTED.match(line)
            lines += [line, f'{noted[1]}_note({noted[2]}, "{noted[3]}", "{noted[4]}")'] if noted else [line]

        def note(value, size, dtype, source=source):
            nonlocal seen
            seen += 1
            assert value.dtype == getattr(torch, dtype), source
            sizes = size.split(", ") if size else []
            assert len(sizes) == value.dim(), source
            assert all(not n.isdigit() or int(n) == m for n, m in zip(sizes, value.shape, strict=True)), source

        loaded = Loaded(recognise("\n".join(lines) + "\n", "noted"), {"_note": note})
        for call in loaded.calls(1):
            loaded.instance()(*call.args, **call.kwargs)
    assert seen > 20


# Views


def test_views_of_ordered_operands_have_the_size_and_no_element_twice_along_the_axis():
    draw = Draw(random.Random(0))
    codes = set()
    for _ in range(400):
        size = tuple(draw.integer(1, 5) for _ in range(draw.integer(1, 4)))
        axis = draw.integer(0, len(size) - 1)
        viewed = draw_view(draw, size, axis)
        whole = torch.arange(torch.Size(viewed.size).numel()).reshape(viewed.size)
        view = eval(f"whole{viewed.code}", {"whole": whole})
        codes.add(re.sub(r"[\d, :()-]+", "", viewed.code))
        assert tuple(view.shape) == size
        ordered = view.sort(dim=axis).values
        assert not (ordered.diff(dim=axis) == 0).any()
    assert {".t", ".permute", ".expand", ".unfold", ".transpose", "[]"} <= codes


def test_written_parts_have_their_size_and_no_element_twice():
    draw = Draw(random.Random(0))
    for _ in range(600):
        size = tuple(draw.integer(1, 5) for _ in range(draw.integer(1, 4)))
        try:
            part = draw_part(draw, size)
        except UnsatisfiableSpec:
            continue
        whole = torch.zeros(size)
        view = eval(part.code.replace("{0}", "whole"), {"whole": whole, "torch": torch})
        assert tuple(view.shape) == part.size, part
        view.add_(1)
        assert whole.sum() == view.numel()
        assert whole.amax() <= 1


def test_a_tensor_that_was_written_to_in_parts_is_read_after_that():
    source = "".join(generator_of("inplace-alias", "view writes").generate(seed).source for seed in range(120))
    for form in (r"\[.*::\d\] [+*]= ", r"as_strided\(.*\)\.\w+_\(", r"unfold\(.*\)\.\w+_\(", r"diagonal\(.*\)\.\w+_\("):
        assert re.search(form, source), form
    assert re.search(r"\.view\(torch\.\w+\).*\.\w+_\(", source)


def test_writes_through_views_are_exact_where_results_must_be():
    generator = generator_of("integer-exact", "view writes")
    used = [name for seed in range(40) for name in generator.generate(seed).operators]
    assert used.count("write through a view") > 10


# Resizing, regions, transforms


def test_factors_are_fractional_and_differ_between_dimensions():
    names = [name for name in EVERY if ".factors." in name]
    assert len(names) == 7
    generator = ProgramGenerator(TEMPLATES["default"], only=[*names, "torch.add"])
    source = "".join(generator.generate(seed).source for seed in range(60))
    factors = [ast.literal_eval(text) for text in re.findall(r"scale_factor=(\([^)]*\))", source)]
    assert any(len(set(one)) > 1 for one in factors)
    assert "recompute_scale_factor=True" in source
    assert "antialias=True" in source


def test_autocast_regions_are_nested_and_switched_off():
    source = "".join(generator_of("low-precision", "autocast").generate(seed).source for seed in range(40))
    assert re.search(r"(?m)^ +with torch\.autocast\('cpu', .*enabled=False\):\n +\w+ = ", source)
    assert re.search(r"# \[.*\] bfloat16", source)


def test_transforms_stand_inside_of_each_other():
    source = "".join(generator_of("control-flow", "transforms").generate(seed).source for seed in range(60))
    for form in (
        r"vmap\(torch\.vmap",
        r"grad\(lambda v: \(?torch\.func\.grad",
        r"vmap\(torch\.func\.grad",
        "out_dims=1",
    ):
        assert re.search(form, source), form


# State


def test_definitions_of_state_are_those_that_the_program_names():
    generator = generator_of("default", "remembered state")
    names = set()
    for seed in range(40):
        source = generator.generate(seed).source
        body = source[source.index("def inputs") :] + source[source.index("rogram(") :]
        defined = re.findall(r"(?m)^([A-Z]+\d*) = ", source)
        names.update(defined)
        assert all(re.search(rf"\b{name}\b", body) for name in defined if name != "CALLS"), source
    assert {"COUNTS", "HISTORY", "TALLY", "METER", "STEP", "CALLS"} <= names


def test_state_changes_results_of_later_calls_and_starts_anew_for_an_instance():
    changes = 0
    generator = generator_of("integer-exact", "remembered state")
    for seed in range(20):
        loaded = Loaded(recognise(generator.generate(seed).source, "state"))
        call = loaded.calls(1)[0]

        def results(model, call=call):
            with torch.no_grad():
                values = torch.utils._pytree.tree_leaves(model(*call.copy().args))
            return [value.tolist() for value in values if isinstance(value, torch.Tensor)]

        model = loaded.instance()
        first, second = results(model), results(model)
        changes += first != second
        assert str(results(loaded.instance())) == str(first)
    assert changes > 5


def test_a_builder_defines_a_global_once():
    generator = ProgramGenerator(TEMPLATES["default"])
    builder = Builder(Draw(random.Random(0)), generator.catalogue, TEMPLATES["default"], 4, lambda *_: None)
    builder.define("COUNTS", ("COUNTS = {}",))
    builder.define("COUNTS", ("COUNTS = {}",))
    assert builder.definitions == {"COUNTS": ("COUNTS = {}",)}
