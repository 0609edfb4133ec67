"""Programs of written samples: how many results they have, and that they are seeds."""

import dataclasses
from pathlib import Path

import pytest

from eqfuzz.generate.catalogues.messages import SamplesWritten, WrittenResult
from eqfuzz.generate.catalogues.programs import CatalogueProgram, programs_of
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded


def result(number: int, *, draws: bool = False) -> WrittenResult:
    code = f"rng.normal(2, 3){'.contiguous()' * number}.requires_grad_()"
    return WrittenResult(
        sample=number, expression="F.relu(${x}) + ${y}", inputs=(("x", code), ("y", "rng.normal(3)")), draws=draws
    )


def written(operator: str, count: int, dtype: str = "float32", *, draws: bool = False) -> SamplesWritten:
    results = tuple(result(number, draws=draws) for number in range(1, count + 1))
    return SamplesWritten(operator=operator, dtype=dtype, samples=count, repeats=0, results=results, left_out={})


def test_small_operators_share_a_program_and_large_ones_have_parts():
    programs = programs_of([written("a", 20), written("b", 100), written("c", 30), written("d", 25)], seed=0)
    counts = {program.name: len(program.results) for program in programs}
    assert counts == {
        "float32/b-01.py": 33,
        "float32/b-02.py": 33,
        "float32/b-03.py": 34,
        "float32/a-to-c.py": 50,
        "float32/d.py": 25,
    }


def test_every_result_is_in_one_program():
    everything = [written(f"op{n}", n, dtype) for dtype in ("int8", "bool") for n in range(1, 90, 7)]
    programs = programs_of(everything, seed=0)
    samples = [(one.dtype, one.operator, one.result.sample) for program in programs for one in program.results]
    assert sorted(samples) == sorted((w.dtype, w.operator, r.sample) for w in everything for r in w.results)


def test_results_that_draw_numbers_are_apart():
    programs = programs_of([written("a", 3), written("b", 4, draws=True)], seed=0)
    assert [program.name for program in programs] == ["float32/a.py", "float32/random/b.py"]


@pytest.fixture
def program() -> CatalogueProgram:
    (program,) = programs_of([written("a", 3), written("b", 2)], seed=7)
    return program


def test_program_is_a_seed_that_returns_its_results_in_order(program: CatalogueProgram, tmp_path: Path):
    loaded = Loaded(recognise(program.source, program.name))
    (call,) = loaded.calls(0)
    outputs = loaded.instance()(*call.args)
    assert [tuple(output.shape) for output in outputs] == [(2, 3)] * 5
    assert [list(positions) for positions in program.arguments()] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert all(call.args[positions[0]].requires_grad for positions in program.arguments())


def sharing(codes: str, *, shares: bool = True) -> CatalogueProgram:
    """A program with one result for each letter; equal letters have equal inputs."""
    results = tuple(
        WrittenResult(
            sample=number,
            expression=f"${{x}}.sum({number}, dtype=torch.float64)",
            inputs=(("x", f"rng.normal(2, 3, 2, 2, 2){'.contiguous()' * ord(code)}"),),
            shares=shares,
        )
        for number, code in enumerate(codes)
    )
    (program,) = programs_of([dataclasses.replace(written("a", 0), results=results)], seed=0)
    return program


def test_few_results_with_equal_inputs_share_their_tensors():
    program = sharing("aabaaa")
    assert program.owners() == [0, 0, 2, 0, 0, 5]
    assert [list(positions) for positions in program.arguments()] == [[0], [0], [1], [0], [0], [2]]
    calls = [line.strip() for line in program.source.splitlines() if ".sum(" in line]
    assert [call.partition(".")[0] for call in calls] == ["x1", "x1", "x3", "x1", "x1", "x6"]
    assert len(Loaded(recognise(program.source, program.name)).calls(0)[0].args) == 3


def test_other_results_have_tensors_of_their_own():
    assert sharing("aaa", shares=False).owners() == [0, 1, 2]


def test_part_has_some_of_the_results(program: CatalogueProgram):
    part = program.part([3])
    assert (part.name, [named.operator for named in part.results]) == ("float32/a-to-b.3.py", ["b"])
    assert len(Loaded(recognise(part.source, part.name)).calls(0)[0].args) == 2


def test_program_without_tensors_is_a_seed():
    bare = WrittenResult(sample=1, expression="torch.eye(3)", inputs=())
    (program,) = programs_of([dataclasses.replace(written("eye", 0), results=(bare,))], seed=0)
    loaded = Loaded(recognise(program.source, program.name))
    assert loaded.instance()(*loaded.calls(0)[0].args)[0].shape == (3, 3)


def test_program_without_results_keeps_the_values_of_the_others():
    whole = sharing("abc", shares=False)
    program = whole.without([0])
    assert [list(positions) for positions in program.arguments()] == [[1], [2]]
    calls = [line.strip() for line in program.source.splitlines() if ".sum(" in line]
    assert [call.partition(".")[0] for call in calls] == ["x2", "x3"]
    assert program.source.partition("def inputs")[2] == whole.source.partition("def inputs")[2]
    assert program.without([2]).arguments() == [range(1, 2)]
    loaded = Loaded(recognise(program.source, program.name))
    assert len(loaded.instance()(*loaded.calls(0)[0].args)) == 2


def test_submodules_are_those_that_the_text_calls():
    module = "nn.ReLU()"
    results = tuple(
        WrittenResult(sample=n, expression=f"{module}(${{x}})", inputs=(("x", "rng.normal(3)"),), module=module)
        for n in range(1, 6)
    )
    mixed = SamplesWritten(
        operator="ReLU", dtype="float32", samples=6, repeats=0, results=(result(1), *results), left_out={}
    )
    (program,) = programs_of([mixed], seed=0)
    for one in (program, program.without([0, 3]), program.part([2, 4, 5])):
        called = [line.strip() for line in one.source.splitlines() if line.startswith(" " * 12)]
        called = [line for line in called if line.startswith(("self.", "F."))]
        names = [line.removeprefix("self.").split("(")[0] if line.startswith("self.") else "" for line in called]
        assert names == one.submodules()
        assert all(f"self.{name} = {module}" in one.source for name in names if name)
