"""Where an exception came from: the innermost functions of torch on the way to its first cause."""

from pathlib import Path

import pytest
import torch

from eqfuzz.judge.raised import describe


def raised(function):
    try:
        function()
    except BaseException as error:
        return describe(error)
    raise AssertionError("nothing was raised")


def in_torch(source, name, file):
    """What ``source`` defines as ``name``, as if it stood in ``file`` of torch's folder."""
    namespace = {}
    exec(compile(source, str(Path(torch.__file__).parent / file), "exec"), namespace)
    return namespace[name]


CHAIN = """
def first(call):
    call()
def second(call):
    first(call)
def third(call):
    second(call)
def fourth(call):
    third(call)
"""


def fail():
    raise ValueError("no")


def test_the_last_functions_of_torch_the_innermost_first():
    fourth = in_torch(CHAIN, "fourth", "_inductor/planted.py")
    innermost = tuple(f"_inductor.planted.{name}" for name in ("first", "second", "third"))
    assert raised(lambda: fourth(fail)).frames == innermost


def test_methods_are_named_with_their_class():
    source = "class Lowering:\n    def run(self, call):\n        call()\n"
    run = in_torch(source, "Lowering", "_inductor/graph.py")().run
    assert raised(lambda: run(fail)).frames == ("_inductor.graph.Lowering.run",)


def test_an_error_of_torchs_own():
    frames = raised(lambda: torch.nn.functional.pad(torch.ones(1), (1, 1, 1, 1), mode="nonsense")).frames
    assert frames[0] == "nn.functional.pad"


def test_an_exception_of_the_programs_own_has_none():
    assert raised(fail).frames == ()


def test_other_packages_whose_name_begins_like_torch_are_not_torch():
    namespace = {}
    exec(compile(CHAIN, f"{Path(torch.__file__).parent}gen/model.py", "exec"), namespace)
    assert raised(lambda: namespace["second"](fail)).frames == ()


def test_the_first_cause_counts():
    inner = in_torch(CHAIN, "first", "_inductor/lowering.py")
    wrapping = """
def wrap(call):
    try:
        call()
    except Exception as error:
        raise RuntimeError("wrapped") from error
"""
    outer = in_torch(wrapping, "wrap", "_dynamo/backend.py")
    told = raised(lambda: outer(lambda: outer(lambda: inner(fail))))
    assert told.type == "RuntimeError"
    assert told.frames[0] == "_inductor.lowering.first"


def test_a_cause_that_was_never_raised_tells_nothing():
    source = "def refuse():\n    raise RuntimeError('no') from ValueError('never raised')\n"
    assert raised(in_torch(source, "refuse", "_dynamo/exc.py")).frames == ("_dynamo.exc.refuse",)


@pytest.mark.timeout(20)
def test_causes_in_a_circle_come_to_an_end():
    def circle():
        first, second = ValueError("first"), ValueError("second")
        for error in (first, second):
            try:
                raise error
            except ValueError:
                pass
        first.__cause__, second.__cause__ = second, first
        raise first

    assert raised(circle).message == "first"


def test_compilers_come_with_their_frames():
    def backend(graph, inputs):
        raise AssertionError("planted")

    torch._dynamo.reset()
    told = raised(lambda: torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2)))
    assert told.origin == "compiler" and any(frame.startswith("_dynamo.") for frame in told.frames)
    assert told.frames == raised(lambda: torch.compile(lambda x: x - 1, backend=backend)(torch.ones(5))).frames
