"""How results of catalogues are put into programs of the corpus."""

from __future__ import annotations

from eqfuzz.generate.catalogues.messages import SamplesWritten, WrittenResult
from tools.fault_detection.corpus.catalogues import RESULTS, layers


def result(number: int, expression: str, code: str = "rng.normal(3)", draws: bool = False) -> WrittenResult:
    return WrittenResult(
        sample=number, expression=expression, inputs=(("x", code),), draws=draws, shares="shared" in code
    )


def written(operator: str, *results: WrittenResult) -> SamplesWritten:
    return SamplesWritten(
        operator=operator,
        dtype="float32",
        samples=len(results),
        repeats=0,
        results=results,
        left_out={},
        without_gradient=0,
    )


def test_each_operator_is_in_the_first_layer_with_its_least_plain_call():
    plain, viewed, laid_out = result(1, "f(${x})"), result(2, "f(${x}.t())"), result(3, "f(${x})", "rng.normal(3)[1:]")
    drawing = result(4, "f(${x}, a=1, b=2)", draws=True)
    programs = list(layers([written("f", plain, viewed, drawing), written("g", plain, laid_out)], seed=7))
    assert [program.name for program in programs] == ["float32/layer-00-000.py", "float32/layer-01-000.py"]
    assert [[(named.operator, named.result.sample) for named in program.results] for program in programs] == [
        [("f", 2), ("g", 3)],
        [("f", 1), ("g", 1)],
    ]


def test_pairs_that_share_tensors_stay_together():
    shared = [result(number, f"f(${{x}}, {number})", "shared(3)") for number in range(3)]
    first, second = layers([written("f", *shared)], seed=0)
    assert [len(program.results) for program in (first, second)] == [2, 1]
    assert first.owners() == [0, 0]


def test_programs_have_few_results():
    many = [written(f"f{number}", result(number, "f(${x})")) for number in range(RESULTS + 3)]
    assert [len(program.results) for program in layers(many, seed=0)] == [RESULTS, 3]
    assert list(layers([], seed=0)) == []
