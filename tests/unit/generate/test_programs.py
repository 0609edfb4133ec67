"""Generated programs: deterministic, valid, with correct comments."""

import ast
import os
import re
import subprocess
import sys

import pytest
import torch

from eqfuzz.generate.dag.build import DRAWING
from eqfuzz.generate.dag.catalogue.operator import InvalidOperators, operators
from eqfuzz.generate.dag.flow import STRUCTURES
from eqfuzz.generate.dag.generate import Mixture, NothingGenerated, ProgramGenerator
from eqfuzz.generate.dag.graph.nodes import NodeGraph
from eqfuzz.generate.dag.template import shipped_templates
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import SeedFormat
from eqfuzz.run.configs.named import BUILT_IN, choose
from eqfuzz.torch_internals.dynamo import compilations, count_unbacked_graphs, forget_compiled_code
from tools.fault_detection.generated import eager_error

TEMPLATES = shipped_templates()
GENERATORS = {name: ProgramGenerator(template) for name, template in TEMPLATES.items()}
MIXTURE = Mixture(GENERATORS)

_SCRIPT = """
import sys
from eqfuzz.generate.dag.generate import ProgramGenerator, Mixture
from eqfuzz.generate.dag.template import shipped_templates
mixture = Mixture({name: ProgramGenerator(one) for name, one in shipped_templates().items()})
for seed in range(60):
    sys.stdout.write(mixture.generate(seed).source)
"""


def test_seed_gives_same_bytes_in_every_process():
    here = "".join(MIXTURE.generate(seed).source for seed in range(60))
    for hash_seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        there = subprocess.run([sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, text=True)
        assert there.returncode == 0, there.stderr
        assert there.stdout == here


@pytest.mark.parametrize("template", TEMPLATES)
def test_programs_of_every_template_run(template):
    failures = []
    for seed in range(12):
        program = GENERATORS[template].generate(seed)
        assert program.operators, program.source
        assert recognise(program.source, "x").format is SeedFormat.EQFUZZ
        error = eager_error(program.source)
        if error:
            failures.append(f"{program.source}\n{error}")
    assert not failures, "\n\n".join(failures)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*operators(), *STRUCTURES}))
def test_programs_of_every_operator_run(name):
    """Programs that begin with the operator, some of them modules or with gradients."""
    generator = next(g for g in GENERATORS.values() if name in g.names)
    template = generator.template.model_copy(update={"modules": 0.6, "nodes": 8, "outputs": 1})
    lone = ProgramGenerator(template)
    lone.catalogue.first = lambda draw, turn: name  # type: ignore[method-assign]
    lone._makes_tensors = False  # some operators make numbers alone
    programs = [lone.generate(seed) for seed in range(3)]
    assert any(name in program.operators for program in programs), "no program uses it"
    for program in programs:
        assert not eager_error(program.source), f"{program.source}\n{eager_error(program.source)}"


_NOTED = re.compile(r"^( *)(\w+) = .*  # \[([^\]]*)\] (\w+)$")


def test_comments_give_size_and_dtype_of_values():
    """Each variable has the size and dtype of the comment on its assignment."""
    seen = 0
    for seed in range(80):
        program = GENERATORS["default"].generate(seed)
        if "torch.cond(" in program.source or "_higher_order_ops" in program.source:
            continue  # functions of these are traced, and may not call out
        lines = []
        for line in program.source.splitlines():
            lines.append(line)
            noted = _NOTED.match(line)
            if noted:
                lines.append(f'{noted[1]}_note({noted[2]}, "{noted[3]}", "{noted[4]}")')
        wrong = []

        def note(value, size, dtype, wrong=wrong):
            nonlocal seen
            seen += 1
            sizes = size.split(", ") if size else []
            fits = len(sizes) == value.dim() and all(
                not t.isdigit() or int(t) == n for t, n in zip(sizes, value.shape, strict=True)
            )
            if not fits or value.dtype != getattr(torch, dtype):
                wrong.append((size, dtype, tuple(value.shape), value.dtype))

        loaded = Loaded(recognise("\n".join(lines) + "\n", "noted"), {"_note": note})
        for call in loaded.calls(1):
            loaded.instance()(*call.args, **call.kwargs)
        assert not wrong, f"{program.source}\n{wrong}"
    assert seen > 200


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_program_has_a_tensor(template):
    for seed in range(150):
        program = GENERATORS[template].generate(seed)
        specs = [spec for node in NodeGraph.of(program.graph).nodes.values() for spec in node.specs]
        assert any(spec.size is not None for spec in specs), program.source


def test_every_program_has_an_operator_of_a_required_family():
    unbacked = GENERATORS["unbacked"]
    family = {name for name, one in operators().items() if one.family == "unbacked"}
    for seed in (*range(30), *range(300, 330)):
        assert not family.isdisjoint(unbacked.generate(seed).operators)
    without = ProgramGenerator(unbacked.template, only=["torch.add", "torch.mul"])
    assert without.generate(0).operators, "not where no operator of the family may be used"


def test_programs_of_numbers_alone_are_generated_where_they_are_asked_for():
    source = ProgramGenerator(TEMPLATES["default"], only=["scalar: add"]).generate(3).source
    assert "+" in source
    assert not eager_error(source)


@pytest.mark.slow
def test_unbacked_template_gives_graphs_with_unbacked_symbols():
    """Under the configurations that it names, with Dynamo alone; under the usual ones there are none."""
    generator = GENERATORS["unbacked"]
    programs = [generator.generate(seed) for seed in range(20)]
    (named,) = {recognise(program.source, "unbacked").configs for program in programs}
    configs = [config.on("eager").model_copy(update={"dynamo": config.dynamo}) for config in choose(named, BUILT_IN)]
    assert sum(any(unbacked_graphs(program, config) for config in configs) for program in programs) >= 15
    usual = BUILT_IN["inductor"].on("eager")
    assert not any(unbacked_graphs(program, usual) for program in programs)


def unbacked_graphs(program, config):
    """Number of graphs with unbacked symbols that the first call of the compiled program has."""
    count_unbacked_graphs()
    forget_compiled_code()
    loaded = Loaded(recognise(program.source, "unbacked"))
    call = next(iter(loaded.calls(seed=0)))
    with config.patched():
        config.compile(loaded.instance())(*call.args, **call.kwargs)
    return compilations()["unbacked_graphs"]


def test_programs_have_no_unused_parameters():
    for seed in range(150):
        source = MIXTURE.generate(seed).source
        tree = ast.parse(source)
        loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for argument in function.args.args:
                message = f"{argument.arg} of {function.name} in\n{source}"
                assert argument.arg in loaded or argument.arg in ("self", "rng", "value"), message


def test_only_selected_operators_are_used():
    only = ["torch.add", "torch.matmul", "torch.nn.functional.relu"]
    assert set(only) <= set(operators())
    generator = ProgramGenerator(TEMPLATES["default"], only=only)
    helping = {f"torch.{name}" for name in ("clamp", "tanh", "sin", "abs", "square", "sigmoid", "div", "remainder")}
    helping |= {"torch.nan_to_num"}
    helping |= {"torch.nn.functional.softplus", "torch.Tensor.contiguous", "torch.Tensor.detach"}
    for seed in range(40):
        assert set(generator.generate(seed).operators) <= {*only, *helping}


def test_random_numbers_are_drawn_at_most_once_outside_of_blocks():
    drawing = [name for name, one in operators().items() if one.family == DRAWING]
    assert len(drawing) == 10
    generator = ProgramGenerator(TEMPLATES["catalogue"], weights=dict.fromkeys(drawing, 50.0))
    programs = [generator.generate(seed) for seed in range(40)]
    used = [sum(name in drawing for name in program.operators) for program in programs]
    assert max(used) == 1
    assert sum(used) > 20
    for program, count in zip(programs, used, strict=True):
        torch.manual_seed(0)
        before = torch.get_rng_state()
        loaded = Loaded(recognise(program.source, "x"))
        model = loaded.instance()
        (call, *_) = loaded.calls(0)
        torch.manual_seed(0)
        model(*call.args, **call.kwargs)
        assert count or torch.equal(torch.get_rng_state(), before)


def test_catalogue_programs_have_many_results():
    counts = [len(GENERATORS["catalogue"].generate(seed).graph.result.inputs) for seed in range(30)]
    assert max(counts) > 20
    assert sum(counts) / len(counts) > 10


def test_weights_change_frequency_of_operators():
    heavy = ProgramGenerator(TEMPLATES["default"], weights={"torch.add": 200.0})
    plain = GENERATORS["default"]

    def uses(generator):
        return sum(generator.generate(seed).operators.count("torch.add") for seed in range(40))

    assert uses(heavy) > 3 * uses(plain)


def test_depth_limits_size_of_programs():
    deep, flat = ProgramGenerator(TEMPLATES["default"], depth=20), ProgramGenerator(TEMPLATES["default"], depth=2)
    sizes = [sum(len(g.generate(seed).operators) for seed in range(40)) for g in (deep, flat)]
    assert sizes[0] > 1.3 * sizes[1]


def test_unknown_operator_is_refused_with_a_suggestion():
    with pytest.raises(InvalidOperators, match=r"no operator 'torch\.ad', did you mean 'torch\.add'"):
        ProgramGenerator(TEMPLATES["default"], only=["torch.ad"])


def test_operator_that_the_template_excludes_generates_nothing():
    with pytest.raises(NothingGenerated):
        ProgramGenerator(TEMPLATES["default"], only=["dtensor: abs"]).generate(0)
